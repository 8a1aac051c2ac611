"""Fits values of a CloudFormation template to the API of a service."""
import json

import boto3
from botocore.config import Config

import settings


def client(service: str, region: str = settings.REGION):
    """A client of this emulator, for one service."""
    config = Config(s3={"addressing_style": "path"}, retries={"max_attempts": 0})
    return boto3.client(service, region_name=region, endpoint_url=settings.endpoint(), config=config)


def input_of(api, operation: str, properties: dict) -> dict:
    """The properties that the operation accepts, as the operation wants them. Others are left out."""
    shape = api.meta.service_model.operation_model(api.meta.method_to_api_mapping[operation]).input_shape
    return _fit(shape, {key: value for key, value in properties.items() if value is not None})


def _fit(shape, value):
    """CloudFormation and the services differ in the case of keys, in numbers as text, and in how tags are written."""
    fit = _FITS.get(shape.type_name)
    return fit(shape, value) if fit else value


def _structure(shape, value):
    if not isinstance(value, dict):
        return value
    members = {name.lower(): name for name in shape.members}
    known = {members[key.lower()]: each for key, each in value.items() if key.lower() in members}
    return {name: _fit(shape.members[name], each) for name, each in known.items()}


def _list(shape, value):
    return [_fit(shape.member, each) for each in value] if isinstance(value, list) else value


def _map(shape, value):
    if isinstance(value, list):  # tags: [{Key, Value}]
        return {each["Key"]: each["Value"] for each in value}
    return {key: _fit(shape.value, each) for key, each in value.items()} if isinstance(value, dict) else value


def _string(_, value):
    if isinstance(value, str):
        return value
    return json.dumps(value) if isinstance(value, (dict, list, bool)) else str(value)


_FITS = {
    "structure": _structure,
    "list": _list,
    "map": _map,
    "integer": lambda _, value: int(value),
    "long": lambda _, value: int(value),
    "double": lambda _, value: float(value),
    "float": lambda _, value: float(value),
    "boolean": lambda _, value: value.lower() == "true" if isinstance(value, str) else value,
    "string": _string,
    "blob": lambda _, value: value.encode() if isinstance(value, str) else value,
}
