"""Runs a state machine with given answers of its tasks: the second interpreter of the scenarios in test/statemachines."""
import copy
import json
import threading
import time

from moto.moto_api._internal import urls
from moto.stepfunctions.parser.api import ExecutionStatus, HistoryEventType, TaskFailedEventDetails
from moto.stepfunctions.parser.asl.component.common.error_name.custom_error_name import CustomErrorName
from moto.stepfunctions.parser.asl.component.common.error_name.failure_event import FailureEvent, FailureEventException
from moto.stepfunctions.parser.asl.component.common.error_name.states_error_name import StatesErrorName
from moto.stepfunctions.parser.asl.component.state.exec.state_task.service.state_task_service import StateTaskService
from moto.stepfunctions.parser.asl.component.state.exec.state_task.service.state_task_service_dynamodb import (
    StateTaskServiceDynamoDB,
)
from moto.stepfunctions.parser.asl.eval.event.event_detail import EventDetails
from moto.stepfunctions.parser.models import stepfunctions_parser_backends

import settings

#: Seconds after which a scenario is reported as running. A scenario waits for nothing.
LIMIT = 60
ACCOUNT = "123456789012"


class Script:
    """Answers of the tasks of one execution, in the order of the calls of each state."""

    def __init__(self, calls: list[dict]):
        self._left = list(calls)
        self._lock = threading.Lock()
        self.made: list[dict] = []

    def answer(self, state: str, parameters: dict) -> dict:
        """The next answer of the state. Concurrent iterations of a Map are told apart by their parameters."""
        with self._lock:
            self.made.append({"state": state, "parameters": copy.deepcopy(parameters)})
            of_state = [each for each in self._left if each["state"] == state]
            equal = [each for each in of_state if each["parameters"] == parameters]
            if not of_state:
                return {"error": {"name": "Unexpected", "cause": f"{state} was not called in the other interpreter"}}
            chosen = (equal or of_state)[0]
            self._left.remove(chosen)
            return chosen["outcome"]

    def uncalled(self) -> list[str]:
        return [each["state"] for each in self._left]


_scripts: dict[str, Script] = {}
_machines: dict[str, str] = {}
_count = 0
_lock = threading.Lock()


def _fail(task: StateTaskService, env, error: dict) -> None:
    name, cause = error["name"], error["cause"]
    known = StatesErrorName.from_name(name) if name.startswith("States.") else CustomErrorName(name)
    details = EventDetails(taskFailedEventDetails=TaskFailedEventDetails(error=name, cause=cause))
    raise FailureEventException(FailureEvent(env, known, HistoryEventType.TaskFailed, details))


def _patch() -> None:
    evaluate = StateTaskService._eval_execution

    def scripted(self, env):
        script = _scripts.get(env.states.context_object.context_object_data["Execution"]["Name"])
        if script is None:
            return evaluate(self, env)
        self.resource.eval(env=env)
        env.stack.pop()
        outcome = script.answer(self.name, self._eval_parameters(env=env))
        if "error" in outcome:
            _fail(self, env, outcome["error"])
        env.stack.append(copy.deepcopy(outcome["value"]))
        return None

    StateTaskService._eval_execution = scripted
    from_error = StateTaskServiceDynamoDB._from_error

    def keep_failure(self, env, ex):
        """moto renames every failure of DynamoDB but those of the client."""
        return ex.failure_event if isinstance(ex, FailureEventException) else from_error(self, env, ex)

    StateTaskServiceDynamoDB._from_error = keep_failure


def _run(request, full_url, headers):
    """POST {definition, execution, input, calls}: the end, the entered states and the calls of the tasks."""
    global _count
    scenario = json.loads(request.data)
    backend = stepfunctions_parser_backends[ACCOUNT][settings.REGION]
    with _lock:
        _count += 1
        # Names of executions are taken once; the answer has the scenario's name again.
        name = f"{scenario['execution']}~{_count}"
        if scenario["definition"] not in _machines:
            role = f"arn:aws:iam::{ACCOUNT}:role/scenario"
            machine = backend.create_state_machine(f"scenario-{len(_machines)}", scenario["definition"], role)
            _machines[scenario["definition"]] = machine.arn
    script = _scripts[name] = Script(scenario["calls"])
    execution = backend.start_execution(_machines[scenario["definition"]], name, json.dumps(scenario["input"]))
    end = time.time() + LIMIT
    while execution.exec_status in (None, ExecutionStatus.RUNNING) and time.time() < end:
        time.sleep(0.002)
    history = execution.to_history_output()["events"]
    entered = [each["stateEnteredEventDetails"]["name"] for each in history if "stateEnteredEventDetails" in each]
    answer = {
        "status": execution.exec_status.value,
        "error": execution.error,
        "path": entered,
        "calls": script.made,
        "uncalled": script.uncalled(),
    }
    return 200, {"content-type": "application/json"}, json.dumps(answer).replace(name, scenario["execution"])


def install() -> None:
    _patch()
    urls.url_paths["{0}/moto-api/rehearsal/scenario$"] = _run
