"""The platform as one object."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal

import httpx

from . import types
from .connection import Connection, Event
from .frames import SignalsSource, by_time, first_time, signals_file, signals_frame
from .jobs import Backtest, Hyperopt
from .operations import Backend, DataCollection, Strategy
from .registry import Challenge, Model
from .values import Moment, body_of, iso

if TYPE_CHECKING:
    import pandas as pd
    from typing_extensions import Self

Timeframe = Literal["1m", "5m", "15m", "1h", "4h", "1d"]
#: Candles in one call.
_CANDLES_PER_PAGE = 5000


class Touchstone:
    """A platform.

        ts = Touchstone("http://127.0.0.1:8000")
        run = ts.backtest("ema_crossover", fast=10).wait()

    Every operation of the services is a method of `backend`, `strategy` and `data_collection`. The methods of this class are
    comfort on top of them. Threads may share it.

    :param address: Address of the platform, or the address of each service by its name
    :param token: Access token, or a function that returns one; it is called again when the token has expired. Default: the
        environment variable TOUCHSTONE_TOKEN
    :param session: Session that the jobs belong to: its backtests and hyperopt trials on overlapping assets and dates count as trials
    :param attempts: Times that a call is sent at most
    :param timeout: Longest wait for a connection or a response, s
    :param longest_pause: Longest pause before a call is repeated, s: a longer `Retry-After` is an error at once
    """

    def __init__(
        self,
        address: str | Mapping[str, str] = "http://127.0.0.1:8000",
        *,
        token: str | Callable[[], str | None] | None = None,
        session: str | None = None,
        attempts: int = 3,
        timeout: float = 30.0,
        longest_pause: float = 60.0,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.connection = Connection(
            address,
            token=token if token is not None else os.environ.get("TOUCHSTONE_TOKEN"),
            attempts=attempts,
            timeout=timeout,
            longest_pause=longest_pause,
            transport=transport,
        )
        self.session = session
        self.backend = Backend(self.connection)
        self.strategy = Strategy(self.connection)
        self.data_collection = DataCollection(self.connection)

    def close(self) -> None:
        self.connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def backtest(
        self,
        strategy: str | None = None,
        *,
        signals: SignalsSource | None = None,
        start: Moment | None = None,
        end: Moment | None = None,
        pairs: Sequence[str] | None = None,
        timeframe: Timeframe | None = None,
        exchange: str | None = None,
        trading_mode: Literal["futures", "spot"] | None = None,
        collect: Literal["never", "if_stale", "always"] | None = None,
        stake_amount: float | Literal["unlimited"] | None = None,
        dry_run_wallet: float | None = None,
        max_open_trades: int | None = None,
        fee: float | None = None,
        slippage: float | None = None,
        leverage: float | None = None,
        stoploss: float | None = None,
        minimal_roi: Mapping[str, float] | None = None,
        timeframe_detail: Timeframe | None = None,
        fill_model: Literal["freqtrade", "conservative"] | None = None,
        precision: Literal["exchange", "none"] | None = None,
        seed: int | None = None,
        params: Mapping[str, Any] | None = None,
        config: types.BacktestConfig | Mapping[str, Any] | None = None,
        experiment_name: str | None = None,
        priority: int | None = None,
        model_version: str | int | None = None,
        hyperopt_job_id: str | None = None,
        idempotency_key: str | None = None,
        **parameters: Any,
    ) -> Backtest:
        """Starts a backtest. Any other keyword is a parameter of the strategy: `fast=10`.

        :param signals: Signals to trade in place of a strategy: a data frame, a path, or the ID of an uploaded file. Without
            `pairs` and `start` the run has those of the data frame
        :param start: First candle. A date or time without an offset is UTC
        :param end: Exclusive: the run uses only candles that open before it
        :param params: Parameters of the strategy whose names are settings here, such as `leverage`
        :param config: Further fields of `BacktestConfig`, such as `trailing` and `ml_engine`
        :param idempotency_key: Calls with the same key and settings start one job. Default: a new one for each call
        """
        if (strategy is None) == (signals is None):
            raise TypeError("Pass the name of a strategy, or signals, and not both")
        signals_id = None
        if signals is not None:
            strategy = "signals"
            if hasattr(signals, "to_csv"):
                frame: Any = signals_frame(signals)
                if len(frame) == 0:
                    raise ValueError("The data frame of signals has no rows")
                if pairs is None:
                    pairs = list(frame["pair"].unique())
                if start is None and not (config or {}).get("date_range"):
                    start = first_time(frame)
                signals = frame
            is_id = isinstance(signals, str) and signals.startswith("sg-")
            signals_id = signals if is_id else self.upload_signals(signals)
        settings = {
            "signals": signals_id,
            "pairs": None if pairs is None else list(pairs),
            "timeframe": timeframe,
            "exchange": exchange,
            "trading_mode": trading_mode,
            "collect": collect,
            "date_range": _date_range(start, end),
            "stake_amount": stake_amount,
            "dry_run_wallet": dry_run_wallet,
            "max_open_trades": max_open_trades,
            "fee": fee,
            "slippage": slippage,
            "leverage": leverage,
            "stoploss": stoploss,
            "minimal_roi": minimal_roi,
            "timeframe_detail": timeframe_detail,
            "fill_model": fill_model,
            "precision": precision,
            "seed": seed,
            "params": {**(params or {}), **parameters} or None,
        }
        body: Any = _given(
            config={"strategy": strategy, **(config or {}), **_given(**settings)},
            experiment_name=experiment_name,
            priority=priority,
            model_version=model_version,
            hyperopt_job_id=hyperopt_job_id,
        )
        submitted = self.backend.submit_backtest(body, idempotency_key=idempotency_key, session=self.session)
        return Backtest(self, submitted["job_id"])

    def upload_signals(self, signals: SignalsSource, *, name: str | None = None) -> str:
        """Uploads signals and returns their ID, for `backtest(signals=...)`. The same bytes have the same ID.

        :param signals: A data frame with the columns `timestamp` (or an index of times), `pair`, and any of `enter_long`,
            `exit_long`, `enter_short`, `exit_short`, `enter_tag`, `exit_tag` and `stake_ratio`; the path of a CSV or Parquet
            file; or its bytes
        """
        content, name = signals_file(signals, name)
        form = "parquet" if content[:4] == b"PAR1" else "csv"
        digest = sha256(content).hexdigest()
        body: Any = _given(format=form, bytes=len(content), sha256=digest, name=name)
        # One record for the same bytes, however often they are run.
        created = self.backend.create_signals(body, idempotency_key=f"{form}-{digest}")
        headers = created["upload_headers"]
        self.connection.upload("backend", created["upload_url"], headers, content)
        return created["signals_id"]

    def hyperopt(
        self,
        strategy: str,
        *,
        start: Moment | None = None,
        end: Moment | None = None,
        n_trials: int | None = None,
        idempotency_key: str | None = None,
        **settings: Any,
    ) -> Hyperopt:
        """Starts a hyperopt job. `settings` are fields of `HyperoptRequest`, such as `objective_metric` and `models`."""
        body = body_of(
            types.HyperoptRequest,
            {
                "strategy": strategy,
                **_given(n_trials=n_trials, date_range=_date_range(start, end)),
                **settings,
            },
        )
        started = self.strategy.start_hyperopt(body, idempotency_key=idempotency_key, session=self.session)
        return Hyperopt(self, started["job_id"])

    def get_backtest(self, job_id: str) -> Backtest:
        """A backtest by its ID."""
        return Backtest(self, job_id).refresh()

    def get_hyperopt(self, job_id: str) -> Hyperopt:
        """A hyperopt job by its ID."""
        return Hyperopt(self, job_id).refresh()

    def model(self, name: str) -> Model:
        return Model(self, name)

    def get_challenge(self, challenge_id: str) -> Challenge:
        """A challenge by its ID."""
        return Challenge(self, challenge_id).refresh()

    def strategies(self) -> list[types.StrategyConfiguration]:
        """Strategies with their parameters and defaults."""
        return self.backend.list_strategies()["items"]

    def models(self, **filters: Any) -> Iterator[types.CatalogStrategy]:
        """Versions in Staging and Production. `filters` are those of `backend.list_catalog`."""
        return self.items(self.backend.list_catalog, **filters)

    def backtests(self, **filters: Any) -> Iterator[types.BacktestJobSummary]:
        """Backtests, newest first. `filters` are those of `backend.list_backtests`."""
        return self.items(self.backend.list_backtests, **filters)

    def hyperopts(self, **filters: Any) -> Iterator[types.HyperoptSummary]:
        """Hyperopt jobs, newest first. `filters` are those of `strategy.list_hyperopts`."""
        return self.items(self.strategy.list_hyperopts, **filters)

    def challenges(self, **filters: Any) -> Iterator[types.Challenge]:
        """Challenges of all models. `filters` are those of `strategy.list_all_challenges`."""
        return self.items(self.strategy.list_all_challenges, **filters)

    def events(self, *types: str, after: str | None = None) -> Iterator[Event]:
        """Events as they happen: of unfinished jobs, and of the given types, such as `version.promoted` or `*`.

        :param after: ID of the last event that was handled: the stream continues after it
        """
        return self.backend.watch_jobs(types=",".join(types) or None, after=after)

    def candles(
        self,
        symbol: str,
        timeframe: Timeframe,
        *,
        start: Moment | None = None,
        end: Moment | None = None,
        exchange: str | None = None,
    ) -> pd.DataFrame:
        """Stored candles by their open time. Without `start` the newest ones before `end`, at most 5,000.

        :param symbol: `BTC/USDT:USDT`, or a spot pair such as `ETH/BTC`
        """
        is_spot = "/" in symbol and ":" not in symbol
        columns: dict[str, list[float]] = {name: [] for name in ("open", "high", "low", "close", "volume")}
        times: list[int] = []
        begin = iso(start)
        while True:
            page = self.data_collection.get_candles(
                symbol=symbol,
                trading_mode="spot" if is_spot else None,
                timeframe=timeframe,
                limit=_CANDLES_PER_PAGE,
                exchange=exchange,
                from_=begin,
                to=iso(end),
            )
            times += page["times"]
            for name, values in columns.items():
                values += page[name]  # type: ignore[literal-required]
            begin = page["next_from"]
            if begin is None:
                return by_time(columns, times)

    def pages(self, operation: Callable[..., Any], *path: str, **query: Any) -> Iterator[Any]:
        """Pages of a list: `ts.pages(ts.backend.list_backtests, status="completed")`."""
        while True:
            page = operation(*path, **query)
            yield page
            if page.get("next_cursor"):
                query["cursor"] = page["next_cursor"]
            elif page.get("page", 0) < page.get("pages", 0):
                # Trades have pages by number.
                query["page"] = page["page"] + 1
            else:
                return

    def items(self, operation: Callable[..., Any], *path: str, **query: Any) -> Iterator[Any]:
        """Items of all pages of a list. A page may have fewer items than `limit` while more follow."""
        for page in self.pages(operation, *path, **query):
            yield from page["items"]


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _date_range(start: Moment | None, end: Moment | None) -> dict[str, Any] | None:
    return _given(start=iso(start), end=iso(end)) or None
