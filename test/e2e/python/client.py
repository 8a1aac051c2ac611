"""Uses a platform with the Python client and prints what it read as JSON.

python client.py URL FOLDER
"""

import json
import sys
from pathlib import Path

import pandas
from touchstone_client import Touchstone

url, folder = sys.argv[1:]
ts = Touchstone(url, session="trend")
JANUARY = {"timeframe": "1h", "start": "2024-01-01", "end": pandas.Timestamp("2024-02-01", tz="UTC")}


def error_of(call):
    try:
        call()
    except Exception as error:
        return [type(error).__name__, error.code]
    return None


def columns(frame):
    """Columns by name, with times in Unix milliseconds."""
    assert str(frame.index.tz) == "UTC"
    plain = frame.reset_index()
    for name in plain.select_dtypes("datetimetz"):
        plain[name] = (plain[name] - pandas.Timestamp(0, tz="UTC")) // pandas.Timedelta(milliseconds=1)
    return {name: [None if pandas.isna(value) else value for value in plain[name].tolist()] for name in plain}


progress = []
run = ts.backtest("ema_crossover", fast=10, experiment_name="trend", **JANUARY)
assert run.wait(120, progress=lambda job: progress.append(job["status"])) is run
figure = run.plot()[0].figure
figure.savefig(Path(folder, "equity.png"))
chart = run.chart("BTC/USDT:USDT", candles=100)
run.annotate(notes="baseline", tags=["a"], pinned=True)
once = [ts.backtest("ema_crossover", idempotency_key="one", **JANUARY).id for _ in range(2)]

search = ts.hyperopt("ema_crossover", n_trials=4, models="none", collect="never", **JANUARY)
seen = [event.name for event in search.events()]
search.wait(120)
found = search.backtest(**JANUARY).wait(120)

model = ts.model("ema_crossover")
first, second, third = [each.register("registry.example/touchstone:1.0.0") for each in (run, found, run)]
first.stage(comment="first").promote()
second.stage().promote(expected_production=first.number)
back = model.rollback(first.number, "losses")
third.stage()

test = model.challenge(third.number, enable_canary=False, min_trades=100)
keys = [test.assign(f"key-{number}")["variant"] for number in range(40)]
trades = pandas.DataFrame(
    {
        "trade_id": [f"t-{number}" for number in range(240)],
        "variant": ["champion", "challenger"] * 120,
        "profit_pct": [float(number % 7 - 3) for number in range(240)],
        "pair": ["BTC/USDT:USDT", None] * 120,
    }
)
logged = test.log_trades(trades)
repeated = test.log_trade("t-0", -3.0, variant="champion", pair="BTC/USDT:USDT")

followed = ts.backtest("ema_crossover", **JANUARY)
for event in ts.events("backtest.*"):
    if event.name == "backtest.completed" and followed.id in event.data["subject"]:
        break

closes = ts.candles("BTC/USDT:USDT", "1h", start="2024-01-01", end="2024-02-01").close
fast, slow = closes.rolling(10).mean(), closes.rolling(30).mean()
crossed = pandas.DataFrame(
    {
        "enter_long": (fast > slow) & (fast.shift() <= slow.shift()),
        "exit_long": (fast < slow) & (fast.shift() >= slow.shift()),
    }
).assign(pair="BTC/USDT:USDT")
given = ts.backtest(signals=crossed, timeframe="1h", end="2024-02-01").wait(120)
crossed.rename_axis("timestamp").to_csv(Path(folder, "crossed.csv"))
by_file = ts.upload_signals(str(Path(folder, "crossed.csv")))
again = ts.backtest(signals=by_file, **JANUARY, pairs=["BTC/USDT:USDT"]).wait(120)
# Rows of a program that counts milliseconds.
counted = crossed.assign(timestamp=[int(time.timestamp() * 1000) for time in crossed.index])
in_ms = ts.backtest(signals=counted, timeframe="1h", end="2024-02-01").wait(120)

print(
    json.dumps(
        {
            "run": run.id,
            "given": [given.id, int(crossed.enter_long.sum()), again.metrics == given.metrics == in_ms.metrics],
            "found": found.id,
            "study": search.id,
            "challenge": test.id,
            "statuses": progress,
            "metrics": run.metrics,
            "equity": columns(run.equity),
            "curve": columns(run.curve("candle")),
            "trades": columns(run.trades),
            "chart": [repr(chart), chart._repr_html_()],
            "dtypes": {name: str(dtype) for name, dtype in run.trades.dtypes.items()},
            "report": run.report["metrics"],
            "files": [
                run.export(Path(folder, name)).stat().st_size for name in ("t.csv", "t.parquet", "t.json")
            ],
            "trial_record": run.trial_record,
            "labels": second.label(aliases=["spare"], tags=["b"]).refresh().detail,
            "by_alias": model.version("spare").number,
            "once": len(set(once)),
            "best": search.best._asdict(),
            "trials": search.trials["value"].dropna().tolist(),
            "events": seen,
            "params": found.config["params"],
            "versions": [each["version"] for each in model.versions()],
            "champion": model.champion.number,
            "history": [each["action"] for each in model.history()],
            "rolled_back": back["success"],
            "variants": sorted(set(keys)),
            "logged": [logged, len(test.trades), repeated["duplicate"]],
            "evaluation": test.evaluate(),
            "ended": test.rollback().status,
            "listed": [each["job_id"] for each in ts.backtests(limit=1)],
            "experiment": [each["job_id"] for each in ts.backtests(experiment_name="trend")],
            "candles": columns(ts.candles("BTC/USDT:USDT", "1h", start="2024-01-01", end="2024-01-03")),
            "errors": [
                error_of(lambda: ts.get_backtest("bt-none")),
                error_of(lambda: ts.backtest("ema_crossover", fsat=10)),
                error_of(lambda: ts.backtest("ema_crossover", config={"pairs": 3})),
                error_of(second.promote),
                error_of(lambda: ts.backtest("ema_crossover", exchange="none", collect="never").wait(120)),
            ],
        }
    )
)
