"""Runs the deployed code of a Lambda function in a child process of Node, where moto asks Docker."""
import io
import json
import os
import subprocess
import tempfile
import time
import zipfile

from moto.awslambda.models import LambdaFunction

import report
import settings

_RUNNER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "invoke.mjs")
_folders: dict[tuple[str, str], str] = {}


def _folder(function: LambdaFunction) -> str:
    """The unpacked code of this version of the function."""
    key = (function.function_name, function.code_sha_256)
    if key not in _folders:
        folder = tempfile.mkdtemp(prefix="emulated-function-")
        zipfile.ZipFile(io.BytesIO(function.code_bytes)).extractall(folder)
        _folders[key] = folder
    return _folders[key]


def _environment(function: LambdaFunction) -> dict[str, str]:
    return {
        "PATH": "/usr/bin:/bin",
        "TZ": ":UTC",
        "AWS_ENDPOINT_URL": settings.endpoint(),
        "AWS_REGION": function.region,
        "AWS_DEFAULT_REGION": function.region,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_LAMBDA_FUNCTION_NAME": function.function_name,
        "AWS_LAMBDA_FUNCTION_VERSION": str(function.version),
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(function.memory_size),
        "AWS_EXECUTION_ENV": "AWS_Lambda_emulated",
        "EMULATED_ARN": function.function_arn,
        "EMULATED_TIMEOUT_MS": str(int(function.timeout) * 1000),
        **{key: str(value) for key, value in (function.environment_vars or {}).items()},
    }


def _failure(kind: str, message: str, logs: str = "") -> tuple[str, bool, str]:
    return json.dumps({"errorType": kind, "errorMessage": message}), True, logs


def _invoke(self: LambdaFunction, event=None) -> tuple[str, bool, str]:
    """Returns the answer as JSON, whether it is an error, and the log."""
    if not str(self.run_time or "").startswith("nodejs"):
        return _failure("Runtime.InvalidRuntime", f"{self.run_time} is not emulated")
    started = time.time()
    with tempfile.TemporaryDirectory(prefix="emulated-call-") as folder:
        answer = os.path.join(folder, "answer.json")
        command = [settings.ARGS.node, _RUNNER, _folder(self), self.handler, answer]
        text = event if isinstance(event, str) else json.dumps(event)
        limit = int(self.timeout)
        try:
            done = subprocess.run(
                command, input=text.encode(), env=_environment(self), timeout=limit + 5,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
            )
        except subprocess.TimeoutExpired as expired:
            logs = (expired.stdout or b"").decode(errors="replace")
            return _failure("Sandbox.Timedout", f"Task timed out after {limit}.00 seconds", logs)
        logs = done.stdout.decode(errors="replace")
        if not os.path.exists(answer):
            return _failure("Runtime.ExitError", "The process ended without an answer", logs)
        with open(answer, encoding="utf8") as file:
            result = json.load(file)
    error = result.get("error")
    report.add("invocations", {
        "function": self.function_name,
        "version": str(self.version),
        "ms": round((time.time() - started) * 1000),
        "init_ms": round(result["init_ms"]),
        "error": error,
        "log": logs[-2000:] if error else "",
    })
    try:
        self.save_logs(f"{logs}\nEND")
    except Exception:  # The group of a function without a log of its own does not exist.
        pass
    return (json.dumps(error), True, logs) if error else (json.dumps(result["answer"]), False, logs)


def install() -> None:
    LambdaFunction._invoke_lambda = _invoke
