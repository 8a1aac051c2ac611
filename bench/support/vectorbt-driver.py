"""Runs an EMA crossover with vectorbt: one JSON request a line on stdin, one JSON reply a line.

{"op": "version"}
{"op": "run", "close": file of float64, "fast": n, "slow": n, "fee": ratio, "stake": quote currency, "wallet": quote currency}

Replies carry the version of vectorbt, the processor time of the parts in ms, and the number of orders.
"""

import json
import sys
import time

import numpy as np
import pandas as pd
import vectorbt as vbt

closes = {}


def series(path):
    if path not in closes:
        closes[path] = pd.Series(np.fromfile(path))
    return closes[path]


def run(request):
    close = series(request["close"])
    times = [time.process_time()]
    fast = vbt.MA.run(close, request["fast"], ewm=True)
    slow = vbt.MA.run(close, request["slow"], ewm=True)
    times.append(time.process_time())
    up = fast.ma_crossed_above(slow)
    down = fast.ma_crossed_below(slow)
    times.append(time.process_time())
    portfolio = vbt.Portfolio.from_signals(
        close,
        up,
        down,
        short_entries=down,
        short_exits=up,
        fees=request["fee"],
        size=request["stake"],
        size_type="value",
        init_cash=request["wallet"],
        freq="1min",
    )
    times.append(time.process_time())
    portfolio.value()
    portfolio.max_drawdown()
    times.append(time.process_time())
    indicators, signals, simulation, equity = np.diff(times) * 1000
    return {
        "indicators": indicators,
        "signals": signals,
        "simulation": simulation,
        "equity": equity,
        "orders": len(portfolio.orders),
    }


OPERATIONS = {"version": lambda _: {}, "run": run}

for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps({**OPERATIONS[request["op"]](request), "version": vbt.__version__}), flush=True)
