"""Arguments of the emulator, and the environment of its own clients."""
import argparse
import os

parser = argparse.ArgumentParser(prog="emulator")
parser.add_argument("--port", type=int, default=0, help="port on loopback; default a free one, which is printed")
parser.add_argument("--node", default="node", help="Node binary that runs the functions")
parser.add_argument("--strict", action="store_true", help="fail the stack on every finding instead of reporting it")
ARGS = parser.parse_args()

REGION = os.environ.setdefault("AWS_DEFAULT_REGION", os.environ.get("AWS_REGION", "us-east-1"))
os.environ.setdefault("AWS_ACCESS_KEY_ID", "test")
os.environ.setdefault("AWS_SECRET_ACCESS_KEY", "test")
os.environ.pop("AWS_ENDPOINT_URL", None)
os.environ.pop("AWS_PROFILE", None)

# moto may read objects and tables of itself only; without this it asks Docker for Lambda.
os.environ.setdefault("MOTO_DOCKER_NETWORK_MODE", "none")

_endpoint = ""


def serve_at(port: int) -> None:
    """Sets the endpoint when the port is known."""
    global _endpoint
    _endpoint = f"http://127.0.0.1:{port}"
    os.environ["MOTO_PORT"] = str(port)


def endpoint() -> str:
    """URL of this emulator, for its own clients and for the processes that it starts."""
    return _endpoint
