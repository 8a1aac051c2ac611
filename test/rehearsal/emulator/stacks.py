"""Stacks as the CDK CLI deploys them: change sets, dependencies, outputs, weak references, termination protection."""
import json
import traceback

from moto.cloudformation import models, parsing
from moto.cloudformation import responses
from moto.cloudformation.exceptions import ValidationError
from moto.core.responses import ActionResult, EmptyResult
from moto.iam.models import iam_backends

import provider
import report

Stack, ChangeSet, Backend = models.Stack, models.ChangeSet, models.CloudFormationBackend
ResourceMap, Response = parsing.ResourceMap, responses.CloudFormationResponse


def references(value) -> set[str]:
    """Logical IDs, and other names, that a part of a template refers to."""
    if isinstance(value, list):
        return set().union(*(references(each) for each in value)) if value else set()
    if not isinstance(value, dict):
        return set()
    found = set()
    for key, each in value.items():
        if key == "Ref":
            found.add(each)
        elif key == "Fn::GetAtt":
            found.add(each[0] if isinstance(each, list) else each.split(".")[0])
        elif key == "Fn::Sub":
            text = each[0] if isinstance(each, list) else each
            found.update(part.split("}")[0].split(".")[0] for part in text.split("${")[1:])
            found |= references(each[1:] if isinstance(each, list) else [])
        elif key == "DependsOn":
            found.update([each] if isinstance(each, str) else each)
        else:
            found |= references(each)
    return found


def in_order(resources: dict) -> list[str]:
    """Logical IDs, each after those that it refers to."""
    done: list[str] = []
    seen: set[str] = set()

    def visit(name: str) -> None:
        if name in seen or name not in resources:
            return
        seen.add(name)
        for each in sorted(references(resources[name])):
            visit(each)
        done.append(name)

    for name in resources:
        visit(name)
    return done


def _update(self: ResourceMap, template: dict, parameters: dict | None = None) -> None:
    """Creates, then updates, then deletes, each in the order of dependencies. What refers to a replaced resource is updated."""
    difference = self.build_resource_diff(template, parameters)
    before = self._resource_json_map
    self._template = template
    if parameters:
        self.input_parameters = parameters
    self.load_mapping()
    self.load_parameters()
    self.load_conditions()
    self._resource_json_map = template["Resources"]
    changed, replaced = set(difference["Modify"]), set()
    for name in in_order(template["Resources"]):
        resource_json = template["Resources"][name]
        if name in difference["Add"]:
            _ = self[name]
        elif name in changed or references(resource_json) & replaced:
            old = getattr(self[name], "physical_resource_id", None)
            updated = _update_resource(self, name, resource_json)
            if updated is not None:
                self._parsed_resources[name] = updated
            if getattr(updated, "physical_resource_id", old) != old:
                replaced.add(name)
    for name in reversed(in_order({name: before[name] for name in before})):
        if name in difference["Remove"]:
            _delete_resource(self, name, before[name])


def _update_resource(self: ResourceMap, name: str, resource_json: dict):
    resource_type = resource_json["Type"]
    try:
        return parsing.parse_and_update_resource(name, resource_json, self, self._account_id, self._region_name)
    except ValidationError:
        raise
    except Exception as error:  # A model of moto that trips keeps the resource as it was.
        report.finding(self["AWS::StackName"], name, resource_type, "update", _text_of(error))
        return self[name]


def _text_of(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error)[:400]}"


def _delete_resource(self: ResourceMap, name: str, resource_json: dict, retaining=("Retain", "RetainExceptOnCreate")) -> None:
    resource = self._parsed_resources.pop(name, None)
    if resource is None or resource_json.get("DeletionPolicy") in retaining:
        return
    try:
        self._delete_resource(resource, resource_json)
    except Exception as error:
        report.finding(self["AWS::StackName"], name, resource_json["Type"], "delete", _text_of(error))


def _roll_back(self: ResourceMap, before: dict) -> None:
    """Deletes what an operation that failed has created, also what RetainExceptOnCreate keeps from then on."""
    created = {name: each for name, each in self._resource_json_map.items() if name not in before}
    for name in reversed(in_order(created)):
        _delete_resource(self, name, created[name], retaining=("Retain",))


def _check_principal(principal: str, account_id: str) -> None:
    """Lambda accepts no permission for a role that does not exist. The emulator knows the roles of its own account only."""
    is_own_role = ":role/" in principal and principal.split(":")[4] == account_id
    roles = iam_backends[account_id]["aws"].roles.values()
    if is_own_role and all(role.arn != principal for role in roles):
        raise ValidationError(message="The provided principal was invalid. Please check the principal and try again.")


def _is_taken(error: Exception) -> bool:
    """True for a name that something else has: CloudFormation fails such a creation."""
    code = getattr(error, "response", {}).get("Error", {}).get("Code", "") or getattr(error, "error_type", "") or ""
    return any("AlreadyExists" in text or "AlreadyOwned" in text for text in (type(error).__name__, code))


def _delete_all(self: ResourceMap) -> None:
    """Deletes in the reverse order of dependencies. What cannot be deleted is reported and left."""
    for name in reversed(in_order(self._resource_json_map)):
        _delete_resource(self, name, self._resource_json_map[name])


def _patch_resources() -> None:
    create = parsing.parse_and_create_resource

    def create_resource(logical_id, resource_json, resources_map, account_id, region_name):
        stack, resource_type = resources_map["AWS::StackName"], resource_json["Type"]
        condition = resource_json.get("Condition")
        if condition and not resources_map.lazy_condition_map[condition]:
            return None
        depends = resource_json.get("DependsOn", [])
        for each in [depends] if isinstance(depends, str) else depends:
            _ = resources_map[each]
        properties = parsing.clean_json(json.loads(json.dumps(resource_json.get("Properties", {}))), resources_map)
        if resource_type not in provider.QUIET and not resource_type.startswith("Custom::"):
            for text in provider.schema_findings(resource_type, properties):
                report.finding(stack, logical_id, resource_type, "schema", text)
        if resource_type == "AWS::Lambda::Permission":
            _check_principal(str(properties["Principal"]), account_id)
        try:
            resource = create(logical_id, resource_json, resources_map, account_id, region_name)
        except ValidationError:
            raise
        except Exception as error:  # What the service refuses, and what a model of moto trips over, is kept as a stub.
            if _is_taken(error):
                raise ValidationError(message=f"{resource_type} {logical_id}: {_text_of(error)}") from error
            report.finding(stack, logical_id, resource_type, "create", _text_of(error))
            resource = provider.stub(resource_type, f"{stack}-{logical_id}", account_id)
        if resource is None:
            return None
        made = getattr(resource, "made", "moto")
        if not getattr(resource, "physical_resource_id", None):
            try:  # Some models of moto have none, such as a permission of Lambda.
                resource.physical_resource_id = f"{stack}-{logical_id}"
            except AttributeError:
                pass
        resource.cf_resource_type, resource.logical_resource_id = resource_type, logical_id
        report.add("resources", {
            "stack": stack,
            "id": logical_id,
            "type": resource_type,
            "made": "quiet" if resource_type in provider.QUIET else made,
            "physical": str(resource.physical_resource_id),
        })
        return resource

    parsing.parse_and_create_resource = create_resource
    ResourceMap.update = _update
    ResourceMap.delete = _delete_all


def _patch_functions() -> None:
    """Fn::GetStackOutput is a weak reference: the current output of another stack of the same account."""
    clean = parsing.clean_json

    def clean_json(resource_json, resources_map):
        if not isinstance(resource_json, dict) or "Fn::GetStackOutput" not in resource_json:
            return clean(resource_json, resources_map)
        wanted = clean(resource_json["Fn::GetStackOutput"], resources_map)
        backend = models.cloudformation_backends[resources_map._account_id][wanted["Region"]]
        stack = backend.get_stack(wanted["StackName"])
        for output in stack.outputs or []:
            if output["OutputKey"] == wanted["OutputName"]:
                return output["OutputValue"]
        raise ValidationError(message=f"{wanted['StackName']} has no output {wanted['OutputName']}")

    parsing.clean_json = clean_json


def _patch_change_sets() -> None:
    create = Backend.create_change_set

    def create_change_set(self, *args, **kwargs):
        answer = create(self, *args, **kwargs)
        # A stack that a change set makes must see the exports of the stacks before it.
        for stack in self.stacks.values():
            stack.cross_stack_resources = self.exports
            stack.resource_map.cross_stack_resources = self.exports
        return answer

    def find(backend, name, stack_name):
        """moto looks a change set up by its name over all stacks; the CLI gives all of them one name."""
        hits = [
            (key, each)
            for key, each in backend.change_sets.items()
            if name in (key, each.change_set_name) and (name == key or stack_name in (None, each.stack_name, each.stack_id))
        ]
        if not hits:
            error = ValidationError(message=f"ChangeSet [{name}] does not exist")
            error.code = "ChangeSetNotFound"
            raise error
        return hits[-1]

    def execute(self, change_set_name, stack_name=None):
        _, change_set = find(self, change_set_name, stack_name)
        # An executed change set is forgotten; otherwise the next deployment waits for it.
        self.change_sets = {key: each for key, each in self.change_sets.items() if each.stack_id != change_set.stack_id}
        stack = self.stacks[change_set.stack_id]
        verb = "CREATE" if change_set.change_set_type == "CREATE" else "UPDATE"
        stack._add_stack_event(f"{verb}_IN_PROGRESS", resource_status_reason="User Initiated")
        try:
            _apply(self, change_set)
        except Exception as error:
            traceback.print_exc()
            _fail(stack, verb, f"{type(error).__name__}: {getattr(error, 'message', None) or error}"[:900])
            change_set.execution_status = "EXECUTE_FAILED"
            return
        stack._add_stack_event(f"{verb}_COMPLETE")
        stack.status = f"{verb}_COMPLETE"
        change_set.execution_status = "EXECUTE_COMPLETE"

    def describe(self):
        return ActionResult(find(self.cloudformation_backend, *_names(self))[1])

    def delete(self):
        try:
            key, _ = find(self.cloudformation_backend, *_names(self))
            del self.cloudformation_backend.change_sets[key]
        except ValidationError:
            pass
        return EmptyResult()

    Backend.create_change_set = create_change_set
    Backend.execute_change_set = execute
    Response.describe_change_set = describe
    Response.delete_change_set = delete


def _names(response):
    return response._get_param("ChangeSetName"), response._get_param("StackName")


def _apply(backend, change_set: ChangeSet) -> None:
    stack = change_set.stack
    before = stack.template_dict
    try:
        stack.resource_map.update(change_set.template_dict, change_set.parameters)
    except Exception:
        _roll_back(stack.resource_map, before.get("Resources", {}))
        if before.get("Resources"):
            stack.resource_map.update(before, stack.parameters)
        else:
            # A resource of the map that does not exist is created when it is listed.
            stack.resource_map._resource_json_map = {}
            stack.output_map = models.OutputMap(stack.resource_map, {}, stack.stack_id)
        raise
    stack.template, stack.template_dict = change_set.template, change_set.template_dict
    stack.parameters = change_set.parameters
    stack.description = change_set.template_dict.get("Description")
    stack.output_map = stack._create_output_map()
    backend.exports.update({each.name: each for each in stack.exports})


def _fail(stack: Stack, verb: str, reason: str) -> None:
    stack._add_stack_event(f"{verb}_FAILED", resource_status_reason=reason)
    stack.status = "ROLLBACK_COMPLETE" if verb == "CREATE" else "UPDATE_ROLLBACK_COMPLETE"
    stack._add_stack_event(stack.status, resource_status_reason=reason)


def _patch_protection() -> None:
    def update_termination_protection(self):
        stack = self.cloudformation_backend.get_stack(self._get_param("StackName"))
        stack.enable_termination_protection = self._get_bool_param("EnableTerminationProtection")
        return ActionResult({"StackId": stack.stack_id})

    delete = Backend.delete_stack

    def delete_stack(self, name_or_stack_id):
        stack = self.get_stack(name_or_stack_id)
        if stack.enable_termination_protection:
            raise ValidationError(
                message=f"Stack [{stack.name}] cannot be deleted while TerminationProtection is enabled"
            )
        return delete(self, name_or_stack_id)

    Response.update_termination_protection = update_termination_protection
    Backend.delete_stack = delete_stack


def _patch_parameters() -> None:
    from_url = responses.get_stack_from_s3_url
    # moto takes the host "localhost" for its own, and any other for the name of a bucket.
    responses.get_stack_from_s3_url = lambda template_url, **kwargs: from_url(
        template_url.replace("//127.0.0.1", "//localhost"), **kwargs
    )
    parse = ResourceMap.parse_ssm_parameter

    def parse_ssm_parameter(self, value, value_type):
        try:
            return parse(self, value, value_type)
        except AttributeError:
            if value.startswith("/"):
                raise ValidationError(message=f"Unable to fetch parameters [{value}] from parameter store for this account.")
            return value  # At an update moto hands back the value instead of the name.

    ResourceMap.parse_ssm_parameter = parse_ssm_parameter


def install() -> None:
    _patch_functions()
    _patch_resources()
    _patch_change_sets()
    _patch_protection()
    _patch_parameters()
