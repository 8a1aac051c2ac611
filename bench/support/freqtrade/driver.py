"""Runs `freqtrade backtesting` without a network: the markets, which freqtrade reads from the exchange, are given.

    driver.py data <folder> <candles.f64> <pair> <timeframe>   writes candles as freqtrade's download does
    driver.py run <markets as JSON: see offline_markets.py> <arguments of freqtrade...>
    driver.py result <folder of results>                       prints the trades as JSON

`run` prints one JSON line at the end on descriptor 3: processor time of the process and its children, ms, and version of freqtrade.
The candles are six columns of float64: time in ms, open, high, low, close, volume.
"""

import atexit
import json
import os
import resource
import sys
from pathlib import Path


def usage():
    times = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return 1000 * sum(each.ru_utime + each.ru_stime for each in times)


def store(folder, file, pair, timeframe):
    import numpy as np
    import pandas as pd
    from freqtrade.data.history import get_datahandler
    from freqtrade.enums import CandleType

    columns = np.fromfile(file).reshape(6, -1)
    frame = pd.DataFrame(dict(zip(["open", "high", "low", "close", "volume"], columns[1:], strict=True)))
    frame.insert(0, "date", pd.to_datetime(columns[0].astype("int64"), unit="ms", utc=True))
    Path(folder).mkdir(parents=True, exist_ok=True)
    get_datahandler(Path(folder), "feather").ohlcv_store(pair, timeframe, frame, CandleType.SPOT)


def run(markets, arguments):
    import freqtrade
    from freqtrade.main import main
    from offline_markets import set_markets

    set_markets(markets)
    report = {"version": freqtrade.__version__}
    atexit.register(lambda: os.write(3, json.dumps({**report, "cpuMs": usage()}).encode()))
    main(arguments)


def result(folder):
    from zipfile import ZipFile

    [path] = Path(folder).glob("*.zip")
    with ZipFile(path) as file:
        [strategy] = json.loads(file.read(f"{path.stem}.json"))["strategy"].values()
    print(json.dumps(strategy["trades"]))


command, *arguments = sys.argv[1:]
if command == "run":
    run(json.loads(arguments[0]), arguments[1:])
else:
    {"data": store, "result": result}[command](*arguments)
