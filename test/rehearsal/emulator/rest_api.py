"""The OpenAPI body of a REST API, which moto's CloudFormation ignores: resources, methods, integrations, gateway responses."""
import json

from moto.apigateway.models import RestAPI, apigateway_backends

from shapes import client

#: The method of all methods in an OpenAPI document of API Gateway.
ANY = "x-amazon-apigateway-any-method"
METHODS = {"get", "head", "post", "put", "patch", "delete", "options", ANY}


def _import(api: RestAPI, properties: dict, region: str) -> None:
    body = properties.get("Body") or _from_bucket(properties.get("BodyS3Location"), region)
    if not body:
        return
    backend = apigateway_backends[api.account_id][api.region_name]
    signed = {
        name for name, each in body.get("components", {}).get("securitySchemes", {}).items()
        if each.get("x-amazon-apigateway-authtype") == "awsSigv4"
    }
    # A body replaces all that the API had.
    api.resources.clear()
    api.default = api.add_child("/")
    api.root_resource_id = api.default.id
    for path, item in body["paths"].items():
        resource = _resource(backend, api, path)
        for name, operation in item.items():
            if name in METHODS:
                _method(backend, api, resource, "ANY" if name == ANY else name.upper(), operation, signed)
    for kind, response in body.get("x-amazon-apigateway-gateway-responses", {}).items():
        parameters, templates = response.get("responseParameters", {}), response.get("responseTemplates", {})
        api.put_gateway_response(kind, response.get("statusCode"), parameters, templates)
    api.policy = json.dumps(body["x-amazon-apigateway-policy"]) if "x-amazon-apigateway-policy" in body else None


def _from_bucket(location: dict | None, region: str) -> dict | None:
    if not location:
        return None
    return json.load(client("s3", region).get_object(Bucket=location["Bucket"], Key=location["Key"])["Body"])


def _resource(backend, api: RestAPI, path: str):
    """The resource of a path, created with its ancestors where they are missing."""
    resource = api.get_resource_for_path(path)
    if resource:
        return resource
    parent_path, part = path.rsplit("/", 1)
    parent = _resource(backend, api, parent_path or "/")
    return backend.create_resource(function_id=api.id, parent_resource_id=parent.id, path_part=part)


def _method(backend, api: RestAPI, resource, method: str, operation: dict, signed: set[str]) -> None:
    required = {name for each in operation.get("security", []) for name in each}
    authorization = "AWS_IAM" if required & signed else "NONE"
    backend.put_method(
        function_id=api.id, resource_id=resource.id, method_type=method, authorization_type=authorization
    )
    integration = operation["x-amazon-apigateway-integration"]
    backend.put_integration(
        function_id=api.id,
        resource_id=resource.id,
        method_type=method,
        integration_type=integration["type"].upper(),
        uri=integration.get("uri"),
        integration_method=integration.get("httpMethod"),
        timeout_in_millis=integration.get("timeoutInMillis"),
    )


def install() -> None:
    create = RestAPI.create_from_cloudformation_json.__func__

    def create_with_body(cls, resource_name, cloudformation_json, account_id, region_name, **kwargs):
        api = create(cls, resource_name, cloudformation_json, account_id, region_name, **kwargs)
        _import(api, cloudformation_json["Properties"], region_name)
        return api

    def update(cls, original_resource, new_resource_name, cloudformation_json, account_id, region_name):
        properties = cloudformation_json["Properties"]
        original_resource.name = properties["Name"]
        original_resource.description = properties.get("Description", "")
        _import(original_resource, properties, region_name)
        return original_resource

    RestAPI.create_from_cloudformation_json = classmethod(create_with_body)
    RestAPI.update_from_cloudformation_json = classmethod(update)
