"""Executions of state machines, which moto's interpreter runs for real."""
import copy
import functools
import inspect
import re
import sys
import types

from moto.core.config import default_user_config
from moto.stepfunctions.parser import models
from moto.stepfunctions.parser.asl.component.common.retry import retrier_decl
from moto.stepfunctions.parser.asl.component.state.exec.state_task.service import state_task_service_ecs
from moto.stepfunctions.parser.asl.component.state.exec.state_task.service.state_task_service_ecs import (
    StateTaskServiceEcs,
)
from moto.stepfunctions.parser.asl.component.state.wait.wait_function.wait_function import WaitFunction
from moto.stepfunctions.parser.asl.utils import json_path

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


#: A path that names one value at most: no wildcard, slice, filter or descent.
_DEFINITE = re.compile(r"\$(\.\w+|\[\d+\])*")


def _patch_paths() -> None:
    # Building the parser of a path takes 30 ms.
    json_path.parse = functools.lru_cache(maxsize=None)(json_path.parse)
    extract = json_path.extract_json

    def extract_json(path, data):
        """moto returns a list of one for `$[0].message`."""
        value = extract(path, data)
        is_list = isinstance(value, list) and len(value) == 1 and _DEFINITE.fullmatch(path)
        return json_path.parse(path).find(data)[0].value if is_list else value

    for module in list(sys.modules.values()):
        if getattr(module, "extract_json", None) is extract:
            module.extract_json = extract_json


def install() -> None:
    _patch_paths()
    default_user_config.setdefault("stepfunctions", {})["execute_state_machine"] = True
    # moto 5.2.1 copies a machine with its executions, which hold threads: every second start answers 500.
    if "do not copy the executions" not in inspect.getsource(models):
        models.copy = types.SimpleNamespace(deepcopy=copy.copy, copy=copy.copy)
    # Retries and Wait states follow at once.
    retrier_decl.time = types.SimpleNamespace(sleep=lambda _: None)
    WaitFunction._wait_interval = lambda self, env, wait_seconds: None
    # moto drops this parameter of RunTask.
    state_task_service_ecs._SUPPORTED_API_PARAM_BINDINGS["runtask"].add("CapacityProviderStrategy")
    StateTaskServiceEcs._normalise_parameters = _parameters
    StateTaskServiceEcs._normalise_response = _response
