"""Executions of state machines, which moto's interpreter runs for real."""
import copy
import inspect
import types

from moto.core.config import default_user_config
from moto.stepfunctions.parser import models
from moto.stepfunctions.parser.asl.component.state.exec.state_task.service.state_task_service_ecs import (
    StateTaskServiceEcs,
)

from shapes import client, input_of


def _upper(value):
    """Keys as Step Functions writes them."""
    if isinstance(value, list):
        return [_upper(each) for each in value]
    if isinstance(value, dict):
        return {key[:1].upper() + key[1:]: _upper(each) for key, each in value.items()}
    return value


def _parameters(self, parameters, boto_service_name=None, service_action_name=None):
    """moto hands the keys of the definition to an API that wants them in lower case."""
    fitted = input_of(client("ecs"), "run_task", parameters)
    parameters.clear()
    parameters.update(fitted)


def _response(self, response, boto_service_name=None, service_action_name=None):
    fitted = _upper(response)
    response.clear()
    response.update(fitted)


def install() -> None:
    default_user_config.setdefault("stepfunctions", {})["execute_state_machine"] = True
    # moto 5.2.1 copies a machine with its executions, which hold threads: every second start answers 500.
    if "do not copy the executions" not in inspect.getsource(models):
        models.copy = types.SimpleNamespace(deepcopy=copy.copy, copy=copy.copy)
    StateTaskServiceEcs._normalise_parameters = _parameters
    StateTaskServiceEcs._normalise_response = _response
