"""A method for each operation of the services. `Touchstone` has comfort on top of them."""
# Written by `npm run openapi` from the OpenAPI documents: do not edit.
# ruff: noqa

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from . import types
from .connection import Connection, Event


class Backend:
    """Touchstone backend. Central gateway: backtests, strategy configurations and market data."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    _service = "backend"

    def get_health(self) -> types.Health:
        """Health of the service and of what it depends on."""
        return self._connection.json(self._service, "GET", "/api/v1/health")

    def get_overview(self) -> types.Overview:
        """What runs, what ended, and the state of models, challenges and data.

        Contains only what the caller may see. A part that fails or takes longer than 4 s is named in `missing`; the others are complete. The health of dependencies is that of `GET /api/v1/health`.
        """
        return self._connection.json(self._service, "GET", "/api/v1/overview")

    def list_strategies(self) -> types.StrategyConfigurationList:
        """All strategy configurations."""
        return self._connection.json(self._service, "GET", "/api/v1/strategies")

    def get_strategy(self, name: str) -> types.StrategyConfiguration:
        """A strategy configuration.

        :param name: Name of the configuration
        """
        return self._connection.json(self._service, "GET", "/api/v1/strategies/{name}", path_values={"name": name})

    def list_symbols(self, *, exchange: str | None = None) -> types.Symbols:
        """Symbols with stored candles.

        :param exchange: Exchange key. Default: the configured exchange
        """
        return self._connection.json(self._service, "GET", "/api/v1/data/symbols", query={"exchange": exchange})

    def check_freshness(self, *, symbols: list[str], stale_threshold_hours: int | None = None, timeframe: str | None = None, exchange: str | None = None, trading_mode: Literal["futures", "spot"] | None = None) -> types.Freshness:
        """Freshness of the stored candles.

        A symbol is fresh when its last closed candle is not older than the threshold. A symbol without stored candles is stale.

        :param stale_threshold_hours: Age from which a symbol is stale, hours
        :param timeframe: One or more, comma separated: each must be fresh. Default: the newest stored series of each symbol
        :param exchange: Exchange key. Default: the configured exchange
        :param trading_mode: `spot`: symbols are `BASE/QUOTE`. `futures`: `BASE/QUOTE:SETTLE`
        :param symbols: `BASE/QUOTE:SETTLE`, repeated or separated by commas; `BASE/QUOTE` with trading_mode `spot`. With commas and unescaped `/` and `:`, 500 symbols fit the 10 KB limit of the gateway
        """
        return self._connection.json(self._service, "GET", "/api/v1/data/freshness", query={"symbols": symbols, "stale_threshold_hours": stale_threshold_hours, "timeframe": timeframe, "exchange": exchange, "trading_mode": trading_mode})

    def call_data_proxy(self, body: types.ProxyRequest) -> types.ProxyAnswer:
        """Call the data-collection proxy.

        One of the five operations with its parameters. A failure of data collection is a safe result with `error` and status 200, unless `safe` is false. Stages that enforce authentication take requests signed for IAM (`execute-api:Invoke`) here, not tokens.
        """
        return self._connection.json(self._service, "POST", "/api/v1/data-proxy", body=body)

    def get_me(self) -> types.Me:
        """The caller and what its roles allow.

        Where authentication is not enforced, a call without a token is the user `anonymous` with every role.
        """
        return self._connection.json(self._service, "GET", "/api/v1/me")

    def transfer_ownership(self, body: types.TransferRequest, *, idempotency_key: str | None = None) -> types.Sharing:
        """Make another user the owner of a resource.

        The challenges of a model go with it. The owner before keeps no access unless it is granted afterwards. A job must have ended.
        """
        return self._connection.json(self._service, "POST", "/api/v1/ownership", body=body, key=idempotency_key, keyed=True)

    def list_audit(self, *, day: str | None = None, from_: str | None = None, to: str | None = None, principal: str | None = None, operation: str | None = None, resource: str | None = None, outcome: Literal["succeeded", "refused", "failed", "unknown"] | None = None, routine: bool | None = None, limit: int | None = None, cursor: str | None = None) -> types.AuditEntryList:
        """Audit trail: every call that can change state, newest first.

        A page reads up to 2,000 entries. With selective filters it may be short or empty while `next_cursor` is not null.

        :param day: A day, UTC, such as 2026-11-21: instead of `from` and `to`
        :param from_: ISO 8601, inclusive. Default: 7 days before `to`
        :param to: ISO 8601, exclusive, at most 31 days after `from`. Default: now
        :param principal: Only calls of this principal
        :param operation: Only calls of this operation ID
        :param resource: Only calls about the resource with this ID, such as bt-…. For the name of a model also those about its versions and challenges, and what the platform did with them itself
        :param outcome: Only calls with this outcome
        :param routine: `false`: without the calls of programs that come all the time: assignKey, logTrades, previewImport. With `operation` it does nothing
        :param limit: Maximum number of items on a page
        :param cursor: `next_cursor` of the previous page, with the same filters
        """
        return self._connection.json(self._service, "GET", "/api/v1/audit", query={"day": day, "from": from_, "to": to, "principal": principal, "operation": operation, "resource": resource, "outcome": outcome, "routine": routine, "limit": limit, "cursor": cursor})

    def get_docs(self) -> str:
        """Interactive documentation."""
        return self._connection.text(self._service, "GET", "/docs")

    def get_docs_asset(self, asset: str) -> bytes:
        """A script or style sheet of the documentation page.

        :param asset: A file that the documentation page links
        """
        return self._connection.file(self._service, "GET", "/docs/{asset}", path_values={"asset": asset})

    def get_open_api(self) -> types.OpenApiDocument:
        """This document."""
        return self._connection.json(self._service, "GET", "/openapi.json")

    def watch_jobs(self, *, types: str | None = None, after: str | None = None) -> Iterator[Event]:
        """Follow the jobs of all kinds that the caller may see.

        Server-sent events. The stream begins with a `job` event for each unfinished job and continues with one for each change of status or progress, and for each new job. A client that reconnects with `Last-Event-ID` gets the jobs that have ended in between; an event may be repeated. A stream follows up to 100 unfinished jobs, the oldest ones; further ones when these have ended. `reconnect` ends a connection: after 14 minutes, and when no job has been unfinished for a minute. The next connection then gets 204. A comment is sent every 15 s. With `types` the stream also has the events of the catalogue, named by their type, within five seconds of the change. Each is sent at least once: `id` is the same for every delivery. `Last-Event-ID` continues up to 24 hours back.

        :param types: Types of events to send in addition to jobs, comma separated: `version.promoted`, `version.*` for all of a kind, `*` for all. Such a stream does not end when no job is unfinished. Default: jobs only
        :param after: ID of the last received event; `Last-Event-ID` takes precedence. Default: the stream begins with the unfinished jobs
        """
        return self._connection.stream(self._service, "GET", "/api/v1/events", query={"types": types, "after": after})

    def submit_backtest(self, body: types.BacktestRequest, *, idempotency_key: str | None = None, session: str | None = None) -> types.BacktestSubmission:
        """Submit a backtest.

        Only `config.strategy` is required. With an `Idempotency-Key` header a repeated request returns the job of the first one.
        """
        return self._connection.json(self._service, "POST", "/api/v1/backtests", body=body, key=idempotency_key, keyed=True, session=session)

    def list_backtests(self, *, limit: int | None = None, cursor: str | None = None, status: Literal["pending", "running", "completed", "failed", "cancelled"] | None = None, experiment_name: str | None = None, strategy: str | None = None, q: str | None = None, session: str | None = None, owner: str | None = None, exchange: str | None = None, tag: str | None = None, look_ahead: Literal["certified", "sampled", "not_checked", "found"] | None = None, params: dict[str, str | float | bool] | None = None, sort: Literal["created_at", "strategy", "owner", "exchange", "session", "look_ahead", "deflated_sharpe_ratio", "total_trades", "winning_trades", "losing_trades", "total_profit", "total_profit_pct", "sharpe_ratio", "profit_factor", "win_rate", "max_drawdown_pct", "draws", "final_balance", "sortino_ratio", "calmar_ratio", "cagr_pct", "expectancy", "sqn", "exposure_pct", "market_change_pct", "fees", "funding", "backtest_days"] | str | None = None, sort_order: Literal["asc", "desc"] | None = None, count: bool | None = None, pinned: bool | None = None) -> types.BacktestJobList:
        """List backtests, newest first.

        :param limit: Maximum number of items on a page
        :param cursor: `next_cursor` of the previous page, with the same filters
        :param status: Only jobs in this status
        :param experiment_name: Only jobs of this experiment
        :param strategy: Only jobs of this strategy
        :param q: Only jobs with each of these words in ID, strategy, experiment, exchange, pairs, notes or tags, in either case. Covers the newest 2,000 jobs that pass the other filters, see `searched`
        :param session: Only of this session; see `searched`
        :param owner: Only of this user
        :param exchange: Only on this exchange
        :param tag: Only with this tag
        :param look_ahead: Only in this state
        :param params: Only with these values of parameters by name, such as `params.fast=10`
        :param sort: Order of the list; jobs without the value come last, and by a metric those with a found look-ahead bias after them. Covers the newest 2,000 jobs that pass the other filters, see `searched`. Default: newest first, all jobs
        :param sort_order: Order of `sort`
        :param count: Also count the jobs that pass the filters, see `count` of the response
        :param pinned: Only jobs that are pinned, or that are not. Covers the same jobs as `q`
        """
        return self._connection.json(self._service, "GET", "/api/v1/backtests", query={"limit": limit, "cursor": cursor, "status": status, "experiment_name": experiment_name, "strategy": strategy, "q": q, "session": session, "owner": owner, "exchange": exchange, "tag": tag, "look_ahead": look_ahead, "params": params, "sort": sort, "sort_order": sort_order, "count": count, "pinned": pinned})

    def get_backtest(self, job_id: str) -> types.BacktestJob:
        """A backtest: its status and, when completed, its result.

        For the owner of the backtest, whom it is shared with, and admins. Also for readers of a model with a version of it.

        :param job_id: Shape `bt-<id>`
        """
        return self._connection.json(self._service, "GET", "/api/v1/backtests/{job_id}", path_values={"job_id": job_id})

    def update_backtest(self, job_id: str, body: types.AnnotationRequest | None = None) -> types.BacktestJob:
        """Change notes, tags and pin of a backtest.

        Possible in every status. `updated_at` stays: it is the time of the run. For the owner of the backtest, whom it is shared with at `write`, and admins.

        :param job_id: Shape `bt-<id>`
        """
        return self._connection.json(self._service, "PATCH", "/api/v1/backtests/{job_id}", path_values={"job_id": job_id}, body=body)

    def delete_backtest(self, job_id: str) -> None:
        """Delete a backtest with its results.

        Of its owner and of admins, also if it is kept or shared. RES005 while it is pending or running, and while a version is registered from it. Reads then return 410 RES006 for 30 days. The results are removed within the hour. For the owner of the backtest, and admins.

        :param job_id: Shape `bt-<id>`
        """
        return self._connection.empty(self._service, "DELETE", "/api/v1/backtests/{job_id}", path_values={"job_id": job_id})

    def keep_backtest(self, job_id: str, body: types.KeepRequest | None = None, *, idempotency_key: str | None = None) -> types.BacktestJob:
        """Keep a backtest, or let it expire again.

        The platform may delete a job, or its results, when it is older than the retention of the stage. A kept job, a shared one and the evidence of a registered version are never deleted. For the owner of the backtest, whom it is shared with at `write`, and admins.

        :param job_id: Shape `bt-<id>`
        """
        return self._connection.json(self._service, "POST", "/api/v1/backtests/{job_id}/keep", path_values={"job_id": job_id}, body=body, key=idempotency_key, keyed=True)

    def cancel_backtest(self, job_id: str) -> types.BacktestJob:
        """Cancel a pending or running backtest.

        For the owner of the backtest, whom it is shared with at `write`, and admins.

        :param job_id: Shape `bt-<id>`
        """
        return self._connection.json(self._service, "POST", "/api/v1/backtests/{job_id}/cancel", path_values={"job_id": job_id})

    def get_backtest_equity(self, job_id: str) -> types.EquityData:
        """Daily equity, drawdown and monthly returns of a completed backtest.

        For the owner of the backtest, whom it is shared with, and admins. Also for readers of a model with a version of it.

        :param job_id: Shape `bt-<id>`
        """
        return self._connection.json(self._service, "GET", "/api/v1/backtests/{job_id}/equity", path_values={"job_id": job_id})

    def get_backtest_report(self, job_id: str, *, page: int | None = None, trades: bool | None = None) -> types.BacktestReportData:
        """The full analysis of a completed backtest.

        For the owner of the backtest, whom it is shared with, and admins. Also for readers of a model with a version of it.

        :param job_id: Shape `bt-<id>`
        :param page: Page of the trades, 1,000 each
        :param trades: `false`: the report without trades, so `trades.items` is empty
        """
        return self._connection.json(self._service, "GET", "/api/v1/backtests/{job_id}/report-data", path_values={"job_id": job_id}, query={"page": page, "trades": trades})

    def list_backtest_trades(self, job_id: str, *, page: int | None = None, limit: int | None = None, sort: Literal["id", "-id", "pair", "-pair", "side", "-side", "opened_at", "-opened_at", "closed_at", "-closed_at", "duration_minutes", "-duration_minutes", "entry_price", "-entry_price", "exit_price", "-exit_price", "amount", "-amount", "stake", "-stake", "leverage", "-leverage", "enter_tag", "-enter_tag", "exit_reason", "-exit_reason", "fees", "-fees", "slippage_cost", "-slippage_cost", "funding", "-funding", "profit", "-profit", "profit_pct", "-profit_pct"] | None = None, pair: list[str] | None = None, side: Literal["long", "short"] | None = None, exit_reason: str | None = None, enter_tag: str | None = None, group: str | None = None, from_: str | None = None, to: str | None = None, time: Literal["closed_at", "opened_at", "held"] | None = None, format: Literal["items", "columns"] | None = None) -> types.BacktestTrades:
        """Trades of a completed backtest, filtered and sorted.

        The `id` of a trade is its number in the order of closing. It is the same with every filter, so it can be linked to. For the owner of the backtest, whom it is shared with, and admins. Also for readers of a model with a version of it.

        :param job_id: Shape `bt-<id>`
        :param page: Page, from 1
        :param limit: Trades on a page
        :param sort: Field to sort by; with `-` the largest value first. Equal values are in the order of `id`, trades without a value are last
        :param pair: Only trades of these pairs
        :param side: Only trades of this side
        :param exit_reason: Only trades with exactly this exit reason
        :param enter_tag: Only trades with exactly this enter tag; `(none)`: trades without one
        :param group: Only trades of this group: the enter tag up to its first colon
        :param from_: ISO 8601, inclusive: earliest `time`; without an offset it is UTC
        :param to: ISO 8601, exclusive: latest `time`; without an offset it is UTC
        :param time: Time of a trade that `from` and `to` bound: its exit, as in the periods of the report; its entry; or `held`: any time from entry to exit
        :param format: `items`: an object for each trade. `columns`: an array for each field, less than half the size
        """
        return self._connection.json(self._service, "GET", "/api/v1/backtests/{job_id}/trades", path_values={"job_id": job_id}, query={"page": page, "limit": limit, "sort": sort, "pair": pair, "side": side, "exit_reason": exit_reason, "enter_tag": enter_tag, "group": group, "from": from_, "to": to, "time": time, "format": format})

    def list_backtest_positions(self, job_id: str, *, page: int | None = None, limit: int | None = None, group: str | None = None) -> types.BacktestPositions:
        """Positions of a completed backtest: trades of a group that overlap in time.

        The group of a trade is its enter tag up to the first colon, such as `spread-1` of `spread-1:long`. Trades without a colon are in no position. For the owner of the backtest, whom it is shared with, and admins. Also for readers of a model with a version of it.

        :param job_id: Shape `bt-<id>`
        :param page: Page, from 1
        :param limit: Positions on a page
        :param group: Only positions of this group
        """
        return self._connection.json(self._service, "GET", "/api/v1/backtests/{job_id}/positions", path_values={"job_id": job_id}, query={"page": page, "limit": limit, "group": group})

    def get_backtest_curve(self, job_id: str, *, resolution: Literal["day", "candle"] | None = None, from_: str | None = None, to: str | None = None, points: int | None = None) -> types.BacktestCurve:
        """Equity, drawdown and market of a completed backtest, by day or candle, for charts.

        Returns at most `points` points and keeps the smallest and largest values of what it leaves out. For the owner of the backtest, whom it is shared with, and admins. Also for readers of a model with a version of it.

        :param job_id: Shape `bt-<id>`
        :param resolution: `day`: the end of each UTC day, as in `/equity`. `candle`: the close of each candle of the timeframe
        :param from_: ISO 8601, inclusive; without an offset it is UTC. Default: the start
        :param to: ISO 8601, exclusive; without an offset it is UTC. Default: the end
        :param points: Maximum number of points
        """
        return self._connection.json(self._service, "GET", "/api/v1/backtests/{job_id}/curve", path_values={"job_id": job_id}, query={"resolution": resolution, "from": from_, "to": to, "points": points})

    def get_backtest_columns(self, job_id: str, *, pair: str | None = None, from_: str | None = None, to: str | None = None, names: list[str] | None = None, limit: int | None = None, cursor: str | None = None, format: Literal["json", "parquet"] | None = None) -> types.BacktestColumns | types.ExportLink | types.ColumnsStatus:
        """Candles, indicators and signals of a completed backtest.

        A task computes them at the first call, from the inputs of the backtest: 202 until it has ended. They are kept for an hour. Names are those of the candles and of `indicators`, `4h:rsi` of informative series, `signal:enter_long` of signals, and `ml_probability` and `do_predict`; an indicator with the name of another column begins with `columns:`. For the owner of the backtest, whom it is shared with, and admins.

        :param job_id: Shape `bt-<id>`
        :param pair: Pair of the run; required where the run has several
        :param from_: ISO 8601, inclusive; without an offset it is UTC. Default: the first candle of the run
        :param to: ISO 8601, exclusive; without an offset it is UTC. Default: the end
        :param names: Names of columns. Default: all
        :param limit: Rows of a page. A page with many columns has fewer: it has at most 200,000 values
        :param cursor: `next_cursor` of the previous page, with the same filters
        :param format: `json`: a page. `parquet`: all rows as a file, which is offered at an address
        """
        return self._connection.json(self._service, "GET", "/api/v1/backtests/{job_id}/columns", path_values={"job_id": job_id}, query={"pair": pair, "from": from_, "to": to, "names": names, "limit": limit, "cursor": cursor, "format": format})

    def explain_trade(self, job_id: str, trade_id: str) -> types.TradeWhy | types.ColumnsStatus:
        """Why a trade of a completed backtest was entered and closed: the rules, with the values that decided.

        Computed with the columns of the backtest, by the same task: 202 until it has ended. 409 RES005 if the trade is another one on the present candles. For the owner of the backtest, whom it is shared with, and admins.

        :param job_id: Shape `bt-<id>`
        :param trade_id: `id` of the trade
        """
        return self._connection.json(self._service, "GET", "/api/v1/backtests/{job_id}/trades/{trade_id}/why", path_values={"job_id": job_id, "trade_id": trade_id})

    def get_trade_path(self, job_id: str, trade_id: str, *, limit: int | None = None, cursor: str | None = None) -> types.TradePath | types.ColumnsStatus:
        """Stop, trailing stop, target and liquidation price of a trade in each of its candles.

        Computed with the columns of the backtest, by the same task: 202 until it has ended. For the owner of the backtest, whom it is shared with, and admins.

        :param job_id: Shape `bt-<id>`
        :param trade_id: `id` of the trade
        :param limit: Candles of a page
        :param cursor: `next_cursor` of the previous page
        """
        return self._connection.json(self._service, "GET", "/api/v1/backtests/{job_id}/trades/{trade_id}/path", path_values={"job_id": job_id, "trade_id": trade_id}, query={"limit": limit, "cursor": cursor})

    def export_backtest(self, job_id: str, *, format: Literal["csv", "parquet", "orders", "json", "html"] | None = None) -> bytes:
        """A completed backtest as a file.

        A file of up to 5 MB is in the response, with its name in `Content-Disposition`. A larger one, and any `parquet`, is offered at an address for some minutes. Text of a strategy that begins like a formula begins with an apostrophe in `csv`. For the owner of the backtest, whom it is shared with, and admins. Also for readers of a model with a version of it.

        :param job_id: Shape `bt-<id>`
        :param format: `csv`, `parquet`: the trades. `orders`: the orders of trades with additions or partial exits, as CSV. `json`: the whole report with daily equity and all trades as columns. `html`: the report as one page that opens without a network, with the candles around its fifty largest trades
        """
        return self._connection.file(self._service, "GET", "/api/v1/backtests/{job_id}/export", path_values={"job_id": job_id}, query={"format": format})

    def get_backtest_sharing(self, job_id: str) -> types.Sharing:
        """Whose a backtest is, and with whom it is shared.

        For the owner of the backtest, whom it is shared with, and admins.

        :param job_id: Shape `bt-<id>`
        """
        return self._connection.json(self._service, "GET", "/api/v1/backtests/{job_id}/sharing", path_values={"job_id": job_id})

    def share_backtest(self, job_id: str, body: types.SharingRequest) -> types.Sharing:
        """Share a backtest, or stop sharing it.

        For the owner and admins. Replaces the whole list: principals that are not in it lose access immediately. A grant does not replace a role: a caller needs both. For the owner of the backtest, and admins.

        :param job_id: Shape `bt-<id>`
        """
        return self._connection.json(self._service, "PUT", "/api/v1/backtests/{job_id}/sharing", path_values={"job_id": job_id}, body=body)

    def list_experiments(self, *, limit: int | None = None, cursor: str | None = None, owner: str | None = None) -> types.ExperimentList:
        """Experiments of the caller, the one with the newest job first.

        An experiment is what the jobs of one owner with the same `experiment_name` have in common. Jobs of others that are shared with the caller do not count, nor do jobs that were submitted before this operation existed.

        :param limit: Maximum number of items on a page
        :param cursor: `next_cursor` of the previous page, with the same filters
        :param owner: User whose experiments are listed; others than the caller for admins only. Default: the caller
        """
        return self._connection.json(self._service, "GET", "/api/v1/experiments", query={"limit": limit, "cursor": cursor, "owner": owner})

    def stage_version(self, name: str, body: types.StageRequest, *, idempotency_key: str | None = None) -> types.StageReply:
        """Stage a version: from None to Staging.

        Runs the check list and the release policy first; a failed check is RES005 with all of them in `context.checks`. A version already in Staging is unchanged. For the owner of the model, whom it is shared with at `write`, and admins. `skip_validation` is for admins. `waive` is for admins.

        :param name: Name of the strategy: a model is named as its strategy
        """
        return self._connection.json(self._service, "POST", "/api/v1/strategies/{name}/stage", path_values={"name": name}, body=body, key=idempotency_key, keyed=True)

    def promote_version(self, name: str, body: types.PromoteRequest, *, idempotency_key: str | None = None) -> types.PromoteReply:
        """Promote a version: from Staging to Production.

        The version in Production becomes Archived in the same transaction. A version that fails the release policy is RES005 with all checks in `context.checks`. A version already in Production is unchanged. For the owner of the model, whom it is shared with at `write`, and admins. `force` is for admins. `waive` is for admins.

        :param name: Name of the strategy: a model is named as its strategy
        """
        return self._connection.json(self._service, "POST", "/api/v1/strategies/{name}/promote", path_values={"name": name}, body=body, key=idempotency_key, keyed=True)

    def rollback_model(self, model_name: str, body: types.RollbackRequest | None = None, *, idempotency_key: str | None = None) -> types.RollbackReply:
        """Roll back to a version: from Archived to Production.

        The version in Production becomes Archived in the same transaction and is marked as rolled back. A version already in Production is unchanged. Without `version` it returns to the one before: `expected_production` is then required, so that a repeat is rejected instead of rolling back again. For the owner of the model, whom it is shared with at `write`, and admins.

        :param model_name: Name of the strategy: a model is named as its strategy
        """
        return self._connection.json(self._service, "POST", "/api/v1/models/{model_name}/rollback", path_values={"model_name": model_name}, body=body, key=idempotency_key, keyed=True)

    def stop_model(self, model_name: str, body: types.StopRequest | None = None, *, idempotency_key: str | None = None) -> types.StopReply:
        """Stop a model: from Production to Archived, without a successor.

        No version is in Production until one is promoted or rolled back to: routes name no version, and their `should_close` is true. A running challenge ends. A repeat that names the stopped version as `expected_production` changes nothing. For the owner of the model, whom it is shared with at `write`, and admins.

        :param model_name: Name of the strategy: a model is named as its strategy
        """
        return self._connection.json(self._service, "POST", "/api/v1/models/{model_name}/stop", path_values={"model_name": model_name}, body=body, key=idempotency_key, keyed=True)

    def list_versions(self, model_name: str, *, include_archived: bool | None = None, limit: int | None = None, cursor: str | None = None) -> types.ModelVersionList:
        """Versions of a model, newest number first.

        For the owner of the model, whom it is shared with, and admins.

        :param model_name: Name of the strategy: a model is named as its strategy
        :param include_archived: Archived versions too
        :param limit: Maximum number of versions on a page; a page is at most 5 MB
        :param cursor: `next_cursor` of the previous page, with the same filters
        """
        return self._connection.json(self._service, "GET", "/api/v1/models/{model_name}/versions", path_values={"model_name": model_name}, query={"include_archived": include_archived, "limit": limit, "cursor": cursor})

    def get_version(self, model_name: str, version: str) -> types.ModelVersionDetail:
        """A version with its configuration and validation.

        For the owner of the model, whom it is shared with, and admins.

        :param model_name: Name of the strategy: a model is named as its strategy
        :param version: A version number, or an alias: `latest`, `champion`, or one that users gave
        """
        return self._connection.json(self._service, "GET", "/api/v1/models/{model_name}/versions/{version}", path_values={"model_name": model_name, "version": version})

    def label_version(self, model_name: str, version: str, body: types.LabelRequest | None = None) -> types.ModelVersionDetail:
        """Set the aliases and tags of a version.

        Each list that is given replaces the one before. Aliases and tags change no stage; the history records them. For the owner of the model, whom it is shared with at `write`, and admins.

        :param model_name: Name of the strategy: a model is named as its strategy
        :param version: A version number, or an alias: `latest`, `champion`, or one that users gave
        """
        return self._connection.json(self._service, "PATCH", "/api/v1/models/{model_name}/versions/{version}", path_values={"model_name": model_name, "version": version}, body=body)

    def get_history(self, model_name: str, *, limit: int | None = None, cursor: str | None = None) -> types.ModelHistory:
        """Every change of a model, newest first: who, when, what and why.

        For the owner of the model, whom it is shared with, and admins.

        :param model_name: Name of the strategy: a model is named as its strategy
        :param limit: Maximum number of items on a page
        :param cursor: `next_cursor` of the previous page, with the same filters
        """
        return self._connection.json(self._service, "GET", "/api/v1/models/{model_name}/history", path_values={"model_name": model_name}, query={"limit": limit, "cursor": cursor})

    def get_production(self, model_name: str, *, at: str | None = None, from_: str | None = None, to: str | None = None) -> types.ProductionAt | types.ProductionPeriods:
        """Which version was in Production at a time, or over a range.

        A range with more periods than a response can have is VAL005. For the owner of the model, whom it is shared with, and admins.

        :param model_name: Name of the strategy: a model is named as its strategy
        :param at: ISO 8601; without an offset it is UTC. Default now
        :param from_: Instead of `at`: periods from this time. Default: creation of the model
        :param to: Periods up to this time, exclusive. Default now
        """
        return self._connection.json(self._service, "GET", "/api/v1/models/{model_name}/production", path_values={"model_name": model_name}, query={"at": at, "from": from_, "to": to})

    def get_release_rules(self) -> types.ReleaseRules:
        """What this platform requires of every release, and its release policy.

        They are set where the platform is deployed, and cannot be changed by a call.
        """
        return self._connection.json(self._service, "GET", "/api/v1/release-rules")

    def get_model_sharing(self, model_name: str) -> types.Sharing:
        """Whose a model is, and with whom it is shared.

        For the owner of the model, whom it is shared with, and admins.

        :param model_name: Name of the strategy: a model is named as its strategy
        """
        return self._connection.json(self._service, "GET", "/api/v1/models/{model_name}/sharing", path_values={"model_name": model_name})

    def share_model(self, model_name: str, body: types.SharingRequest) -> types.Sharing:
        """Share a model, or stop sharing it.

        For the owner and admins. Replaces the whole list: principals that are not in it lose access immediately. A grant does not replace a role: a caller needs both. For the owner of the model, and admins.

        :param model_name: Name of the strategy: a model is named as its strategy
        """
        return self._connection.json(self._service, "PUT", "/api/v1/models/{model_name}/sharing", path_values={"model_name": model_name}, body=body)

    def list_catalog(self, *, stage: Literal["Production", "Staging"] | None = None, exchange: str | None = None, timeframe: str | None = None, search: str | None = None, min_sharpe: float | None = None, max_drawdown: float | None = None, sort_field: Literal["name", "sharpe", "drawdown"] | None = None, sort_order: Literal["asc", "desc"] | None = None, limit: int | None = None, offset: int | None = None, cursor: str | None = None) -> types.CatalogStrategyList:
        """Versions in Production and Staging.

        Pages by `limit` and `offset`, or by `cursor`. `total` counts the versions that pass the filters on all pages.

        :param stage: Only versions in this stage; default both
        :param exchange: Only strategies on this exchange
        :param timeframe: Only strategies on this timeframe
        :param search: Only versions with this text in name, description, tags or pairs, in either case
        :param min_sharpe: Smallest Sharpe ratio; an undefined one is never enough
        :param max_drawdown: Largest drawdown, percent; of either sign
        :param sort_field: drawdown sorts by magnitude; undefined values come last in both orders, and versions with a found look-ahead bias after them
        :param sort_order: Ascending or descending
        :param limit: Maximum number of items on a page
        :param offset: Items before the page; an empty page beyond the end. Not together with `cursor`
        :param cursor: `next_cursor` of the previous page, with the same filters and order
        """
        return self._connection.json(self._service, "GET", "/api/v1/catalog/strategies", query={"stage": stage, "exchange": exchange, "timeframe": timeframe, "search": search, "min_sharpe": min_sharpe, "max_drawdown": max_drawdown, "sort_field": sort_field, "sort_order": sort_order, "limit": limit, "offset": offset, "cursor": cursor})

    def compare_versions(self, name: str, *, version_a: str, version_b: str) -> types.VersionComparison:
        """Compare a challenger with a champion on their registered backtests.

        PROMOTE needs a Sharpe ratio that is at least 10 % better, no broken guardrail, 100 trades and a confidence of 0.8. A broken guardrail is REJECT, everything else INCONCLUSIVE. Archived versions may be compared. For the owner of the model, whom it is shared with, and admins.

        :param name: Name of the strategy
        :param version_a: The champion: a version number, `latest` or `champion`
        :param version_b: The challenger: a version number, `latest` or `champion`
        """
        return self._connection.json(self._service, "GET", "/api/v1/catalog/strategies/{name}/compare", path_values={"name": name}, query={"version_a": version_a, "version_b": version_b})

    def request_approval(self, model_name: str, body: types.ApprovalRequest, *, idempotency_key: str | None = None) -> types.Approval:
        """Request a transition that another user approves.

        A model has one open request per action and version. Requests change no stage. They expire at `due_at`. For the owner of the model, whom it is shared with, and admins.

        :param model_name: Name of the strategy: a model is named as its strategy
        """
        return self._connection.json(self._service, "POST", "/api/v1/models/{model_name}/approvals", path_values={"model_name": model_name}, body=body, key=idempotency_key, keyed=True)

    def list_model_approvals(self, model_name: str, *, status: Literal["requested", "approved", "declined", "withdrawn", "expired"] | None = None, limit: int | None = None, cursor: str | None = None) -> types.ApprovalList:
        """Requests for approval of a model, newest first.

        A page reads up to 1,000 requests: with a status it may be short while more follow. For the owner of the model, whom it is shared with, and admins.

        :param model_name: Name of the strategy: a model is named as its strategy
        :param status: Only requests with this status
        :param limit: Maximum number of items on a page
        :param cursor: `next_cursor` of the previous page, with the same filters
        """
        return self._connection.json(self._service, "GET", "/api/v1/models/{model_name}/approvals", path_values={"model_name": model_name}, query={"status": status, "limit": limit, "cursor": cursor})

    def list_approvals(self, *, status: Literal["requested", "approved", "declined", "withdrawn", "expired"] | None = None, waiting_for: Literal["me"] | None = None, limit: int | None = None, cursor: str | None = None) -> types.ApprovalList:
        """Requests for approval of all models that the caller may read, newest first.

        A page reads up to 1,000 requests: with a filter it may be short while more follow.

        :param status: Only requests with this status
        :param waiting_for: `me`: only open requests that the caller may approve
        :param limit: Maximum number of items on a page
        :param cursor: `next_cursor` of the previous page, with the same filters
        """
        return self._connection.json(self._service, "GET", "/api/v1/approvals", query={"status": status, "waiting_for": waiting_for, "limit": limit, "cursor": cursor})

    def get_approval(self, approval_id: str) -> types.Approval:
        """A request for approval.

        For the owner of the approval, whom it is shared with, and admins.

        :param approval_id: ID of the request, `ap-...`
        """
        return self._connection.json(self._service, "GET", "/api/v1/approvals/{approval_id}", path_values={"approval_id": approval_id})

    def approve_request(self, approval_id: str, body: types.ApproveRequest | None = None, *, idempotency_key: str | None = None) -> types.Approval:
        """Approve a request: make its transition.

        One transaction ends the request and makes the transition, by the rules of a direct one. Where they reject it, the request stays open. The requester may not approve, an admin neither. For the owner of the approval, whom it is shared with at `write`, and admins.

        :param approval_id: ID of the request, `ap-...`
        """
        return self._connection.json(self._service, "POST", "/api/v1/approvals/{approval_id}/approve", path_values={"approval_id": approval_id}, body=body, key=idempotency_key, keyed=True)

    def decline_request(self, approval_id: str, body: types.DeclineRequest | None = None, *, idempotency_key: str | None = None) -> types.Approval:
        """Decline a request, with a reason.

        For the owner of the approval, whom it is shared with at `write`, and admins.

        :param approval_id: ID of the request, `ap-...`
        """
        return self._connection.json(self._service, "POST", "/api/v1/approvals/{approval_id}/decline", path_values={"approval_id": approval_id}, body=body, key=idempotency_key, keyed=True)

    def withdraw_request(self, approval_id: str, body: types.WithdrawRequest | None = None, *, idempotency_key: str | None = None) -> types.Approval:
        """Withdraw a request.

        Only its requester, or an admin. For the owner of the approval, whom it is shared with, and admins.

        :param approval_id: ID of the request, `ap-...`
        """
        return self._connection.json(self._service, "POST", "/api/v1/approvals/{approval_id}/withdraw", path_values={"approval_id": approval_id}, body=body, key=idempotency_key, keyed=True)

    def mlflow_search_models(self, *, filter: str | None = None, max_results: int | None = None, order_by: list[str] | None = None, page_token: str | None = None) -> types.MlflowModelList:
        """search_registered_models: models that the caller may read.

        :param filter: Comparisons joined by AND, such as `metrics.sharpe_ratio > 1 AND params.strategy = "ema_crossover"`. Operators: =, !=, <, <=, >, >=, LIKE, ILIKE, IN, NOT IN
        :param max_results: Maximum number of items on a page
        :param order_by: Fields, each with ASC or DESC, such as `name DESC`
        :param page_token: `next_page_token` of the previous page, with the same filters
        """
        return self._connection.json(self._service, "GET", "/api/2.0/mlflow/registered-models/search", query={"filter": filter, "max_results": max_results, "order_by": order_by, "page_token": page_token})

    def mlflow_get_model(self, *, name: str) -> types.MlflowModelAnswer:
        """get_registered_model.

        :param name: Name of the model: that of its strategy
        """
        return self._connection.json(self._service, "GET", "/api/2.0/mlflow/registered-models/get", query={"name": name})

    def mlflow_get_latest_versions(self, body: types.MlflowGetLatestVersionsBody, *, idempotency_key: str | None = None) -> types.MlflowVersionList:
        """get_latest_versions: the newest version of each stage."""
        return self._connection.json(self._service, "POST", "/api/2.0/mlflow/registered-models/get-latest-versions", body=body, key=idempotency_key, keyed=True)

    def mlflow_latest_versions(self, *, name: str, stages: list[str] | None = None) -> types.MlflowVersionList:
        """get_latest_versions, as the client for Java sends it.

        :param name: Name of the model: that of its strategy
        :param stages: Names of stages, in any case. Default: every stage
        """
        return self._connection.json(self._service, "GET", "/api/2.0/mlflow/registered-models/get-latest-versions", query={"name": name, "stages": stages})

    def mlflow_get_version_by_alias(self, *, name: str, alias: str) -> types.MlflowVersionAnswer:
        """get_model_version_by_alias.

        :param name: Name of the model: that of its strategy
        :param alias: `champion`, `latest`, or one that users gave
        """
        return self._connection.json(self._service, "GET", "/api/2.0/mlflow/registered-models/alias", query={"name": name, "alias": alias})

    def mlflow_set_alias(self, body: types.MlflowAliasRequest, *, idempotency_key: str | None = None) -> types.MlflowNothing:
        """set_registered_model_alias.

        `champion` and `latest` follow the stages and versions: they cannot be set.
        """
        return self._connection.json(self._service, "POST", "/api/2.0/mlflow/registered-models/alias", body=body, key=idempotency_key, keyed=True)

    def mlflow_delete_alias(self, body: types.MlflowAliasDeletion) -> types.MlflowNothing:
        """delete_registered_model_alias.

        An alias that the model does not have is deleted already.
        """
        return self._connection.json(self._service, "DELETE", "/api/2.0/mlflow/registered-models/alias", body=body)

    def mlflow_create_model(self, body: types.MlflowModelRequest, *, idempotency_key: str | None = None) -> types.MlflowModelAnswer:
        """create_registered_model: says whether a strategy is a model yet.

        Stores nothing: the first version of a strategy makes it a model. A model that exists is `RESOURCE_ALREADY_EXISTS`, after which `mlflow.register_model` creates a version.
        """
        return self._connection.json(self._service, "POST", "/api/2.0/mlflow/registered-models/create", body=body, key=idempotency_key, keyed=True)

    def mlflow_search_versions(self, *, filter: str | None = None, max_results: int | None = None, order_by: list[str] | None = None, page_token: str | None = None) -> types.MlflowVersionPage:
        """search_model_versions.

        :param filter: Comparisons joined by AND, such as `metrics.sharpe_ratio > 1 AND params.strategy = "ema_crossover"`. Operators: =, !=, <, <=, >, >=, LIKE, ILIKE, IN, NOT IN
        :param max_results: Maximum number of items on a page
        :param order_by: Fields, each with ASC or DESC, such as `name DESC`
        :param page_token: `next_page_token` of the previous page, with the same filters
        """
        return self._connection.json(self._service, "GET", "/api/2.0/mlflow/model-versions/search", query={"filter": filter, "max_results": max_results, "order_by": order_by, "page_token": page_token})

    def mlflow_get_version(self, *, name: str, version: str) -> types.MlflowVersionAnswer:
        """get_model_version.

        :param name: Name of the model: that of its strategy
        :param version: Number of the version
        """
        return self._connection.json(self._service, "GET", "/api/2.0/mlflow/model-versions/get", query={"name": name, "version": version})

    def mlflow_get_download_uri(self, *, name: str, version: str) -> types.MlflowUri:
        """get_model_version_download_uri: artifacts of the registered backtest.

        :param name: Name of the model: that of its strategy
        :param version: Number of the version
        """
        return self._connection.json(self._service, "GET", "/api/2.0/mlflow/model-versions/get-download-uri", query={"name": name, "version": version})

    def mlflow_create_version(self, body: types.MlflowVersionRequest, *, idempotency_key: str | None = None) -> types.MlflowVersionAnswer:
        """create_model_version: register a completed backtest.

        The rules are those of `registerStrategy`, without thresholds.
        """
        return self._connection.json(self._service, "POST", "/api/2.0/mlflow/model-versions/create", body=body, key=idempotency_key, keyed=True)

    def mlflow_set_version_tag(self, body: types.MlflowTagRequest, *, idempotency_key: str | None = None) -> types.MlflowNothing:
        """set_model_version_tag.

        Stored as the tag `key=value`. Tags of the platform, `touchstone.…`, cannot be set.
        """
        return self._connection.json(self._service, "POST", "/api/2.0/mlflow/model-versions/set-tag", body=body, key=idempotency_key, keyed=True)

    def mlflow_delete_version_tag(self, body: types.MlflowTagDeletion) -> types.MlflowNothing:
        """delete_model_version_tag.

        A tag that the version does not have is deleted already.
        """
        return self._connection.json(self._service, "DELETE", "/api/2.0/mlflow/model-versions/delete-tag", body=body)

    def mlflow_transition_stage(self, body: types.MlflowTransitionRequest, *, idempotency_key: str | None = None) -> types.MlflowVersionAnswer:
        """transition_model_version_stage: stage, promote, roll back or stop a version.

        The rules are those of `stageVersion`, `promoteVersion`, `rollbackModel` and `stopModel`. Production and Archived need the role approver.
        """
        return self._connection.json(self._service, "POST", "/api/2.0/mlflow/model-versions/transition-stage", body=body, key=idempotency_key, keyed=True)

    def mlflow_search_experiments(self, body: types.MlflowSearchExperimentsBody | None = None, *, idempotency_key: str | None = None) -> types.MlflowExperimentList:
        """search_experiments: experiments of the caller.

        The default experiment, with the ID `0`, has the jobs without an experiment.
        """
        return self._connection.json(self._service, "POST", "/api/2.0/mlflow/experiments/search", body=body, key=idempotency_key, keyed=True)

    def mlflow_list_experiments(self, *, filter: str | None = None, max_results: int | None = None, order_by: list[str] | None = None, page_token: str | None = None, view_type: str | None = None) -> types.MlflowExperimentList:
        """search_experiments by a query.

        :param filter: Comparisons joined by AND, such as `metrics.sharpe_ratio > 1 AND params.strategy = "ema_crossover"`. Operators: =, !=, <, <=, >, >=, LIKE, ILIKE, IN, NOT IN
        :param max_results: Maximum number of items on a page
        :param order_by: Fields, each with ASC or DESC, such as `name DESC`
        :param page_token: `next_page_token` of the previous page, with the same filters
        :param view_type: `DELETED_ONLY` finds none
        """
        return self._connection.json(self._service, "GET", "/api/2.0/mlflow/experiments/search", query={"filter": filter, "max_results": max_results, "order_by": order_by, "page_token": page_token, "view_type": view_type})

    def mlflow_get_experiment(self, *, experiment_id: str) -> types.MlflowExperimentAnswer:
        """get_experiment.

        :param experiment_id: ID of the experiment
        """
        return self._connection.json(self._service, "GET", "/api/2.0/mlflow/experiments/get", query={"experiment_id": experiment_id})

    def mlflow_get_experiment_by_name(self, *, experiment_name: str) -> types.MlflowExperimentAnswer:
        """get_experiment_by_name.

        :param experiment_name: Name of the experiment
        """
        return self._connection.json(self._service, "GET", "/api/2.0/mlflow/experiments/get-by-name", query={"experiment_name": experiment_name})

    def mlflow_search_runs(self, body: types.MlflowSearchRunsBody | None = None, *, idempotency_key: str | None = None) -> types.MlflowRunList:
        """search_runs: backtests, hyperopt jobs and trials.

        Covers the newest 2,000 backtests and 2,000 hyperopt jobs that the caller may read. Trials are found with the filter `tags.mlflow.parentRunId = '<hyperopt job>'`. A page has at most 200 runs.
        """
        return self._connection.json(self._service, "POST", "/api/2.0/mlflow/runs/search", body=body, key=idempotency_key, keyed=True)

    def mlflow_get_run(self, *, run_id: str) -> types.MlflowRunAnswer:
        """get_run.

        :param run_id: ID of a backtest or hyperopt job, or of a trial: `<job>_<number>`
        """
        return self._connection.json(self._service, "GET", "/api/2.0/mlflow/runs/get", query={"run_id": run_id})

    def mlflow_get_metric_history(self, *, run_id: str, metric_key: str, page_token: str | None = None) -> types.MlflowMetricList:
        """get_metric_history: one value, that of the end of the run.

        :param run_id: ID of a backtest or hyperopt job, or of a trial: `<job>_<number>`
        :param metric_key: Name of the metric
        :param page_token: `next_page_token` of the previous page, with the same filters
        """
        return self._connection.json(self._service, "GET", "/api/2.0/mlflow/metrics/get-history", query={"run_id": run_id, "metric_key": metric_key, "page_token": page_token})

    def mlflow_search_logged_models(self, body: types.MlflowSearchLoggedModelsBody | None = None, *, idempotency_key: str | None = None) -> types.MlflowLoggedModelList:
        """search_logged_models: none.

        Runs log no models: a backtest is registered by its artifacts. `mlflow.register_model` asks after it found no model there.
        """
        return self._connection.json(self._service, "POST", "/api/2.0/mlflow/logged-models/search", body=body, key=idempotency_key, keyed=True)

    def mlflow_list_artifacts(self, *, path: str | None = None) -> types.MlflowFileList:
        """list_artifacts: files of a backtest.

        With `MLmodel`, so that a run is a model for MLflow. The folder `model` has the same files: `mlflow.register_model` names a model by a folder of its run.

        :param path: ID of a backtest, alone or with `/model` or `/<file>`
        """
        return self._connection.json(self._service, "GET", "/api/2.0/mlflow-artifacts/artifacts", query={"path": path})

    def mlflow_get_artifact(self, job_id: str, file: str) -> bytes:
        """download_artifacts: a file of a completed backtest.

        For the owner of the backtest, whom it is shared with, and admins.

        :param job_id: ID of a backtest
        :param file: Name of a file of the list
        """
        return self._connection.file(self._service, "GET", "/api/2.0/mlflow-artifacts/artifacts/{job_id}/{file}", path_values={"job_id": job_id, "file": file})

    def mlflow_get_model_file(self, job_id: str, file: str) -> bytes:
        """download_artifacts of `runs:/<job>/model`: the same files.

        For the owner of the backtest, whom it is shared with, and admins.

        :param job_id: ID of a backtest
        :param file: Name of a file of the list
        """
        return self._connection.file(self._service, "GET", "/api/2.0/mlflow-artifacts/artifacts/{job_id}/model/{file}", path_values={"job_id": job_id, "file": file})

    def create_webhook(self, body: types.WebhookRequest) -> types.WebhookWithSecret:
        """Deliver events to a URL.

        Signed as Standard Webhooks specify. Each event is delivered at least once and is attempted for 24 hours. Grants to groups count by the groups of the owner at its last request. A repeated call creates another webhook: its secret is returned once. `all` is for admins.
        """
        return self._connection.json(self._service, "POST", "/api/v1/webhooks", body=body)

    def list_webhooks(self) -> types.WebhookList:
        """Webhooks of the caller; of all users for admins."""
        return self._connection.json(self._service, "GET", "/api/v1/webhooks")

    def get_webhook(self, webhook_id: str) -> types.Webhook:
        """A webhook, without its secret.

        For the owner of the webhook, whom it is shared with, and admins.

        :param webhook_id: ID of the webhook, `wh-...`
        """
        return self._connection.json(self._service, "GET", "/api/v1/webhooks/{webhook_id}", path_values={"webhook_id": webhook_id})

    def update_webhook(self, webhook_id: str, body: types.WebhookChange | None = None) -> types.Webhook:
        """Change, pause or resume a webhook.

        For the owner of the webhook, and admins.

        :param webhook_id: ID of the webhook, `wh-...`
        """
        return self._connection.json(self._service, "PATCH", "/api/v1/webhooks/{webhook_id}", path_values={"webhook_id": webhook_id}, body=body)

    def delete_webhook(self, webhook_id: str) -> None:
        """Delete a webhook; its pending deliveries end.

        For the owner of the webhook, and admins.

        :param webhook_id: ID of the webhook, `wh-...`
        """
        return self._connection.empty(self._service, "DELETE", "/api/v1/webhooks/{webhook_id}", path_values={"webhook_id": webhook_id})

    def rotate_webhook_secret(self, webhook_id: str) -> types.WebhookWithSecret:
        """Replace the secret.

        For 24 hours each request has a signature of the new and one of the previous secret. For the owner of the webhook, and admins.

        :param webhook_id: ID of the webhook, `wh-...`
        """
        return self._connection.json(self._service, "POST", "/api/v1/webhooks/{webhook_id}/rotate-secret", path_values={"webhook_id": webhook_id})

    def test_webhook(self, webhook_id: str) -> types.WebhookDelivery:
        """Send a test event.

        An event of type `webhook.test`, which no selection excludes. For the owner of the webhook, and admins.

        :param webhook_id: ID of the webhook, `wh-...`
        """
        return self._connection.json(self._service, "POST", "/api/v1/webhooks/{webhook_id}/test", path_values={"webhook_id": webhook_id})

    def list_deliveries(self, webhook_id: str, *, limit: int | None = None, cursor: str | None = None, status: Literal["pending", "delivered", "failed"] | None = None) -> types.WebhookDeliveryList:
        """Deliveries of a webhook, newest events first.

        For the owner of the webhook, whom it is shared with, and admins.

        :param webhook_id: ID of the webhook, `wh-...`
        :param limit: Maximum number of items on a page
        :param cursor: `next_cursor` of the previous page, with the same filters
        :param status: Only deliveries with this status
        """
        return self._connection.json(self._service, "GET", "/api/v1/webhooks/{webhook_id}/deliveries", path_values={"webhook_id": webhook_id}, query={"limit": limit, "cursor": cursor, "status": status})

    def replay_delivery(self, webhook_id: str, delivery_id: str) -> types.WebhookDelivery:
        """Deliver an event again.

        For the owner of the webhook, and admins.

        :param webhook_id: ID of the webhook, `wh-...`
        :param delivery_id: ID of the delivery
        """
        return self._connection.json(self._service, "POST", "/api/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/replay", path_values={"webhook_id": webhook_id, "delivery_id": delivery_id})

    def replay_webhook(self, webhook_id: str, body: types.WebhookReplayRequest, *, idempotency_key: str | None = None) -> types.WebhookReplay:
        """Deliver the events of a time range again.

        Selected events of the event log, also those that happened while the webhook was paused or did not exist. For the owner of the webhook, and admins.

        :param webhook_id: ID of the webhook, `wh-...`
        """
        return self._connection.json(self._service, "POST", "/api/v1/webhooks/{webhook_id}/replay", path_values={"webhook_id": webhook_id}, body=body, key=idempotency_key, keyed=True)

    def create_signals(self, body: types.SignalsRequest, *, idempotency_key: str | None = None) -> types.SignalsUpload:
        """Upload a file of signals.

        Returns an address for a PUT of the file, CSV or Parquet. A backtest of strategy `signals` then names it in `config.signals`. The task checks the rows. With an `Idempotency-Key` a repeated request returns the same file with a new address.
        """
        return self._connection.json(self._service, "POST", "/api/v1/signals", body=body, key=idempotency_key, keyed=True)

    def list_signals(self, *, limit: int | None = None, cursor: str | None = None) -> types.SignalsList:
        """Files of signals of the caller, newest first.

        :param limit: Maximum number of items on a page
        :param cursor: `next_cursor` of the previous page, with the same filters
        """
        return self._connection.json(self._service, "GET", "/api/v1/signals", query={"limit": limit, "cursor": cursor})

    def get_signals(self, signals_id: str) -> types.Signals:
        """A file of signals, without its content.

        For the owner of the signals, whom it is shared with, and admins.

        :param signals_id: ID of the file, `sg-...`
        """
        return self._connection.json(self._service, "GET", "/api/v1/signals/{signals_id}", path_values={"signals_id": signals_id})

    def delete_signals(self, signals_id: str) -> None:
        """Delete a file of signals.

        Backtests with it keep their results and cannot be run again. The file of a registered version stays. For the owner of the signals, and admins.

        :param signals_id: ID of the file, `sg-...`
        """
        return self._connection.empty(self._service, "DELETE", "/api/v1/signals/{signals_id}", path_values={"signals_id": signals_id})

    def get_signals_sharing(self, signals_id: str) -> types.Sharing:
        """Whose a file of signals is, and with whom it is shared.

        For the owner of the signals, whom it is shared with, and admins.

        :param signals_id: ID of the file, `sg-...`
        """
        return self._connection.json(self._service, "GET", "/api/v1/signals/{signals_id}/sharing", path_values={"signals_id": signals_id})

    def share_signals(self, signals_id: str, body: types.SharingRequest) -> types.Sharing:
        """Share a file of signals, or stop sharing it.

        For the owner and admins. Replaces the whole list: principals that are not in it lose access immediately. A grant does not replace a role: a caller needs both. For the owner of the signals, and admins.

        :param signals_id: ID of the file, `sg-...`
        """
        return self._connection.json(self._service, "PUT", "/api/v1/signals/{signals_id}/sharing", path_values={"signals_id": signals_id}, body=body)


class Strategy:
    """Touchstone strategy service. Registration of strategy versions."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    _service = "strategy"

    def get_strategy_service_health(self) -> types.Health:
        """Health of the service and of what it depends on."""
        return self._connection.json(self._service, "GET", "/api/v1/health")

    def register_strategy(self, name: str, body: types.RegisterRequest, *, idempotency_key: str | None = None) -> types.RegisterReply:
        """Register a completed backtest as the next version of a strategy.

        The backtest must reach every given threshold; equality passes and drawdowns are compared by magnitude. A rejected registration does not use a version number. `context.failures` of VAL005 lists every failed threshold. A backtest with a found look-ahead bias is RES005, unless an admin waives it. `skip_validation` is for admins. `waive` is for admins.

        :param name: Name of the strategy: a model is named as its strategy
        """
        return self._connection.json(self._service, "POST", "/api/v1/strategies/{name}/register", path_values={"name": name}, body=body, key=idempotency_key, keyed=True)

    def get_strategy_service_docs(self) -> str:
        """Interactive documentation."""
        return self._connection.text(self._service, "GET", "/docs")

    def get_strategy_service_docs_asset(self, asset: str) -> bytes:
        """A script or style sheet of the documentation page.

        :param asset: A file that the documentation page links
        """
        return self._connection.file(self._service, "GET", "/docs/{asset}", path_values={"asset": asset})

    def get_strategy_service_open_api(self) -> types.OpenApiDocument:
        """This document."""
        return self._connection.json(self._service, "GET", "/openapi.json")

    def start_hyperopt(self, body: types.HyperoptRequest, *, idempotency_key: str | None = None, session: str | None = None) -> types.HyperoptStart:
        """Search the parameters of a strategy and of its model.

        Every trial is a walk-forward backtest. The same request with the same seed gives the same trials for any number of workers. With an `Idempotency-Key` a repeated request returns the job of the first one.
        """
        return self._connection.json(self._service, "POST", "/api/v1/hyperopt", body=body, key=idempotency_key, keyed=True, session=session)

    def list_hyperopts(self, *, limit: int | None = None, cursor: str | None = None, status: Literal["pending", "running", "completed", "failed", "cancelled"] | None = None, experiment_name: str | None = None, strategy: str | None = None, q: str | None = None, session: str | None = None, owner: str | None = None, exchange: str | None = None, tag: str | None = None, look_ahead: Literal["certified", "sampled", "not_checked", "found"] | None = None, params: dict[str, str | float | bool] | None = None, sort: Literal["created_at", "strategy", "owner", "exchange", "session", "look_ahead", "deflated_sharpe_ratio", "best_value", "progress"] | str | None = None, sort_order: Literal["asc", "desc"] | None = None, count: bool | None = None) -> types.HyperoptList:
        """Hyperopt jobs, newest first.

        :param limit: Maximum number of items on a page
        :param cursor: `next_cursor` of the previous page, with the same filters
        :param status: Only jobs in this status
        :param experiment_name: Only jobs of this experiment
        :param strategy: Only jobs of this strategy
        :param q: Only jobs with each of these words in ID, strategy, experiment, exchange, pairs, notes or tags, in either case. Covers the newest 2,000 jobs that pass the other filters, see `searched`
        :param session: Only of this session; see `searched`
        :param owner: Only of this user
        :param exchange: Only on this exchange
        :param tag: Only with this tag
        :param look_ahead: Only in this state
        :param params: Only with these values of parameters by name, such as `params.fast=10`
        :param sort: Order of the list; jobs without the value come last, and by a metric those with a found look-ahead bias after them. Covers the newest 2,000 jobs that pass the other filters, see `searched`. Default: newest first, all jobs
        :param sort_order: Order of `sort`
        :param count: Also count the jobs that pass the filters, see `count` of the response
        """
        return self._connection.json(self._service, "GET", "/api/v1/hyperopt", query={"limit": limit, "cursor": cursor, "status": status, "experiment_name": experiment_name, "strategy": strategy, "q": q, "session": session, "owner": owner, "exchange": exchange, "tag": tag, "look_ahead": look_ahead, "params": params, "sort": sort, "sort_order": sort_order, "count": count})

    def get_hyperopt(self, job_id: str) -> types.HyperoptJob:
        """Status and progress of a hyperopt job.

        Returns 304 without a body while the `ETag` sent in `If-None-Match` is still the current one. For the owner of the hyperopt, whom it is shared with, and admins.

        :param job_id: Shape `ho-<id>`
        """
        return self._connection.json(self._service, "GET", "/api/v1/hyperopt/{job_id}", path_values={"job_id": job_id})

    def get_hyperopt_result(self, job_id: str) -> types.HyperoptResult:
        """The best parameters of a completed hyperopt job.

        RES005 with the status in `context` until the job is completed. For the owner of the hyperopt, whom it is shared with, and admins.

        :param job_id: Shape `ho-<id>`
        """
        return self._connection.json(self._service, "GET", "/api/v1/hyperopt/{job_id}/result", path_values={"job_id": job_id})

    def list_hyperopt_trials(self, job_id: str, *, limit: int | None = None, cursor: str | None = None, state: Literal["running", "complete", "pruned", "failed"] | None = None, number: int | None = None) -> types.HyperoptTrialList:
        """Trials of a hyperopt job, by number.

        For the owner of the hyperopt, whom it is shared with, and admins.

        :param job_id: Shape `ho-<id>`
        :param limit: Maximum number of items on a page
        :param cursor: `next_cursor` of the previous page, with the same filters
        :param state: Only trials in this state
        :param number: Only the trial with this number; the page is empty until it has started
        """
        return self._connection.json(self._service, "GET", "/api/v1/hyperopt/{job_id}/trials", path_values={"job_id": job_id}, query={"limit": limit, "cursor": cursor, "state": state, "number": number})

    def watch_hyperopt(self, job_id: str, *, after: int | None = None) -> Iterator[Event]:
        """Follow a hyperopt job: its trials as they end.

        Server-sent events; the data of each is JSON.
        `snapshot` comes first: the job as `GET /api/v1/hyperopt/{job_id}` returns it.
        `trial` follows for each trial that has ended, in the order of their ends: `number`, `state`, `value` (null unless complete), `params`, and `best_value` and `progress` at that time. Its ID counts from 1 without gaps.
        `permuted_search` follows, after all trials, for each search on permuted candles that has ended: `ended`, `total`, `best_value` and `progress`. Its ID counts on from the trials.
        `status` is the job once it is terminal; then the stream ends.
        `reconnect` ends a stream after 14 minutes or when the service stops. A client that reconnects with the last ID misses no event.
        A comment every 15 seconds keeps the connection open. For the owner of the hyperopt, whom it is shared with, and admins.

        :param job_id: Shape `ho-<id>`
        :param after: ID of the last received event; `Last-Event-ID` takes precedence. Default 0: all events
        """
        return self._connection.stream(self._service, "GET", "/api/v1/hyperopt/{job_id}/events", path_values={"job_id": job_id}, query={"after": after})

    def keep_hyperopt(self, job_id: str, body: types.KeepRequest | None = None, *, idempotency_key: str | None = None) -> types.HyperoptJob:
        """Keep a hyperopt job, or let it expire again.

        The platform may delete a job, or its trials, when it is older than the retention of the stage. A kept job, a shared one and the evidence of a registered version are never deleted. For the owner of the hyperopt, whom it is shared with at `write`, and admins.

        :param job_id: Shape `ho-<id>`
        """
        return self._connection.json(self._service, "POST", "/api/v1/hyperopt/{job_id}/keep", path_values={"job_id": job_id}, body=body, key=idempotency_key, keyed=True)

    def cancel_hyperopt(self, job_id: str) -> types.HyperoptJob:
        """Cancel a pending or running hyperopt job.

        Trials that have ended stay. RES005 when the job is already terminal. For the owner of the hyperopt, whom it is shared with at `write`, and admins.

        :param job_id: Shape `ho-<id>`
        """
        return self._connection.json(self._service, "POST", "/api/v1/hyperopt/{job_id}/cancel", path_values={"job_id": job_id})

    def resume_hyperopt(self, job_id: str, *, idempotency_key: str | None = None, session: str | None = None) -> types.HyperoptStart:
        """Resume a cancelled or failed hyperopt job as a new job.

        The new job has the same configuration. While strategy, engine and candles are unchanged it has the same trials: finished trials are reused, the others run. The old job is unchanged. RES005 for a job that is completed, pending or running: a job that lost its workers resumes automatically. For the owner of the hyperopt, whom it is shared with at `write`, and admins.

        :param job_id: Shape `ho-<id>`
        """
        return self._connection.json(self._service, "POST", "/api/v1/hyperopt/{job_id}/resume", path_values={"job_id": job_id}, key=idempotency_key, keyed=True, session=session)

    def get_hyperopt_sharing(self, job_id: str) -> types.Sharing:
        """Whose a hyperopt job is, and with whom it is shared.

        For the owner of the hyperopt, whom it is shared with, and admins.

        :param job_id: Shape `ho-<id>`
        """
        return self._connection.json(self._service, "GET", "/api/v1/hyperopt/{job_id}/sharing", path_values={"job_id": job_id})

    def share_hyperopt(self, job_id: str, body: types.SharingRequest) -> types.Sharing:
        """Share a hyperopt job, or stop sharing it.

        For the owner and admins. Replaces the whole list: principals that are not in it lose access immediately. A grant does not replace a role: a caller needs both. For the owner of the hyperopt, and admins.

        :param job_id: Shape `ho-<id>`
        """
        return self._connection.json(self._service, "PUT", "/api/v1/hyperopt/{job_id}/sharing", path_values={"job_id": job_id}, body=body)

    def create_challenge(self, model_name: str, body: types.ChallengeRequest, *, idempotency_key: str | None = None) -> types.Challenge:
        """Test a version against the champion with part of the traffic.

        A model has one active challenge. Promoting or rolling back the model ends it. For the owner of the model, whom it is shared with at `write`, and admins. `auto_promote` is for approvers.

        :param model_name: Name of the strategy: a model is named as its strategy
        """
        return self._connection.json(self._service, "POST", "/api/v1/models/{model_name}/challenges", path_values={"model_name": model_name}, body=body, key=idempotency_key, keyed=True)

    def list_challenges(self, model_name: str, *, status: Literal["active", "completed", "rolled_back", "expired"] | None = None, limit: int | None = None, cursor: str | None = None) -> types.ChallengeList:
        """Challenges of a model, newest first.

        For the owner of the model, whom it is shared with, and admins.

        :param model_name: Name of the strategy: a model is named as its strategy
        :param status: Only challenges in this status
        :param limit: Maximum number of items on a page
        :param cursor: `next_cursor` of the previous page, with the same filters
        """
        return self._connection.json(self._service, "GET", "/api/v1/models/{model_name}/challenges", path_values={"model_name": model_name}, query={"status": status, "limit": limit, "cursor": cursor})

    def list_all_challenges(self, *, status: Literal["active", "completed", "rolled_back", "expired"] | None = None, limit: int | None = None, cursor: str | None = None) -> types.ChallengeList:
        """Challenges of all models, newest first.

        Challenges of models that you own or that are shared with you; an admin sees all. A page may have fewer items than `limit` while more follow: continue until `next_cursor` is null. A new challenge appears within a second.

        :param status: Only challenges in this status
        :param limit: Maximum number of items on a page
        :param cursor: `next_cursor` of the previous page, with the same filters
        """
        return self._connection.json(self._service, "GET", "/api/v1/challenges", query={"status": status, "limit": limit, "cursor": cursor})

    def route_key(self, model_name: str, *, key: str) -> types.Route:
        """Version that decides for a key: the challenge assignment, else Production.

        Records nothing: an assignment counts when it is posted, or comes with a trade. A key that the last challenge of the model knows keeps its version, also after the end. For the owner of the model, whom it is shared with, and admins.

        :param model_name: Name of the strategy: a model is named as its strategy
        :param key: ID of the entry signal or position. The assignment is decided once, at the entry
        """
        return self._connection.json(self._service, "GET", "/api/v1/models/{model_name}/route", path_values={"model_name": model_name}, query={"key": key})

    def get_challenge(self, challenge_id: str) -> types.Challenge:
        """A challenge.

        For the owner of the challenge, whom it is shared with, and admins.

        :param challenge_id: `ch-<id>`
        """
        return self._connection.json(self._service, "GET", "/api/v1/challenges/{challenge_id}", path_values={"challenge_id": challenge_id})

    def assign_key(self, challenge_id: str, body: types.AssignmentRequest, *, idempotency_key: str | None = None) -> types.Assignment:
        """Assign a key to a version and count the assignment.

        A key keeps its first assignment when the traffic split changes. After the end a new key gets the version that the route of the model names. For the owner of the challenge, whom it is shared with at `write`, and admins.

        :param challenge_id: `ch-<id>`
        """
        return self._connection.json(self._service, "POST", "/api/v1/challenges/{challenge_id}/assignments", path_values={"challenge_id": challenge_id}, body=body, key=idempotency_key, keyed=True)

    def log_trades(self, challenge_id: str, body: types.ChallengeTradesRequest, *, idempotency_key: str | None = None) -> types.LoggedTrade | types.LoggedTrades:
        """Add a trade result, or up to 100.

        A `trade_id` counts once: the same body again is `duplicate`, another one RES005. A trade may come open first, and closed later. One that was closed before the start of the challenge or over 60 s in the future is VAL001; one that was opened before the start is stored as `late` and does not count. After the end a trade that was opened before it, or does not say when it was opened, is stored as `late` and changes nothing; one that was opened since is RES005. For the owner of the challenge, whom it is shared with at `write`, and admins.

        :param challenge_id: `ch-<id>`
        """
        return self._connection.json(self._service, "POST", "/api/v1/challenges/{challenge_id}/trades", path_values={"challenge_id": challenge_id}, body=body, key=idempotency_key, keyed=True)

    def list_challenge_trades(self, challenge_id: str, *, limit: int | None = None, cursor: str | None = None) -> types.ChallengeTradeList:
        """Trades of a challenge, last logged first.

        For the owner of the challenge, whom it is shared with, and admins.

        :param challenge_id: `ch-<id>`
        :param limit: Maximum number of items on a page
        :param cursor: `next_cursor` of the previous page, with the same filters
        """
        return self._connection.json(self._service, "GET", "/api/v1/challenges/{challenge_id}/trades", path_values={"challenge_id": challenge_id}, query={"limit": limit, "cursor": cursor})

    def evaluate_challenge(self, challenge_id: str) -> types.ChallengeEvaluation:
        """Comparison of the variants, with a recommendation.

        Read-only: the verdict is computed when a trade is logged or the challenge ends. For the owner of the challenge, whom it is shared with, and admins.

        :param challenge_id: `ch-<id>`
        """
        return self._connection.json(self._service, "GET", "/api/v1/challenges/{challenge_id}/evaluate", path_values={"challenge_id": challenge_id})

    def list_challenge_evaluations(self, challenge_id: str, *, limit: int | None = None, cursor: str | None = None) -> types.ChallengeEvaluationList:
        """How the comparison of the variants developed, oldest first.

        Stored when the canary stage or the status changes, and when the closed trades have increased by 1 %, at least by one; a batch of trades stores one per 25 trades at most. A challenge of an earlier version of the platform has items from its first change since. For the owner of the challenge, whom it is shared with, and admins.

        :param challenge_id: `ch-<id>`
        :param limit: Maximum number of items on a page
        :param cursor: `next_cursor` of the previous page, with the same filters
        """
        return self._connection.json(self._service, "GET", "/api/v1/challenges/{challenge_id}/evaluations", path_values={"challenge_id": challenge_id}, query={"limit": limit, "cursor": cursor})

    def list_challenge_events(self, challenge_id: str, *, limit: int | None = None, cursor: str | None = None) -> types.ChallengeEventList:
        """Events of a challenge, newest first.

        For the owner of the challenge, whom it is shared with, and admins.

        :param challenge_id: `ch-<id>`
        :param limit: Maximum number of items on a page
        :param cursor: `next_cursor` of the previous page, with the same filters
        """
        return self._connection.json(self._service, "GET", "/api/v1/challenges/{challenge_id}/events", path_values={"challenge_id": challenge_id}, query={"limit": limit, "cursor": cursor})

    def advance_challenge(self, challenge_id: str, body: types.AdvanceRequest | None = None, *, idempotency_key: str | None = None) -> types.Challenge:
        """Move the challenger to the next canary stage.

        Skips the conditions of the stage and ends any hold, a manual one too. A cause that persists holds the challenge again. For the owner of the challenge, whom it is shared with at `write`, and admins.

        :param challenge_id: `ch-<id>`
        """
        return self._connection.json(self._service, "POST", "/api/v1/challenges/{challenge_id}/advance", path_values={"challenge_id": challenge_id}, body=body, key=idempotency_key, keyed=True)

    def hold_challenge(self, challenge_id: str, body: types.HoldRequest | None = None, *, idempotency_key: str | None = None) -> types.Challenge:
        """Keep the traffic share of the challenger unchanged.

        The hold lasts until an approver resumes or advances. A second manual hold replaces the reason; without a reason it changes nothing. For the owner of the challenge, whom it is shared with at `write`, and admins.

        :param challenge_id: `ch-<id>`
        """
        return self._connection.json(self._service, "POST", "/api/v1/challenges/{challenge_id}/hold", path_values={"challenge_id": challenge_id}, body=body, key=idempotency_key, keyed=True)

    def resume_challenge(self, challenge_id: str, body: types.ResumeRequest | None = None, *, idempotency_key: str | None = None) -> types.Challenge:
        """End a hold.

        The same cause does not hold the challenge again. For `no_traffic` the 24-hour timer restarts. An approval hold needs advance instead: RES005. For the owner of the challenge, whom it is shared with at `write`, and admins.

        :param challenge_id: `ch-<id>`
        """
        return self._connection.json(self._service, "POST", "/api/v1/challenges/{challenge_id}/resume", path_values={"challenge_id": challenge_id}, body=body, key=idempotency_key, keyed=True)

    def promote_challenge(self, challenge_id: str, body: types.ChallengePromoteRequest | None = None, *, idempotency_key: str | None = None) -> types.Challenge:
        """Promote the challenger that won.

        One transaction with the registry. The challenger must be in Staging and meet the release policy; the champion must still be in Production. For the owner of the challenge, whom it is shared with at `write`, and admins. `waive` is for admins.

        :param challenge_id: `ch-<id>`
        """
        return self._connection.json(self._service, "POST", "/api/v1/challenges/{challenge_id}/promote", path_values={"challenge_id": challenge_id}, body=body, key=idempotency_key, keyed=True)

    def roll_back_challenge(self, challenge_id: str, body: types.ChallengeRollbackRequest | None = None, *, idempotency_key: str | None = None) -> types.Challenge:
        """End a challenge: the champion stays.

        For the owner of the challenge, whom it is shared with at `write`, and admins.

        :param challenge_id: `ch-<id>`
        """
        return self._connection.json(self._service, "POST", "/api/v1/challenges/{challenge_id}/rollback", path_values={"challenge_id": challenge_id}, body=body, key=idempotency_key, keyed=True)


class DataCollection:
    """Touchstone data collection. Market data: collecting, storing and serving candles."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    _service = "data_collection"

    def get_data_health(self) -> types.Health:
        """Health of the service and of what it depends on."""
        return self._connection.json(self._service, "GET", "/api/v1/health")

    def get_ohlcv(self, *, symbol: str, timeframe: str, trading_mode: Literal["futures", "spot"] | None = None, limit: int | None = None, start: str | None = None, end: str | None = None, exchange: str | None = None) -> types.Ohlcv:
        """Stored candles of a symbol.

        :param symbol: `BASE/QUOTE:SETTLE`; `BASE/QUOTE` with trading_mode `spot`
        :param trading_mode: `spot`: symbols are `BASE/QUOTE`. `futures`: `BASE/QUOTE:SETTLE`
        :param timeframe: One of 1m, 5m, 15m, 1h, 4h, 1d
        :param limit: Maximum number of candles: the newest of the range without `start`, else the first
        :param start: ISO 8601; without an offset it is UTC
        :param end: ISO 8601, exclusive; without an offset it is UTC
        :param exchange: Exchange key. Default: the configured exchange
        """
        return self._connection.json(self._service, "GET", "/api/v1/ohlcv", query={"symbol": symbol, "timeframe": timeframe, "trading_mode": trading_mode, "limit": limit, "start": start, "end": end, "exchange": exchange})

    def get_candles(self, *, symbol: str, timeframe: str, trading_mode: Literal["futures", "spot"] | None = None, limit: int | None = None, exchange: str | None = None, from_: str | None = None, to: str | None = None) -> types.CandleColumns:
        """Stored candles of a symbol as columns, for charts.

        A timeframe that is not stored is computed from a shorter one: of those stored the one with the longest range. Computed candles begin at multiples of their length in UTC, and are aggregated from the candles that exist. They are left out at both ends of the series, where not all of their time is stored. Backtests compute informative timeframes in the same way.

        :param symbol: `BASE/QUOTE:SETTLE`; `BASE/QUOTE` with trading_mode `spot`
        :param trading_mode: `spot`: symbols are `BASE/QUOTE`. `futures`: `BASE/QUOTE:SETTLE`
        :param timeframe: One of 1m, 5m, 15m, 1h, 4h, 1d
        :param limit: Maximum number of candles: the newest of the range without `from`, else the first. A page of computed candles reads up to 500,000 stored ones and may be shorter
        :param exchange: Exchange key. Default: the configured exchange
        :param from_: Open time of the first candle, ISO 8601; without an offset it is UTC
        :param to: Open times before it, ISO 8601; without an offset it is UTC
        """
        return self._connection.json(self._service, "GET", "/api/v1/candles", query={"symbol": symbol, "timeframe": timeframe, "trading_mode": trading_mode, "limit": limit, "exchange": exchange, "from": from_, "to": to})

    def list_data_symbols(self, *, exchange: str | None = None) -> types.Symbols:
        """Symbols with stored candles.

        :param exchange: Exchange key. Default: the configured exchange
        """
        return self._connection.json(self._service, "GET", "/api/v1/symbols", query={"exchange": exchange})

    def list_instruments(self, *, exchange: str | None = None, at: str | None = None) -> types.Instruments:
        """Amount steps, price ticks and order limits of the symbols.

        Collected with the candles, each at most once a day. Changed rules are added to those before, which are kept. A backtest with `precision` `exchange` follows the current ones.

        :param exchange: Exchange key. Default: the configured exchange
        :param at: Rules that were valid at this time, ISO 8601; symbols whose rules were collected later are left out. Default: the current ones
        """
        return self._connection.json(self._service, "GET", "/api/v1/instruments", query={"exchange": exchange, "at": at})

    def get_instrument_history(self, *, symbol: str, exchange: str | None = None) -> types.InstrumentHistory:
        """Rules of a symbol as of their dates.

        :param exchange: Exchange key. Default: the configured exchange
        :param symbol: `BASE/QUOTE:SETTLE`; `BASE/QUOTE` in spot
        """
        return self._connection.json(self._service, "GET", "/api/v1/instruments/history", query={"symbol": symbol, "exchange": exchange})

    def get_data_status(self, *, exchange: str | None = None) -> types.DataStatus:
        """Range, count and gaps of every stored series.

        :param exchange: Exchange key. Default: the configured exchange
        """
        return self._connection.json(self._service, "GET", "/api/v1/status", query={"exchange": exchange})

    def get_coverage(self, *, exchange: str | None = None, symbol: str | None = None, trading_mode: Literal["futures", "spot"] | None = None, timeframe: str | None = None, limit: int | None = None, cursor: str | None = None) -> types.Coverage:
        """Stored, expected and corrupt candles of each series by month.

        Of one symbol, or of all, in pages of symbols, of up to 20,000 months together. With `timeframe` a page may have fewer series than symbols were read, also none, while `next_cursor` is not null.

        :param exchange: Exchange key. Default: the configured exchange
        :param symbol: `BASE/QUOTE:SETTLE`; `BASE/QUOTE` with trading_mode `spot`. Default: all stored ones of both
        :param trading_mode: `spot`: symbols are `BASE/QUOTE`. `futures`: `BASE/QUOTE:SETTLE`
        :param timeframe: One of 1m, 3m, 5m, 15m, 30m, 1h, 2h, 4h, 6h, 8h, 12h, 1d, 3d, 1w. Default: all stored ones
        :param limit: Maximum number of symbols on a page
        :param cursor: `next_cursor` of the previous page, with the same filters
        """
        return self._connection.json(self._service, "GET", "/api/v1/coverage", query={"exchange": exchange, "symbol": symbol, "trading_mode": trading_mode, "timeframe": timeframe, "limit": limit, "cursor": cursor})

    def get_data_freshness(self, *, symbols: list[str], trading_mode: Literal["futures", "spot"] | None = None, timeframe: str | None = None, stale_threshold_hours: int | None = None, start: str | None = None, end: str | None = None, exchange: str | None = None) -> types.Freshness:
        """Freshness of the stored candles.

        A symbol is fresh when its last closed candle is not older than the threshold. With `start` or `end` the stored range must cover them instead, as far as candles can exist.

        :param symbols: `BASE/QUOTE:SETTLE`, repeated or separated by commas; `BASE/QUOTE` with trading_mode `spot`
        :param trading_mode: `spot`: symbols are `BASE/QUOTE`. `futures`: `BASE/QUOTE:SETTLE`
        :param timeframe: One or more, comma separated: each must be fresh. Default: the newest stored series of each symbol
        :param stale_threshold_hours: Age from which a symbol is stale, hours
        :param start: ISO 8601; without an offset it is UTC
        :param end: ISO 8601, exclusive; without an offset it is UTC
        :param exchange: Exchange key. Default: the configured exchange
        """
        return self._connection.json(self._service, "GET", "/api/v1/freshness", query={"symbols": symbols, "trading_mode": trading_mode, "timeframe": timeframe, "stale_threshold_hours": stale_threshold_hours, "start": start, "end": end, "exchange": exchange})

    def list_series(self, *, exchange: str | None = None) -> types.SeriesList:
        """Stored series of all exchanges.

        :param exchange: Only series of this exchange. Default: of all with stored candles
        """
        return self._connection.json(self._service, "GET", "/api/v1/series", query={"exchange": exchange})

    def get_series(self, *, symbol: str, timeframe: str, exchange: str | None = None) -> types.SeriesDetails:
        """A stored series, what uses it, and the import that can be undone.

        :param symbol: `BASE/QUOTE:SETTLE`; `BASE/QUOTE` in spot
        :param timeframe: One of 1m, 3m, 5m, 15m, 30m, 1h, 2h, 4h, 6h, 8h, 12h, 1d, 3d, 1w
        :param exchange: Exchange key. Default: the configured exchange
        """
        return self._connection.json(self._service, "GET", "/api/v1/series/details", query={"symbol": symbol, "timeframe": timeframe, "exchange": exchange})

    def get_series_condition(self, *, symbol: str, timeframe: str, exchange: str | None = None, from_: str | None = None, to: str | None = None, limit: int | None = None) -> types.SeriesCondition:
        """Condition of a stored series by day.

        Whether candles are missing or were replaced on a day, and when the day last changed.

        :param symbol: `BASE/QUOTE:SETTLE`; `BASE/QUOTE` in spot
        :param timeframe: One of 1m, 3m, 5m, 15m, 30m, 1h, 2h, 4h, 6h, 8h, 12h, 1d, 3d, 1w
        :param exchange: Exchange key. Default: the configured exchange
        :param from_: First day, ISO 8601, UTC. Default: the first of the series
        :param to: Days before it, ISO 8601, UTC. Default: the end of the series
        :param limit: Maximum number of days
        """
        return self._connection.json(self._service, "GET", "/api/v1/series/condition", query={"symbol": symbol, "timeframe": timeframe, "exchange": exchange, "from": from_, "to": to, "limit": limit})

    def delete_series(self, body: types.SeriesDeletion) -> types.ChangedSeries:
        """Delete stored series.

        Candles and, without a timeframe, the funding rates of a symbol. Instruments stay. RES005 while something uses the series: `context.used_by` names it, and `force` deletes anyway. Results of earlier runs stay, but cannot be computed again. A deletion that a crash interrupted is finished by the next call.
        """
        return self._connection.json(self._service, "POST", "/api/v1/series/delete", body=body)

    def rename_series(self, body: types.SeriesRenaming) -> types.ChangedSeries:
        """Rename stored series.

        Gives them another symbol, exchange, or both; funding rates move along without a timeframe. RES005 when the result exists already, or while something uses the series, as for a deletion. A renamed series keeps no import that could be undone. After a crash the same call continues.
        """
        return self._connection.json(self._service, "POST", "/api/v1/series/rename", body=body)

    def copy_series(self, body: types.SeriesCopying) -> types.ChangedSeries:
        """Copy stored series to another exchange or symbol.

        With the instrument of the symbol where the target has none, and its funding rates without a timeframe. RES005 when the result exists already.
        """
        return self._connection.json(self._service, "POST", "/api/v1/series/copy", body=body)

    def undo_import(self, body: types.ImportUndo) -> types.UndoneImports:
        """Take the last import of a symbol back.

        An import keeps the candles that it replaced until the next import that changes the series. Candles that were collected since stay. RES005 when no import is kept.
        """
        return self._connection.json(self._service, "POST", "/api/v1/series/undo", body=body)

    def start_collection(self, body: types.CollectionRequest, *, idempotency_key: str | None = None) -> types.Collection:
        """Collect candles.

        Stored candles are not fetched again. Collections run one after another; more than 20 unfinished ones are rejected. An accepted collection survives a restart: the next process resumes it.
        """
        return self._connection.json(self._service, "POST", "/api/v1/collections", body=body, key=idempotency_key, keyed=True)

    def list_collections(self, *, status: Literal["pending", "running", "completed", "failed", "cancelled"] | None = None, limit: int | None = None, cursor: str | None = None) -> types.CollectionList:
        """Collections, newest first.

        With `status` a page reads up to 500 collections. It may be short or empty while `next_cursor` is not null. Collections of releases before this operation are not listed.

        :param status: Only collections in this status
        :param limit: Maximum number of items on a page
        :param cursor: `next_cursor` of the previous page, with the same filters
        """
        return self._connection.json(self._service, "GET", "/api/v1/collections", query={"status": status, "limit": limit, "cursor": cursor})

    def get_collection(self, collection_id: str) -> types.Collection:
        """Status and progress of a collection.

        `pending`: queued, or requeued after a crash. Stored candles are kept. `completed`, `failed` and `cancelled` are final.

        :param collection_id: Shape `co-<id>`
        """
        return self._connection.json(self._service, "GET", "/api/v1/collections/{collection_id}", path_values={"collection_id": collection_id})

    def cancel_collection(self, collection_id: str) -> types.Collection:
        """Cancel a pending or running collection.

        Collected candles stay. RES005 when the collection has already ended. Collections have no owner: any researcher may cancel them.

        :param collection_id: Shape `co-<id>`
        """
        return self._connection.json(self._service, "POST", "/api/v1/collections/{collection_id}/cancel", path_values={"collection_id": collection_id})

    def get_data_docs(self) -> str:
        """Interactive documentation."""
        return self._connection.text(self._service, "GET", "/docs")

    def get_data_docs_asset(self, asset: str) -> bytes:
        """A script or style sheet of the documentation page.

        :param asset: A file that the documentation page links
        """
        return self._connection.file(self._service, "GET", "/docs/{asset}", path_values={"asset": asset})

    def get_data_open_api(self) -> types.OpenApiDocument:
        """This document."""
        return self._connection.json(self._service, "GET", "/openapi.json")

    def create_import(self, body: types.ImportRequest) -> types.CreatedImport:
        """Begin an import of files.

        Returns an address for their bytes, in local mode. Stages in AWS reject it with RES005: collect candles there. RES005 also while as many imports have not ended, or as many bytes are uploaded, as the platform takes.
        """
        return self._connection.json(self._service, "POST", "/api/v1/imports", body=body)

    def list_imports(self) -> types.ImportList:
        """Imports of files, newest first.

        Those that have not ended, and the last 50 that have. None in AWS.
        """
        return self._connection.json(self._service, "GET", "/api/v1/imports")

    def get_import(self, import_id: str) -> types.ImportDetails:
        """An import of files with its preview or result.

        :param import_id: Shape `im-<id>`
        """
        return self._connection.json(self._service, "GET", "/api/v1/imports/{import_id}", path_values={"import_id": import_id})

    def preview_import(self, import_id: str, body: types.ImportOptions | None = None) -> types.ImportState:
        """Read the files of an import and say what would be stored.

        It stores nothing, as `touchstone import --dry-run`. RES005 before all files have arrived, while it runs, and after its end.

        :param import_id: Shape `im-<id>`
        """
        return self._connection.json(self._service, "POST", "/api/v1/imports/{import_id}/preview", path_values={"import_id": import_id}, body=body)

    def start_import(self, import_id: str, body: types.ImportOptions | None = None) -> types.ImportState:
        """Import the files.

        It continues without its client. Imports and previews run one after another. RES005 before all files have arrived, while it runs, and after its end. `undoImport` takes it back.

        :param import_id: Shape `im-<id>`
        """
        return self._connection.json(self._service, "POST", "/api/v1/imports/{import_id}/start", path_values={"import_id": import_id}, body=body)

    def cancel_import(self, import_id: str) -> types.ImportState:
        """End an import and remove its files.

        Months that are stored by then stay. RES005 when it has ended already.

        :param import_id: Shape `im-<id>`
        """
        return self._connection.json(self._service, "POST", "/api/v1/imports/{import_id}/cancel", path_values={"import_id": import_id})
