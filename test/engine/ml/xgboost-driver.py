"""Trains and predicts with XGBoost's hist method on one thread, one JSON request a line on stdin, one JSON reply a line.

{"op": "train", "features": file of float64, a column after the other, "labels": file of uint8, "rows": n, "trees": n, "params": {}}
    -> {"cpu_ms": processor time of the training; the matrix is made before}
{"op": "predict", "features": file, "rows": n, "into": file for float32} -> {"cpu_ms": processor time, the matrix made before}
"""

import json
import sys
import time

import numpy as np
import xgboost as xgb

BASE = {"objective": "binary:logistic", "tree_method": "hist", "nthread": 1, "verbosity": 0}
matrices = {}
model = None


def matrix(request):
    key = request["features"]
    if key not in matrices:
        columns = np.fromfile(key).reshape((-1, request["rows"]))
        labels = np.fromfile(request["labels"], dtype=np.uint8) if "labels" in request else None
        matrices[key] = np.ascontiguousarray(columns.T, dtype=np.float32), labels
    features, labels = matrices[key]
    return xgb.DMatrix(features, label=labels, nthread=1)


for line in sys.stdin:
    request = json.loads(line)
    data = matrix(request)
    start = time.process_time()
    if request["op"] == "train":
        model = xgb.train({**BASE, **request["params"]}, data, request["trees"])
    else:
        predictions = model.predict(data)
    cpu_ms = (time.process_time() - start) * 1000
    if request["op"] == "predict":
        predictions.astype(np.float32).tofile(request["into"])
    print(json.dumps({"cpu_ms": cpu_ms, "version": xgb.__version__}), flush=True)
