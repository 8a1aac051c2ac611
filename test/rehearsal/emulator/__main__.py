"""An AWS emulator on loopback to which the CDK CLI deploys the stacks: moto, and what it lacks for that.

    python3 test/rehearsal/emulator [--port 5000] [--node NODE] [--strict]

Plain moto 5.2.1 cannot hold the stacks. It drops the resource types that it does not know, applies change sets in the order
of the template, never refreshes outputs, knows no weak references between stacks, and runs functions in Docker only. The
modules here change that in memory:

    stacks      change sets in the order of dependencies, outputs, exports, Fn::GetStackOutput, termination protection
    provider    types that moto lacks, created through the API of their service or kept as a stub
    backed      which type is created by which call
    rest_api    the OpenAPI body of a REST API
    functions   the deployed code of a Lambda function, in a child process of Node
    containers  the program of an ECS task, in a child process of Node
    machines    executions of state machines, interpreted by moto, without waiting
    scenarios   executions with given answers of their tasks
    account     quotas of the account
    tables      one DynamoDB request at a time, because moto's transactions are not safe for threads

Not emulated: IAM, networks, the firewall, CodeDeploy, custom resources, metrics and alarms. The state is in memory.
"""
import os
import signal
import sys
import threading

import settings  # First: it sets the credentials and the endpoint that boto3 reads at import.

from werkzeug.serving import make_server

import account
import backed  # noqa: F401  fills the table of the provider
import containers
import functions
import machines
import provider
import report
import rest_api
import scenarios
import stacks
import tables

from moto.server import DomainDispatcherApplication, create_backend_app


def end() -> None:
    """Ends this process, and the functions and tasks that it runs if it leads its group."""
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(0)


class OwnCallers:
    """Rejects requests that a page in a browser of this machine could send: the emulator runs the code of its functions."""

    def __init__(self, app) -> None:
        self.app = app

    def __call__(self, environ, start_response):
        host = environ.get("HTTP_HOST", "").partition(":")[0].lower()
        fetched = environ.get("HTTP_SEC_FETCH_SITE", "none")
        # A site can point its name to the loopback address; AWS's clients send neither of the other two headers.
        if host in ("127.0.0.1", "localhost") and "HTTP_ORIGIN" not in environ and fetched == "none":
            return self.app(environ, start_response)
        start_response("403 Forbidden", [("Content-Type", "text/plain"), ("X-Content-Type-Options", "nosniff")])
        return [b"The emulator accepts requests of AWS's clients on this machine only\n"]


def main() -> None:
    signal.signal(signal.SIGTERM, lambda *_: end())
    if not sys.stdin.isatty():
        # A process that started the emulator through a pipe takes it along when it ends.
        threading.Thread(target=lambda: (sys.stdin.read(), end()), daemon=True).start()
    for module in (provider, stacks, rest_api, functions, containers, machines, scenarios, tables, account, report):
        module.install()
    server = make_server("127.0.0.1", settings.ARGS.port, OwnCallers(DomainDispatcherApplication(create_backend_app)), threaded=True)
    settings.serve_at(server.server_port)
    print(server.server_port, flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


main()
