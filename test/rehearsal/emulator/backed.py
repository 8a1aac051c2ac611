"""Which call of which service creates each type that moto's CloudFormation lacks, or drops too much of."""
import json
import re

from moto.cloudformation.exceptions import ValidationError

from provider import BACKED, Backed, schema_of
from shapes import client, input_of


def _dig(answer: dict, path: str):
    for part in path.split("."):
        answer = (answer or {}).get(part)
    return answer


def _attributes(resource_type: str, answer: dict, physical_id: str) -> dict:
    """Values of the type's read-only properties, from wherever the answer has them."""
    flat = {key.lower(): value for key, value in answer.items() if isinstance(value, str)}
    for nested in answer.values():
        if isinstance(nested, dict):
            flat.update({key.lower(): value for key, value in nested.items() if isinstance(value, str)})
    names = [each.rsplit("/", 1)[-1] for each in (schema_of(resource_type) or {}).get("readOnlyProperties", [])]
    found = {name: flat.get(name.lower()) for name in names}
    return {name: value or physical_id for name, value in found.items() if value or name.lower().endswith("id")}


def _put(resource_type: str, service: str, operation: str, identity: str, name: str | None = None) -> None:
    """A type with one call that creates and overwrites. `identity`: the property that is the physical ID."""

    def make(api, properties, generated, existing):
        if name:
            properties.setdefault(name, existing or generated)
        answer = getattr(api, operation)(**input_of(api, operation, properties))
        return properties[identity], _attributes(resource_type, answer, properties[identity])

    BACKED[resource_type] = Backed(service, make)


def _create(
    resource_type: str, service: str, noun: str, identity: str, name: str | None = None, key: str | None = None
) -> None:
    """A type with the calls create_, update_ and delete_ of a noun.

    `identity`: where the answer has the physical ID, or `@Property`. `name`: the property that defaults to a generated name.
    `key`: the parameter by which update_ and delete_ find the resource.
    """

    def make(api, properties, generated, existing):
        if name:
            properties.setdefault(name, existing or generated)
        if existing is not None:
            update = f"update_{noun}"
            if not hasattr(api, update):
                return existing, {}
            getattr(api, update)(**input_of(api, update, {**properties, **({key: existing} if key else {})}))
            return existing, {}
        create = f"create_{noun}"
        answer = getattr(api, create)(**input_of(api, create, properties))
        physical_id = properties[identity[1:]] if identity.startswith("@") else _dig(answer, identity)
        return physical_id, _attributes(resource_type, answer, physical_id)

    def delete(api, physical_id, properties):
        operation = f"delete_{noun}"
        getattr(api, operation)(**input_of(api, operation, {**properties, **({key: physical_id} if key else {})}))

    BACKED[resource_type] = Backed(service, make, delete)


_create("AWS::Cognito::UserPoolClient", "cognito-idp", "user_pool_client", "UserPoolClient.ClientId", "ClientName", "ClientId")
_create("AWS::Cognito::UserPoolResourceServer", "cognito-idp", "resource_server", "ResourceServer.Identifier", key="Identifier")
_create("AWS::Cognito::UserPoolDomain", "cognito-idp", "user_pool_domain", "@Domain", key="Domain")
_create("AWS::Cognito::UserPoolGroup", "cognito-idp", "group", "Group.GroupName", "GroupName", "GroupName")
_create("AWS::ApiGateway::Authorizer", "apigateway", "authorizer", "id", key="authorizerId")
_create("AWS::Scheduler::Schedule", "scheduler", "schedule", "@Name", "Name", "Name")
_create("AWS::Scheduler::ScheduleGroup", "scheduler", "schedule_group", "@Name", "Name", "Name")
_create("AWS::WAFv2::WebACL", "wafv2", "web_acl", "Summary.ARN", "Name")
_create("AWS::CodeDeploy::Application", "codedeploy", "application", "@ApplicationName", "ApplicationName", "applicationName")
# A rule of another bus than the default one needs its bus.
_create("AWS::Events::EventBus", "events", "event_bus", "@Name", "Name", "Name")
_create("AWS::Backup::BackupVault", "backup", "backup_vault", "@BackupVaultName", "BackupVaultName", "BackupVaultName")
_put("AWS::CloudWatch::Alarm", "cloudwatch", "put_metric_alarm", "AlarmName", "AlarmName")
_put("AWS::ApiGateway::GatewayResponse", "apigateway", "put_gateway_response", "ResponseType")
_put("AWS::ApplicationAutoScaling::ScalingPolicy", "application-autoscaling", "put_scaling_policy", "PolicyName")


def _backed(resource_type: str, service: str, delete=None):
    def register(make):
        BACKED[resource_type] = Backed(service, make, delete)
        return make

    return register


@_backed("AWS::CodeDeploy::DeploymentGroup", "codedeploy")
def _deployment_group(api, properties, name, existing):
    """Recorded only: the emulator moves an alias at once."""
    group = properties.get("DeploymentGroupName", existing or name)
    if existing is None:
        wanted = {**properties, "DeploymentGroupName": group}
        api.create_deployment_group(**input_of(api, "create_deployment_group", wanted))
    return group, {}


@_backed("AWS::SecretsManager::Secret", "secretsmanager", lambda api, arn, _: api.delete_secret(SecretId=arn))
def _secret(api, properties, name, existing):
    if existing is not None:
        return existing, {}
    generate = properties.pop("GenerateSecretString", None)
    if generate is not None:
        wanted = input_of(api, "get_random_password", generate)
        password = api.get_random_password(**wanted)["RandomPassword"]
        key = generate.get("GenerateStringKey")
        template = json.loads(generate.get("SecretStringTemplate", "{}"))
        properties["SecretString"] = json.dumps({**template, key: password}) if key else password
    arn = api.create_secret(**input_of(api, "create_secret", {"Name": name, **properties}))["ARN"]
    return arn, {"Id": arn}


@_backed("AWS::Lambda::Function", "lambda", lambda api, name, _: api.delete_function(FunctionName=name))
def _function(api, properties, name, existing):
    """moto's own model drops the architecture, the tracing and the logging of a function."""
    properties = {"PackageType": "Zip", **properties}
    reserved = properties.pop("ReservedConcurrentExecutions", None)
    function = properties.setdefault("FunctionName", existing or name[:64])
    if existing is None:
        properties.setdefault("Role", "")
        answer = api.create_function(**input_of(api, "create_function", properties))
    else:
        code = {"FunctionName": function, **properties["Code"], "Architectures": properties.get("Architectures")}
        api.update_function_code(**input_of(api, "update_function_code", code))
        answer = api.update_function_configuration(**input_of(api, "update_function_configuration", properties))
    if reserved is not None:
        api.put_function_concurrency(FunctionName=function, ReservedConcurrentExecutions=int(reserved))
    return function, {"Arn": answer["FunctionArn"].removesuffix(":$LATEST")}


@_backed("AWS::Lambda::Version", "lambda")
def _version(api, properties, name, existing):
    if existing is not None:
        return existing, {}
    answer = api.publish_version(FunctionName=properties["FunctionName"], Description=properties.get("Description", ""))
    version = answer["Version"]
    arn = answer["FunctionArn"].removesuffix(f":{version}")
    return f"{arn}:{version}", {"Version": version, "FunctionArn": f"{arn}:{version}"}


@_backed("AWS::Lambda::Alias", "lambda")
def _alias(api, properties, name, existing):
    operation = "create_alias" if existing is None else "update_alias"
    arn = getattr(api, operation)(**input_of(api, operation, properties))["AliasArn"]
    return arn, {"AliasArn": arn}


@_backed("AWS::ECS::TaskDefinition", "ecs", lambda api, arn, _: api.deregister_task_definition(taskDefinition=arn))
def _task_definition(api, properties, name, existing):
    """moto's own model drops CPU, roles and platform, and deregisters the revision before."""
    family = properties.setdefault("Family", name)
    wanted = input_of(api, "register_task_definition", properties)
    arn = api.register_task_definition(**{**wanted, "family": family})["taskDefinition"]["taskDefinitionArn"]
    return arn, {"TaskDefinitionArn": arn}


@_backed("AWS::ECS::ClusterCapacityProviderAssociations", "ecs")
def _capacity_providers(api, properties, name, existing):
    wanted = {"DefaultCapacityProviderStrategy": [], **properties}
    api.put_cluster_capacity_providers(**input_of(api, "put_cluster_capacity_providers", wanted))
    return properties["Cluster"], {}


@_backed("AWS::StepFunctions::StateMachine", "stepfunctions", lambda api, arn, _: api.delete_state_machine(stateMachineArn=arn))
def _state_machine(api, properties, name, existing):
    """moto's own model ignores DefinitionS3Location, and creates the machine where nothing interprets it."""
    machine = properties.get("StateMachineName", name)[:80]
    definition = _definition(api, properties)
    others = {key: value for key, value in properties.items() if not key.startswith("Definition")}
    if existing is not None:
        wanted = input_of(api, "update_state_machine", {**others, "stateMachineArn": existing, "definition": definition})
        api.update_state_machine(**wanted)
        return existing, {}
    wanted = {**others, "name": machine, "definition": definition, "type": properties.get("StateMachineType", "STANDARD")}
    arn = api.create_state_machine(**input_of(api, "create_state_machine", wanted))["stateMachineArn"]
    return arn, {"Arn": arn, "Name": machine}


def _definition(api, properties: dict) -> str:
    location = properties.get("DefinitionS3Location")
    if location:
        s3 = client("s3", api.meta.region_name)
        text = s3.get_object(Bucket=location["Bucket"], Key=location["Key"])["Body"].read().decode()
    else:
        text = properties.get("DefinitionString") or json.dumps(properties["Definition"])
    for key, value in (properties.get("DefinitionSubstitutions") or {}).items():
        text = text.replace(f"${{{key}}}", str(value))
    missing = sorted(set(re.findall(r"\$\{[A-Za-z][^}]*\}", text)))
    if missing:
        raise ValidationError(message=f"The definition has no substitution for {', '.join(missing)}")
    return text


@_backed("AWS::DynamoDB::GlobalTable", "dynamodb", lambda api, name, _: api.delete_table(TableName=name))
def _global_table(api, properties, name, existing):
    """A table with one replica, in this region."""
    replica = (properties.get("Replicas") or [{}])[0]
    table = properties.get("TableName", existing or name)
    if existing is None:
        keys = ("AttributeDefinitions", "KeySchema", "BillingMode")
        wanted = {key: properties[key] for key in keys if key in properties}
        if "StreamSpecification" in properties:
            # A global table's specification has the view only.
            wanted["StreamSpecification"] = {"StreamEnabled": True, **properties["StreamSpecification"]}
        indexes = properties.get("GlobalSecondaryIndexes", [])
        if indexes:
            members = ("IndexName", "KeySchema", "Projection")
            wanted["GlobalSecondaryIndexes"] = [{key: index[key] for key in members} for index in indexes]
        sse = properties.get("SSESpecification") or {}
        wanted["SSESpecification"] = {"Enabled": sse.get("SSEEnabled", False), "SSEType": sse.get("SSEType")}
        wanted["DeletionProtectionEnabled"] = replica.get("DeletionProtectionEnabled", False)
        wanted["Tags"] = replica.get("Tags", [])
        api.create_table(**input_of(api, "create_table", {"TableName": table, **_without_none(wanted)}))
        if properties.get("TimeToLiveSpecification"):
            spec = input_of(api, "update_time_to_live", {"TimeToLiveSpecification": properties["TimeToLiveSpecification"]})
            api.update_time_to_live(TableName=table, **spec)
    recovery = replica.get("PointInTimeRecoverySpecification")
    if recovery:
        spec = input_of(api, "update_continuous_backups", {"PointInTimeRecoverySpecification": recovery})
        api.update_continuous_backups(TableName=table, **spec)
    description = api.describe_table(TableName=table)["Table"]
    attributes = {"Arn": description["TableArn"], "TableId": description.get("TableId", table)}
    stream = description.get("LatestStreamArn")
    return table, {**attributes, **({"StreamArn": stream} if stream else {})}


def _without_none(value):
    if isinstance(value, dict):
        return {key: _without_none(each) for key, each in value.items() if each is not None}
    return value


@_backed("AWS::SSM::Parameter", "ssm", lambda api, name, _: api.delete_parameter(Name=name))
def _parameter(api, properties, name, existing):
    """moto's own model reads the tags of CloudFormation, a map, as a list."""
    parameter = properties.get("Name", existing or name)
    kind = properties.get("Type", "String")
    api.put_parameter(Name=parameter, Value=properties["Value"], Type=kind, Overwrite=True)
    return parameter, {"Type": kind, "Value": properties["Value"]}


@_backed("AWS::Logs::MetricFilter", "logs")
def _metric_filter(api, properties, name, existing):
    properties.setdefault("FilterName", existing or name)
    api.put_metric_filter(**input_of(api, "put_metric_filter", properties))
    return properties["FilterName"], {}


@_backed("AWS::Cognito::UserPool", "cognito-idp", lambda api, pool, _: api.delete_user_pool(UserPoolId=pool))
def _user_pool(api, properties, name, existing):
    if existing is not None:
        return existing, {}
    wanted = input_of(api, "create_user_pool", {**properties, "PoolName": properties.get("UserPoolName", name)})
    pool = api.create_user_pool(**wanted)["UserPool"]
    provider = f"cognito-idp.{api.meta.region_name}.amazonaws.com/{pool['Id']}"
    url = f"https://{provider}"
    return pool["Id"], {"Arn": pool["Arn"], "UserPoolId": pool["Id"], "ProviderName": provider, "ProviderURL": url}


@_backed("AWS::ServiceDiscovery::PrivateDnsNamespace", "servicediscovery", lambda api, each, _: api.delete_namespace(Id=each))
def _namespace(api, properties, name, existing):
    if existing is not None:
        return existing, {}
    properties.pop("Properties", None)
    wanted = input_of(api, "create_private_dns_namespace", properties)
    operation = api.create_private_dns_namespace(**wanted)["OperationId"]
    namespace_id = api.get_operation(OperationId=operation)["Operation"]["Targets"]["NAMESPACE"]
    arn = api.get_namespace(Id=namespace_id)["Namespace"]["Arn"]
    return namespace_id, {"Id": namespace_id, "Arn": arn, "HostedZoneId": f"Z{namespace_id[-8:].upper()}"}


@_backed("AWS::ServiceDiscovery::Service", "servicediscovery", lambda api, each, _: api.delete_service(Id=each))
def _discovered_service(api, properties, name, existing):
    if existing is not None:
        return existing, {}
    service = api.create_service(**input_of(api, "create_service", {"Name": name, **properties}))["Service"]
    return service["Id"], {"Id": service["Id"], "Arn": service["Arn"], "Name": service["Name"]}


@_backed("AWS::ApiGateway::Stage", "apigateway")
def _stage(api, properties, name, existing):
    if existing is None:
        api.create_stage(**input_of(api, "create_stage", properties))
    else:
        # A stage is updated by patches; here a new deployment is the one that matters.
        patch = [{"op": "replace", "path": "/deploymentId", "value": properties["DeploymentId"]}]
        api.update_stage(restApiId=properties["RestApiId"], stageName=existing, patchOperations=patch)
    return properties["StageName"], {}


@_backed("AWS::ApplicationAutoScaling::ScalableTarget", "application-autoscaling")
def _scalable_target(api, properties, name, existing):
    api.register_scalable_target(**input_of(api, "register_scalable_target", properties))
    parts = ("ResourceId", "ScalableDimension", "ServiceNamespace")
    return "|".join(properties[part] for part in parts), {}


@_backed("AWS::SNS::Subscription", "sns", lambda api, arn, _: api.unsubscribe(SubscriptionArn=arn))
def _subscription(api, properties, name, existing):
    arn = existing or api.subscribe(**input_of(api, "subscribe", properties))["SubscriptionArn"]
    return arn, {"Arn": arn}


@_backed("AWS::SNS::TopicPolicy", "sns")
def _topic_policy(api, properties, name, existing):
    policy = json.dumps(properties["PolicyDocument"])
    for arn in properties["Topics"]:
        api.set_topic_attributes(TopicArn=arn, AttributeName="Policy", AttributeValue=policy)
    return existing or name, {"Id": existing or name}


@_backed("AWS::SQS::QueuePolicy", "sqs")
def _queue_policy(api, properties, name, existing):
    policy = json.dumps(properties["PolicyDocument"])
    for url in properties["Queues"]:
        api.set_queue_attributes(QueueUrl=url, Attributes={"Policy": policy})
    return existing or name, {"Id": existing or name}


@_backed("AWS::S3::BucketPolicy", "s3", lambda api, bucket, _: api.delete_bucket_policy(Bucket=bucket))
def _bucket_policy(api, properties, name, existing):
    """moto enforces a bucket's policy and reads no condition: "deny unless TLS" would lock everybody out."""
    document = dict(properties["PolicyDocument"])
    conditional = [each for each in document["Statement"] if each.get("Effect") == "Deny" and each.get("Condition")]
    document["Statement"] = [each for each in document["Statement"] if each not in conditional]
    if document["Statement"]:
        api.put_bucket_policy(Bucket=properties["Bucket"], Policy=json.dumps(document))
    return properties["Bucket"], {}


@_backed("AWS::EC2::SecurityGroupEgress", "ec2")
def _egress(api, properties, name, existing):
    if existing is not None:
        return existing, {}
    rule = {"IpProtocol": properties["IpProtocol"]}
    rule.update({key: int(properties[key]) for key in ("FromPort", "ToPort") if key in properties})
    if "DestinationSecurityGroupId" in properties:
        rule["UserIdGroupPairs"] = [{"GroupId": properties["DestinationSecurityGroupId"]}]
    elif "DestinationPrefixListId" in properties:
        rule["PrefixListIds"] = [{"PrefixListId": properties["DestinationPrefixListId"]}]
    else:
        rule["IpRanges"] = [{"CidrIp": properties["CidrIp"]}]
    api.authorize_security_group_egress(GroupId=properties["GroupId"], IpPermissions=[rule])
    return name, {"Id": name}
