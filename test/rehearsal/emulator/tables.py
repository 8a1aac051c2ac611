"""One request of DynamoDB at a time: moto's conditional writes and transactions are not safe for threads."""
import threading

from moto.dynamodb.responses import DynamoHandler

_one_at_a_time = threading.RLock()


def install() -> None:
    call_action = DynamoHandler.call_action

    def serialized(self):
        with _one_at_a_time:
            return call_action(self)

    DynamoHandler.call_action = serialized
