"""ECS tasks on Fargate: each runs the program of its task definition in a child process of Node."""
import json
import os
import signal
import subprocess
import threading

from moto.ec2.models.elastic_network_interfaces import NetworkInterface
from moto.ecs import models
from moto.moto_api._internal import urls
from moto.stepfunctions.parser.api import HistoryEventType, TaskFailedEventDetails
from moto.stepfunctions.parser.asl.component.common.error_name.failure_event import FailureEvent, FailureEventException
from moto.stepfunctions.parser.asl.component.common.error_name.states_error_name import StatesErrorName
from moto.stepfunctions.parser.asl.component.state.exec.state_task.service import state_task_service_callback
from moto.stepfunctions.parser.asl.component.state.exec.state_task.service.state_task_service_ecs import (
    StateTaskServiceEcs,
)
from moto.stepfunctions.parser.asl.eval.event.event_detail import EventDetails

import report
import settings
from shapes import client

#: Folder of the programs that the image has in /app. Without one, every task fails to start.
_folder = ""
#: While it is not set, tasks stay pending.
_released = threading.Event()
_released.set()
_tasks: dict[str, "_Run"] = {}


class _Run:
    """The process of a task."""

    def __init__(self, task: models.Task, definition: models.TaskDefinition):
        self.task, self.definition = task, definition
        self.status, self.stop_requested = "PENDING", threading.Event()
        self._process: subprocess.Popen | None = None
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        while not _released.wait(0.1):
            if self.stop_requested.is_set():
                return self._end(None, "UserInitiated", "")
        container = self.definition.container_definitions[0]
        program = os.path.join(_folder, os.path.basename(container["command"][-1]))
        if not os.path.isfile(program):
            return self._end(None, "TaskFailedToStart", f"CannotPullContainerError: {program} does not exist")
        self.status = "RUNNING"
        self._process = subprocess.Popen(
            [settings.ARGS.node, *container["command"][:-1], program], env=self._environment(container), cwd=_folder,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )
        output, _ = self._process.communicate()
        if self._process.returncode != 0:
            print(output.decode(errors="replace")[-4000:], flush=True)
        self._end(self._process.returncode, "EssentialContainerExited", "Essential container in task exited")

    def _end(self, exit_code: int | None, code: str, reason: str) -> None:
        self.task.containers[0].exitCode = exit_code
        self.task.stop_code, self.task.stopped_reason = code, reason
        self.status = self.task.desired_status = "STOPPED"
        program = os.path.basename(self.definition.container_definitions[0]["command"][-1])
        report.add("tasks", {"program": program, "definition": self.definition.arn, "exit_code": exit_code})

    def _environment(self, container: dict) -> dict[str, str]:
        overrides = self.task.overrides.get("containerOverrides", [{}])[0].get("environment", [])
        variables = {each["name"]: each["value"] for each in [*container.get("environment", []), *overrides]}
        for secret in container.get("secrets", []):
            manager = client("secretsmanager", self.task.region_name)
            variables[secret["name"]] = manager.get_secret_value(SecretId=secret["valueFrom"])["SecretString"]
        return {
            "PATH": "/usr/bin:/bin",
            "HOME": "/tmp",
            "AWS_ENDPOINT_URL": settings.endpoint(),
            "AWS_REGION": self.task.region_name,
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "ECS_CONTAINER_METADATA_URI_V4": f"{settings.endpoint()}/moto-api/rehearsal/containers/{self.task.id}",
            **variables,
        }

    def stop(self) -> None:
        self.stop_requested.set()
        if self._process and self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)


def _control(request, full_url, headers):
    """POST {folder, hold}: where the programs are, and whether new tasks wait until a later call releases them."""
    global _folder
    wanted = json.loads(request.data)
    _folder = wanted.get("folder", _folder)
    if wanted.get("hold"):
        _released.clear()
    else:
        _released.set()
    waiting = [arn for arn, each in _tasks.items() if each.status == "PENDING"]
    return 200, {"content-type": "application/json"}, json.dumps({"waiting": waiting})


def _metadata(request, full_url, headers):
    """What ECS_CONTAINER_METADATA_URI_V4/task answers."""
    task_id = full_url.split("/containers/")[1].split("/")[0]
    run = next((each for each in _tasks.values() if each.task.id == task_id), None)
    if run is None:
        return 404, {}, "{}"
    container = run.task.containers[0]
    body = {"TaskARN": run.task.task_arn, "Containers": [{"Name": container.name, "Image": container.image}]}
    return 200, {"content-type": "application/json"}, json.dumps(body)


def _patch_tasks() -> None:
    # moto counts the resources of EC2 instances, which Fargate does not have.
    nothing = {"CPU": 0, "MEMORY": 0, "PORTS": [], "PORTS_UDP": []}
    backend = models.EC2ContainerServiceBackend
    backend._calculate_task_resource_requirements = staticmethod(lambda definition: dict(nothing))
    run_task, stop_task = backend.run_task, backend.stop_task
    initialize = models.Task.__init__

    def initialize_task(self, *args, **kwargs):
        network = kwargs.get("networking_configuration")
        if network:
            network.setdefault("awsvpcConfiguration", {}).setdefault("securityGroups", [])
        initialize(self, *args, **kwargs)

    def run(self, cluster_str, task_definition_str, count, overrides, started_by, tags, launch_type, *others):
        # A capacity provider replaces the launch type; both providers of the cluster are Fargate.
        tasks = run_task(
            self, cluster_str, task_definition_str, count, overrides, started_by, tags, launch_type or "FARGATE", *others
        )
        for task in tasks:
            _tasks[task.task_arn] = _Run(task, self.describe_task_definition(task.task_definition_arn))
        return tasks

    def stop(self, cluster_str, task_str, reason):
        task = stop_task(self, cluster_str, task_str, reason)
        _tasks[task.task_arn].stop()
        return task

    def last_status(self):
        run = _tasks.get(self.task_arn)
        return run.status if run else "PENDING"

    # moto sets it for some networks only, and reads it for all.
    NetworkInterface.private_dns_name = ""
    models.Task.__init__ = initialize_task
    models.Task.last_status = property(last_status, lambda self, value: None)
    backend.run_task, backend.stop_task = run, stop


def _patch_step_functions() -> None:
    """RunTask.sync fails where a container ended with another code than 0, which moto ignores."""
    state_task_service_callback._DELAY_SECONDS_SYNC_CONDITION_CHECK = 0.1
    build = StateTaskServiceEcs._build_sync_resolver

    def build_sync_resolver(self, env, resource_runtime_part, normalised_parameters, state_credentials):
        resolve = build(self, env, resource_runtime_part, normalised_parameters, state_credentials)

        def resolver():
            task = resolve()
            if task is None or all(each.get("ExitCode") == 0 for each in task["Containers"]):
                return task
            name = "States.TaskFailed"
            cause = json.dumps(task, default=str, separators=(",", ":"))
            details = EventDetails(taskFailedEventDetails=TaskFailedEventDetails(error=name, cause=cause))
            failure = FailureEvent(env, StatesErrorName.from_name(name), HistoryEventType.TaskFailed, details)
            raise FailureEventException(failure)

        return resolver

    StateTaskServiceEcs._build_sync_resolver = build_sync_resolver


def install() -> None:
    _patch_tasks()
    _patch_step_functions()
    urls.url_paths["{0}/moto-api/rehearsal/tasks$"] = _control
    urls.url_paths["{0}/moto-api/rehearsal/containers/(?P<task>[^/]+)/task$"] = _metadata
