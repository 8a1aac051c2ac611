"""One request of DynamoDB at a time: moto's conditional writes and transactions are not safe for threads.

Streams deliver nothing. moto calls a function of a stream inside of the write, without its filters: a function that writes to the
table would wait for itself.
"""
import threading

from moto.awslambda.models import EventSourceMapping, LambdaBackend, lambda_backends
from moto.dynamodb.responses import DynamoHandler

_one_at_a_time = threading.RLock()


def install() -> None:
    call_action = DynamoHandler.call_action

    def serialized(self):
        with _one_at_a_time:
            return call_action(self)

    DynamoHandler.call_action = serialized
    _patch_mappings()
    # Not empty: moto takes the records for delivered.
    LambdaBackend.send_dynamodb_items = lambda *_: "dropped"


def _patch_mappings() -> None:
    update = EventSourceMapping.update_from_cloudformation_json

    def update_or_replace(cls, original_resource, new_resource_name, cloudformation_json, account_id, region_name):
        """CloudFormation replaces a mapping whose source changes; moto keeps the source."""
        if cloudformation_json["Properties"]["EventSourceArn"] == original_resource.event_source_arn:
            return update(original_resource, new_resource_name, cloudformation_json, account_id, region_name)
        created = cls.create_from_cloudformation_json(
            new_resource_name, cloudformation_json, account_id, region_name
        )
        lambda_backends[account_id][region_name].delete_event_source_mapping(original_resource.uuid)
        return created

    EventSourceMapping.update_from_cloudformation_json = classmethod(update_or_replace)
