"""One request of DynamoDB at a time: moto's conditional writes and transactions are not safe for threads.

Streams deliver nothing. moto calls a function of a stream inside of the write, without its filters: a function that writes to the
table would wait for itself.
"""
import threading

from moto.awslambda.models import LambdaBackend
from moto.dynamodb.responses import DynamoHandler

_one_at_a_time = threading.RLock()


def install() -> None:
    call_action = DynamoHandler.call_action

    def serialized(self):
        with _one_at_a_time:
            return call_action(self)

    DynamoHandler.call_action = serialized
    # Not empty: moto takes the records for delivered.
    LambdaBackend.send_dynamodb_items = lambda *_: "dropped"
