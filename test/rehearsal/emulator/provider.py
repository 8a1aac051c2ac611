"""Creates the resource types that moto's CloudFormation lacks, through the API of their service or as stubs."""
import re
from dataclasses import dataclass
from typing import Callable

from cfnlint.schema import PROVIDER_SCHEMA_MANAGER
from jsonschema import Draft7Validator
from moto.cloudformation import parsing
from moto.cloudformation.exceptions import ValidationError
from moto.core.common_models import CloudFormationModel

import report
import settings
from shapes import client


@dataclass(frozen=True)
class Backed:
    """How a type is created through a service.

    make(api, properties, name, existing) returns the physical ID and the attributes of Fn::GetAtt. `existing` is the physical
    ID at an update and None at the creation. A type whose physical ID changes at an update was replaced.
    """

    service: str
    make: Callable
    #: delete(api, physical_id, properties). None: the resource stays.
    delete: Callable | None = None


#: Filled by backed.py.
BACKED: dict[str, Backed] = {}

#: Types without effect here, which are no finding.
QUIET = {"AWS::CDK::Metadata", "AWS::ApiGateway::Account"}


def schema_of(resource_type: str) -> dict | None:
    """The schema of a type that cfn-lint ships. None for an unknown type."""
    try:
        return PROVIDER_SCHEMA_MANAGER.get_resource_schema(settings.REGION, resource_type).schema
    except Exception:  # cfn-lint raises several kinds for a type that it does not know.
        return None


def _relaxed(schema):
    """CloudFormation takes numbers and booleans as text, and the reverse. Python does not read all regular expressions of the schemas."""
    if isinstance(schema, list):
        return [_relaxed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    relaxed = {key: _relaxed(value) for key, value in schema.items() if key not in ("format", "pattern")}
    if relaxed.pop("patternProperties", None) is not None:
        relaxed.pop("additionalProperties", None)
    if relaxed.get("type") in ("integer", "number", "boolean", "string"):
        relaxed["type"] = ["integer", "number", "boolean", "string"]
    return relaxed


_validators: dict[str, Draft7Validator] = {}


def schema_findings(resource_type: str, properties: dict) -> list[str]:
    """Where resolved properties contradict the schema of their type. Tags are newer than cfn-lint's schemas of some types."""
    schema = schema_of(resource_type)
    if schema is None:
        return []
    if resource_type not in _validators:
        _validators[resource_type] = Draft7Validator(_relaxed({**schema, "$id": f"cfn:{resource_type}"}))
    untagged = {key: value for key, value in properties.items() if key != "Tags" or key in schema["properties"]}
    errors = _validators[resource_type].iter_errors(untagged)
    return [f"{'/'.join(map(str, each.absolute_path)) or '.'}: {each.message[:300]}" for each in errors]


class Resource(CloudFormationModel):
    """A resource of a type that moto's CloudFormation lacks."""

    #: moto reads the name of a service out of the name of a model's module.
    __module__ = "moto.rehearsal.models"
    TYPE = ""

    def __init__(self, physical_id: str, properties: dict, attributes: dict, made: str, account: str):
        self.physical_resource_id = physical_id
        self.properties = properties
        self.attributes = attributes
        #: service, or stub if nothing was created.
        self.made = made
        self.account = account

    def is_created(self) -> bool:
        return True

    @staticmethod
    def cloudformation_name_type() -> str:
        return ""

    @classmethod
    def has_cfn_attr(cls, attr: str) -> bool:
        schema = schema_of(cls.TYPE)
        if schema is None:
            return True
        read_only = {each.rsplit("/", 1)[-1] for each in schema.get("readOnlyProperties", [])}
        return attr.split(".")[-1] in read_only or attr.split(".")[0] in schema.get("properties", {})

    def get_cfn_attribute(self, attr: str):
        for known in (self.attributes, self.properties):
            if attr in known:
                return known[attr]
        if attr.lower().endswith("arn"):
            service = self.TYPE.split("::")[1].lower()
            return f"arn:aws:{service}:{settings.REGION}:{self.account}:{self.physical_resource_id}"
        if not self.has_cfn_attr(attr):
            raise ValidationError(message=f"Template error: {self.TYPE} has no attribute {attr}")
        return self.physical_resource_id

    @classmethod
    def create_from_cloudformation_json(cls, resource_name, cloudformation_json, account_id, region_name, **kwargs):
        properties = cloudformation_json.get("Properties", {})
        name = re.sub(r"[^A-Za-z0-9-]", "-", resource_name)
        backed = BACKED.get(cls.TYPE)
        if backed is None:
            return cls(name, properties, {}, "stub", account_id)
        physical_id, attributes = backed.make(client(backed.service, region_name), dict(properties), name, None)
        return cls(physical_id, properties, attributes, "service", account_id)

    @classmethod
    def update_from_cloudformation_json(
        cls, original_resource, new_resource_name, cloudformation_json, account_id, region_name
    ):
        properties = cloudformation_json.get("Properties", {})
        existing = original_resource.physical_resource_id
        backed = BACKED.get(cls.TYPE)
        if backed is None or original_resource.made == "stub":
            return cls(existing, properties, original_resource.attributes, "stub", account_id)
        name = re.sub(r"[^A-Za-z0-9-]", "-", new_resource_name)
        physical_id, attributes = backed.make(client(backed.service, region_name), dict(properties), name, existing)
        return cls(physical_id, properties, {**original_resource.attributes, **attributes}, "service", account_id)

    def delete(self, account_id: str, region_name: str) -> None:
        backed = BACKED.get(self.TYPE)
        if backed and backed.delete and self.made == "service":
            backed.delete(client(backed.service, region_name), self.physical_resource_id, self.properties)


_classes: dict[str, type[Resource]] = {}
_moto_models: dict = {}


def _class_of(resource_type: str):
    if resource_type in parsing.NULL_MODELS:
        return None
    # The providers of custom resources answer to a URL of S3 by https, which the emulator does not serve.
    custom = resource_type.startswith("Custom::") or resource_type == "AWS::CloudFormation::CustomResource"
    if resource_type in _moto_models and not custom:
        return _moto_models[resource_type]
    if not custom and resource_type not in QUIET and schema_of(resource_type) is None:
        raise ValidationError(message=f"Template format error: Unrecognized resource types: [{resource_type}]")
    if resource_type not in _classes:
        members = {"TYPE": resource_type, "__module__": Resource.__module__}
        members["cloudformation_type"] = staticmethod(lambda: resource_type)
        _classes[resource_type] = type(re.sub(r"\W", "_", resource_type), (Resource,), members)
    return _classes[resource_type]


def stub(resource_type: str, physical_id: str, account: str) -> Resource:
    """A resource that nothing created."""
    kind = type("Stub", (Resource,), {"TYPE": resource_type, "__module__": Resource.__module__})
    return kind(physical_id, {}, {}, "stub", account)


def install() -> None:
    _moto_models.update({key: value for key, value in parsing.get_model_map().items() if key not in BACKED and key})
    name_property = parsing.resource_name_property_from_type
    parsing.resource_class_from_type = _class_of
    parsing.resource_name_property_from_type = lambda each: name_property(each) if each in _moto_models else None
