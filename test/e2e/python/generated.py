"""Runs a backtest, a hyperopt job and a challenge with the packages that openapi-python-client wrote. Prints what it read as JSON.

python generated.py BACKEND_URL STRATEGY_URL DATA_COLLECTION_URL TOKEN
"""

import json
import sys
import time
from typing import TypeVar

from touchstone_backend import AuthenticatedClient as Backend
from touchstone_backend import models as b
from touchstone_backend.api.backtests import (
    get_backtest,
    get_backtest_equity,
    list_backtest_trades,
    submit_backtest,
)
from touchstone_backend.api.registry import (
    list_versions,
    promote_version,
    stage_version,
)
from touchstone_backend.models import (
    BacktestRequest,
    BacktestResult,
    PromoteRequest,
    StageRequest,
)
from touchstone_data_collection import AuthenticatedClient as DataCollection
from touchstone_data_collection import models as d
from touchstone_data_collection.api.market_data import get_candles
from touchstone_strategy import AuthenticatedClient as Strategy
from touchstone_strategy import models as s
from touchstone_strategy.api.challenges import (
    assign_key,
    create_challenge,
    evaluate_challenge,
    log_trades,
    roll_back_challenge,
)
from touchstone_strategy.api.hyperopt import (
    get_hyperopt,
    get_hyperopt_result,
    start_hyperopt,
)
from touchstone_strategy.api.registry import register_strategy
from touchstone_strategy.models import (
    AssignmentRequest,
    ChallengeRequest,
    ChallengeRollbackRequest,
    ChallengeTradesRequest,
    HyperoptRequest,
    RegisterRequest,
)

T = TypeVar("T")
JANUARY = {"start": "2024-01-01T00:00:00Z", "end": "2024-02-01T00:00:00Z"}

token = sys.argv[4]
backend = Backend(base_url=sys.argv[1], token=token)
strategy = Strategy(base_url=sys.argv[2], token=token)
data_collection = DataCollection(base_url=sys.argv[3], token=token)


def ok(of: type[T], response: object) -> T:
    """The response if it is of the type: otherwise it is an error."""
    if not isinstance(response, of):
        raise TypeError(f"{type(response).__name__} instead of {of.__name__}: {response}")
    return response


def main() -> None:
    def backtest(fast: int) -> tuple[str, BacktestResult]:
        request = BacktestRequest.from_dict(
            {
                "config": {
                    "strategy": "ema_crossover",
                    "timeframe": "1h",
                    "date_range": JANUARY,
                    "params": {"fast": fast},
                }
            }
        )
        job_id = ok(b.BacktestSubmission, submit_backtest.sync(client=backend, body=request)).job_id
        while True:
            job = ok(b.BacktestJob, get_backtest.sync(job_id, client=backend))
            if job.status.value not in ("pending", "running"):
                return job_id, ok(BacktestResult, job.result)
            time.sleep(0.1)

    runs = [backtest(fast) for fast in (10, 20)]
    run, result = runs[0]
    equity = ok(b.EquityData, get_backtest_equity.sync(run, client=backend))
    trades = ok(b.BacktestTradesType0, list_backtest_trades.sync(run, client=backend))

    request = HyperoptRequest.from_dict(
        {
            "strategy": "ema_crossover",
            "models": "none",
            "timeframe": "1h",
            "n_trials": 3,
            "date_range": JANUARY,
        }
    )
    search = ok(s.HyperoptStart, start_hyperopt.sync(client=strategy, body=request)).job_id
    while ok(s.HyperoptJob, get_hyperopt.sync(search, client=strategy)).status.value in (
        "pending",
        "running",
    ):
        time.sleep(0.1)
    best = ok(s.HyperoptResult, get_hyperopt_result.sync(search, client=strategy))

    for job_id, _ in runs:
        body = RegisterRequest(
            backtest_run_id=job_id, container_image_uri="registry.example/touchstone:1.0.0"
        )
        version = ok(
            s.RegisterReply, register_strategy.sync("ema_crossover", client=strategy, body=body)
        ).version
        stage = StageRequest.from_dict({"version": version})
        ok(b.StageReply, stage_version.sync("ema_crossover", client=backend, body=stage))
        if version == "1":
            promote = PromoteRequest.from_dict({"version": version})
            ok(b.PromoteReply, promote_version.sync("ema_crossover", client=backend, body=promote))
    versions = ok(b.ModelVersionList, list_versions.sync("ema_crossover", client=backend))

    champion = ChallengeRequest(champion_version="champion", challenger_version=2, enable_canary=False)
    challenge = ok(
        s.Challenge, create_challenge.sync("ema_crossover", client=strategy, body=champion)
    ).challenge_id
    assignment = ok(
        s.Assignment,
        assign_key.sync(challenge, client=strategy, body=AssignmentRequest(assignment_key="k-1")),
    )
    assert assignment.variant is not None, "a challenge that routes assigns one of its versions"
    trade = {"trade_id": "t-1", "variant": assignment.variant.value, "profit_pct": 0.4}
    logged = ok(
        s.LoggedTrade,
        log_trades.sync(challenge, client=strategy, body=ChallengeTradesRequest.from_dict(trade)),
    )
    more = ChallengeTradesRequest.from_dict({"trades": [{**trade, "trade_id": "t-2"}]})
    several = ok(s.LoggedTrades, log_trades.sync(challenge, client=strategy, body=more))
    evaluation = ok(s.ChallengeEvaluation, evaluate_challenge.sync(challenge, client=strategy))
    ended = ok(
        s.Challenge, roll_back_challenge.sync(challenge, client=strategy, body=ChallengeRollbackRequest())
    )
    candles = ok(
        d.CandleColumns,
        get_candles.sync(client=data_collection, symbol="BTC/USDT:USDT", timeframe="1h", limit=10),
    )
    missing = ok(b.ErrorBody, get_backtest.sync("bt-none", client=backend))
    print(
        json.dumps(
            {
                "run": run,
                "result": result.to_dict(),
                "equity": equity.to_dict(),
                "trades": [trade.to_dict() for trade in trades.items],
                "search": search,
                "best": best.to_dict(),
                "versions": [[each.version, each.stage.value] for each in versions.versions],
                "challenge": challenge,
                "logged": [logged.accepted, several.to_dict()],
                "recommendation": evaluation.recommendation.value,
                "ended": ended.status.value,
                "candles": len(candles.close),
                "error": missing.detail.code,
            }
        )
    )


main()
