"""What the emulator did: read by the rehearsal at /moto-api/rehearsal."""
import json
import threading

import settings
from moto.cloudformation.exceptions import ValidationError
from moto.cloudformation.models import cloudformation_backends
from moto.moto_api._internal import urls

_lock = threading.Lock()
#: resources: how each was made (moto, service or stub); findings: what did not fit; invocations of functions; ended tasks.
_report: dict[str, list[dict]] = {"resources": [], "findings": [], "invocations": [], "tasks": []}


def add(kind: str, entry: dict) -> None:
    with _lock:
        _report[kind].append(entry)


def finding(stack: str, logical_id: str, resource_type: str, kind: str, text: str) -> None:
    """Records what did not fit. `kind`: schema, create, update or delete. With --strict, all but `delete` fail the stack."""
    add("findings", {"stack": stack, "id": logical_id, "type": resource_type, "kind": kind, "text": text})
    if kind != "delete" and settings.ARGS.strict:
        raise ValidationError(message=f"{resource_type} {logical_id}: {text}")


def _stacks() -> dict[str, dict]:
    """The stacks as they are now: status, outputs, and physical ID and attributes of each resource."""
    stacks = {}
    for backends in cloudformation_backends.values():
        for stack in backends[settings.REGION].stacks.values():
            resources = {
                each.logical_resource_id: {"type": each.cf_resource_type, "physical": str(each.physical_resource_id)}
                for each in stack.stack_resources
                if hasattr(each, "logical_resource_id")
            }
            outputs = {each["OutputKey"]: each["OutputValue"] for each in stack.outputs or []}
            stacks[stack.name] = {"status": stack.status, "outputs": outputs, "resources": resources}
    return stacks


def _serve(request, full_url, headers):
    with _lock:
        return 200, {"content-type": "application/json"}, json.dumps({**_report, "stacks": _stacks()})


def install() -> None:
    urls.url_paths["{0}/moto-api/rehearsal$"] = _serve
