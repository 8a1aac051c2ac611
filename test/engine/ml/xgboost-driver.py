"""Trains and predicts with XGBoost's hist method on one thread: one JSON request a line on stdin, one JSON reply a line.

{"op": "version"}
{"op": "train", "features": file of float64, a column after the other, "labels": file of uint8, "rows": n, "trees": n, "params": {}}
{"op": "predict", "features": file, "labels": file, "rows": n, "into": file for float32}

Replies carry the version of XGBoost and cpu_ms, the processor time without that of making the matrix.
"""

import json
import sys
import time

import numpy as np
import xgboost as xgb

BASE = {"objective": "binary:logistic", "tree_method": "hist", "nthread": 1, "verbosity": 0}
features = {}
model = None


def matrix(request):
    path = request["features"]
    if path not in features:
        columns = np.fromfile(path).reshape((-1, request["rows"]))
        features[path] = np.ascontiguousarray(columns.T, dtype=np.float32)
    # A new one each time: it keeps bins and predictions of earlier calls.
    return xgb.DMatrix(features[path], label=np.fromfile(request["labels"], dtype=np.uint8), nthread=1)


def train(request):
    global model
    data = matrix(request)
    start = time.process_time()
    model = xgb.train({**BASE, **request["params"]}, data, request["trees"])
    return time.process_time() - start


def predict(request):
    data = matrix(request)
    start = time.process_time()
    predictions = model.predict(data)
    seconds = time.process_time() - start
    predictions.astype(np.float32).tofile(request["into"])
    return seconds


OPERATIONS = {"version": lambda _: 0, "train": train, "predict": predict}

for line in sys.stdin:
    request = json.loads(line)
    seconds = OPERATIONS[request["op"]](request)
    print(json.dumps({"cpu_ms": seconds * 1000, "version": xgb.__version__}), flush=True)
