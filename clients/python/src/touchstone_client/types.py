"""Types of requests and responses."""
# Written by `npm run openapi` from the OpenAPI documents: do not edit.
# ruff: noqa

from __future__ import annotations

import sys
from typing import Any, Literal, TypeAlias, TypedDict

if sys.version_info >= (3, 11):
    from typing import NotRequired
else:
    from typing_extensions import NotRequired


class AccountMetrics(TypedDict):
    """Account: balance and profit"""

    starting_balance: float
    """Starting balance"""
    final_balance: float
    """Final balance"""
    total_profit: float
    """Total profit"""
    total_profit_pct: float
    """Total profit %"""
    cagr_pct: float | None
    """CAGR %"""
    avg_daily_profit_pct: float
    """Average daily profit %"""
    market_change_pct: float | None
    """Market change %"""
    backtest_days: float
    """Days"""


class ActivityMetrics(TypedDict):
    """Trading activity"""

    trades_per_day: float
    """Trades per day"""
    exposure_pct: float | None
    """Exposure %"""
    avg_open_trades: float | None
    """Average open trades"""
    max_open_trades: int
    """Maximum number of open trades"""
    min_duration_minutes: float | None
    """Shortest trade"""
    max_duration_minutes: float | None
    """Longest trade"""
    avg_duration_winners_minutes: float | None
    """Average duration of winners"""
    avg_duration_losers_minutes: float | None
    """Average duration of losers"""
    max_consecutive_wins: int
    """Maximum consecutive wins"""
    max_consecutive_losses: int
    """Maximum consecutive losses"""
    same_candle_trades: int
    """Trades within one candle"""
    left_open_trades: int
    """Left open"""
    avg_stake: float | None
    """Average stake"""
    avg_leverage: float | None
    """Average leverage"""
    total_volume: float
    """Total volume"""


class AdvanceRequest(TypedDict):
    canary_stage: NotRequired[Literal["stage_1", "stage_2", "stage_3", "stage_4"] | None]
    """The next stage; the current stage changes nothing. Default: the next stage"""
    comment: NotRequired[str | None]
    """Recorded in the history"""


class AnnotationRequest(TypedDict):
    """Absent fields keep their values. Unknown fields are ignored"""

    notes: NotRequired[str | None]
    """Replaces the notes; an empty string removes them"""
    tags: NotRequired[list[str] | None]
    """Replace the tags"""
    pinned: NotRequired[bool | None]


class Approval(TypedDict):
    approval_id: str
    """`ap-...`"""
    model_name: str
    action: Literal["stage", "promote", "rollback", "stop"]
    version: str | None
    """Number of the version; null for `stop`"""
    status: Literal["requested", "approved", "declined", "withdrawn", "expired"]
    reason: str
    """Reason of the request"""
    requested_by: str
    requested_at: str
    """ISO 8601, UTC"""
    due_at: str
    """From then on the request has expired"""
    decided_by: str | None
    """`platform` when the transition happened otherwise; null while open or expired"""
    decided_at: str | None
    decision_reason: str | None
    expected_production: str | None
    """Version that must be in Production at the approval; null: there must be none"""


class ApprovalApprovedEvent(TypedDict):
    """The request was approved, and its transition made"""

    specversion: Literal["1.0"]
    id: str
    """The same for each delivery of an event. Use it to ignore repeated deliveries"""
    source: str
    """Stage and platform, such as `touchstone/prod/123456789012/eu-central-1/touchstone-prod-platform`. IDs are unique in a source only"""
    subject: str
    """Path of the resource, such as `backtests/bt-…`, `models/ema_crossover`, `challenges/ch-…`, `approvals/ap-…`"""
    time: str
    """Time of the change, ISO 8601, UTC"""
    actor: str
    """User who made the change; `platform` when it did itself"""
    datacontenttype: Literal["application/json"]
    sequence: int
    """Order of the events of a subject: later events have higher numbers. Numbers may be missing. Different subjects have no common order"""
    type: Literal["approval.approved"]
    data: ApprovalApprovedEventData


class ApprovalApprovedEventData(TypedDict):
    approval_id: str
    """`ap-...`"""
    model_name: str
    action: Literal["stage", "promote", "rollback", "stop"]
    version: str | None
    """Number of the version; null for `stop`"""
    status: Literal["requested", "approved", "declined", "withdrawn", "expired"]
    reason: str
    """Reason of the request"""
    requested_by: str
    due_at: str
    """From then on the request has expired"""
    decided_by: str | None
    """`platform` when the transition happened otherwise; null while open or expired"""
    decision_reason: str | None
    expected_production: str | None
    """Version that must be in Production at the approval; null: there must be none"""


class ApprovalDeclinedEvent(TypedDict):
    """The request was declined"""

    specversion: Literal["1.0"]
    id: str
    """The same for each delivery of an event. Use it to ignore repeated deliveries"""
    source: str
    """Stage and platform, such as `touchstone/prod/123456789012/eu-central-1/touchstone-prod-platform`. IDs are unique in a source only"""
    subject: str
    """Path of the resource, such as `backtests/bt-…`, `models/ema_crossover`, `challenges/ch-…`, `approvals/ap-…`"""
    time: str
    """Time of the change, ISO 8601, UTC"""
    actor: str
    """User who made the change; `platform` when it did itself"""
    datacontenttype: Literal["application/json"]
    sequence: int
    """Order of the events of a subject: later events have higher numbers. Numbers may be missing. Different subjects have no common order"""
    type: Literal["approval.declined"]
    data: ApprovalDeclinedEventData


class ApprovalDeclinedEventData(TypedDict):
    approval_id: str
    """`ap-...`"""
    model_name: str
    action: Literal["stage", "promote", "rollback", "stop"]
    version: str | None
    """Number of the version; null for `stop`"""
    status: Literal["requested", "approved", "declined", "withdrawn", "expired"]
    reason: str
    """Reason of the request"""
    requested_by: str
    due_at: str
    """From then on the request has expired"""
    decided_by: str | None
    """`platform` when the transition happened otherwise; null while open or expired"""
    decision_reason: str | None
    expected_production: str | None
    """Version that must be in Production at the approval; null: there must be none"""


class ApprovalExpiredEvent(TypedDict):
    """Nobody decided about the request before its due time"""

    specversion: Literal["1.0"]
    id: str
    """The same for each delivery of an event. Use it to ignore repeated deliveries"""
    source: str
    """Stage and platform, such as `touchstone/prod/123456789012/eu-central-1/touchstone-prod-platform`. IDs are unique in a source only"""
    subject: str
    """Path of the resource, such as `backtests/bt-…`, `models/ema_crossover`, `challenges/ch-…`, `approvals/ap-…`"""
    time: str
    """Time of the change, ISO 8601, UTC"""
    actor: str
    """User who made the change; `platform` when it did itself"""
    datacontenttype: Literal["application/json"]
    sequence: int
    """Order of the events of a subject: later events have higher numbers. Numbers may be missing. Different subjects have no common order"""
    type: Literal["approval.expired"]
    data: ApprovalExpiredEventData


class ApprovalExpiredEventData(TypedDict):
    approval_id: str
    """`ap-...`"""
    model_name: str
    action: Literal["stage", "promote", "rollback", "stop"]
    version: str | None
    """Number of the version; null for `stop`"""
    status: Literal["requested", "approved", "declined", "withdrawn", "expired"]
    reason: str
    """Reason of the request"""
    requested_by: str
    due_at: str
    """From then on the request has expired"""
    decided_by: str | None
    """`platform` when the transition happened otherwise; null while open or expired"""
    decision_reason: str | None
    expected_production: str | None
    """Version that must be in Production at the approval; null: there must be none"""


class ApprovalList(TypedDict):
    items: list[Approval]
    next_cursor: str | None
    """Opaque; send it as `cursor` with the same filters. null ends the iteration"""


class ApprovalRequest(TypedDict):
    action: Literal["stage", "promote", "rollback", "stop"]
    """Requested transition"""
    version: NotRequired[str | int | None]
    """A version number, or an alias: `latest`, `champion`, or one that users gave"""
    reason: str
    """Why it should happen"""
    due_at: NotRequired[str | None]
    """From one minute to 30 days from now, ISO 8601. Default: in 7 days"""
    expected_production: NotRequired[str | int | None]
    """Version that must be in Production, now and at the approval; null: no version. Default: the version in Production now"""


class ApprovalRequestedEvent(TypedDict):
    """A user requests a transition that another user approves"""

    specversion: Literal["1.0"]
    id: str
    """The same for each delivery of an event. Use it to ignore repeated deliveries"""
    source: str
    """Stage and platform, such as `touchstone/prod/123456789012/eu-central-1/touchstone-prod-platform`. IDs are unique in a source only"""
    subject: str
    """Path of the resource, such as `backtests/bt-…`, `models/ema_crossover`, `challenges/ch-…`, `approvals/ap-…`"""
    time: str
    """Time of the change, ISO 8601, UTC"""
    actor: str
    """User who made the change; `platform` when it did itself"""
    datacontenttype: Literal["application/json"]
    sequence: int
    """Order of the events of a subject: later events have higher numbers. Numbers may be missing. Different subjects have no common order"""
    type: Literal["approval.requested"]
    data: ApprovalRequestedEventData


class ApprovalRequestedEventData(TypedDict):
    approval_id: str
    """`ap-...`"""
    model_name: str
    action: Literal["stage", "promote", "rollback", "stop"]
    version: str | None
    """Number of the version; null for `stop`"""
    status: Literal["requested", "approved", "declined", "withdrawn", "expired"]
    reason: str
    """Reason of the request"""
    requested_by: str
    due_at: str
    """From then on the request has expired"""
    decided_by: str | None
    """`platform` when the transition happened otherwise; null while open or expired"""
    decision_reason: str | None
    expected_production: str | None
    """Version that must be in Production at the approval; null: there must be none"""


class ApprovalWithdrawnEvent(TypedDict):
    """The request was withdrawn, or its transition happened otherwise"""

    specversion: Literal["1.0"]
    id: str
    """The same for each delivery of an event. Use it to ignore repeated deliveries"""
    source: str
    """Stage and platform, such as `touchstone/prod/123456789012/eu-central-1/touchstone-prod-platform`. IDs are unique in a source only"""
    subject: str
    """Path of the resource, such as `backtests/bt-…`, `models/ema_crossover`, `challenges/ch-…`, `approvals/ap-…`"""
    time: str
    """Time of the change, ISO 8601, UTC"""
    actor: str
    """User who made the change; `platform` when it did itself"""
    datacontenttype: Literal["application/json"]
    sequence: int
    """Order of the events of a subject: later events have higher numbers. Numbers may be missing. Different subjects have no common order"""
    type: Literal["approval.withdrawn"]
    data: ApprovalWithdrawnEventData


class ApprovalWithdrawnEventData(TypedDict):
    approval_id: str
    """`ap-...`"""
    model_name: str
    action: Literal["stage", "promote", "rollback", "stop"]
    version: str | None
    """Number of the version; null for `stop`"""
    status: Literal["requested", "approved", "declined", "withdrawn", "expired"]
    reason: str
    """Reason of the request"""
    requested_by: str
    due_at: str
    """From then on the request has expired"""
    decided_by: str | None
    """`platform` when the transition happened otherwise; null while open or expired"""
    decision_reason: str | None
    expected_production: str | None
    """Version that must be in Production at the approval; null: there must be none"""


class ApproveRequest(TypedDict):
    reason: NotRequired[str | None]
    """Why"""


class Assignment(TypedDict):
    challenge_id: str
    assignment_key: str
    variant: Literal["champion", "challenger"] | None
    """null after the end, when a new key gets a version that is neither of the two, and for a new key of a stopped model"""
    version: str | None
    """Version that decides for this key; null when no version is in Production, and for every key of a stopped model"""
    entry_version: str | None
    """Version for new positions of this key: `version` while the challenge routes, afterwards the version in Production; null when there is none"""
    canary_stage: Literal["stage_1", "stage_2", "stage_3", "stage_4"]
    """Canary stage of the assignment"""
    bucket: float
    """0 to 1: the challenger gets the key when it is below its traffic share"""
    traffic_split: list[float]
    """Traffic share of the champion, then of the challenger; the sum is 1"""
    should_close: bool
    """Close the position: the model was stopped and has no version in Production; or its version was rolled back or stopped since, or rolled back as the challenger of this or the last challenge with `on_rollback: close`. False while its version is in Production"""
    repeated: bool
    """True when the key was assigned before"""


class AssignmentRequest(TypedDict):
    assignment_key: str
    """ID of the entry signal or position. The assignment is decided once, at the entry"""


class AuditEntry(TypedDict):
    id: str
    at: str
    """ISO 8601, UTC"""
    principal: str
    """The token's `sub`; `service` is a service of Touchstone, `platform` a change without a call"""
    roles: list[str]
    service: str
    operation: str
    """Operation id, as in the OpenAPI documents; of a change without a call the action of the model's or challenge's history"""
    resource: AuditResource
    """Created resource, or the resource in the path"""
    model_name: str | None
    """Model that the call is about; null for another resource"""
    version: str | None
    """Version of it that the response names, or else the request; of a challenge the challenger. null without one"""
    method: str
    """Empty for a change without a call, like `path`"""
    path: str
    outcome: Literal["succeeded", "refused", "failed", "unknown"]
    """`refused`: status 4xx. `failed`: 5xx. `unknown`: still running, or the service crashed; check the resource"""
    status: int | None
    code: str | None
    """Error code; null on success"""
    ended_at: str | None
    correlation_id: str
    request: dict[str, Any] | None
    """Summary of query and body: long strings and lists are truncated, secrets removed"""
    source_ip: str | None
    user_agent: str | None


class AuditEntryList(TypedDict):
    items: list[AuditEntry]
    next_cursor: str | None
    """Opaque; send it as `cursor` with the same filters. null ends the iteration"""


class AuditResource(TypedDict):
    kind: str
    """As in the path: `backtests`, `models`, `collections`"""
    id: str | None
    """null while a request that makes one has made none"""


class BacktestCancelledEvent(TypedDict):
    """A user has cancelled the backtest"""

    specversion: Literal["1.0"]
    id: str
    """The same for each delivery of an event. Use it to ignore repeated deliveries"""
    source: str
    """Stage and platform, such as `touchstone/prod/123456789012/eu-central-1/touchstone-prod-platform`. IDs are unique in a source only"""
    subject: str
    """Path of the resource, such as `backtests/bt-…`, `models/ema_crossover`, `challenges/ch-…`, `approvals/ap-…`"""
    time: str
    """Time of the change, ISO 8601, UTC"""
    actor: str
    """User who made the change; `platform` when it did itself"""
    datacontenttype: Literal["application/json"]
    sequence: int
    """Order of the events of a subject: later events have higher numbers. Numbers may be missing. Different subjects have no common order"""
    type: Literal["backtest.cancelled"]
    data: BacktestCancelledEventData


class BacktestCancelledEventData(TypedDict):
    job_id: str
    strategy: str
    experiment_name: str | None
    exchange: str
    timeframe: str
    pairs: list[str]


class BacktestColumns(TypedDict):
    """Columns of equal length"""

    pair: str
    timeframe: Literal["1m", "3m", "5m", "15m", "30m", "1h", "2h", "4h", "6h", "8h", "12h", "1d", "3d", "1w"]
    times: list[int]
    """Open times of the candles of this page, Unix seconds"""
    columns: dict[str, list[float | str | None]]
    """A value for each time. null: NaN, or no tag. Signals are 0 or 1, as the strategy returned them; a signal acts at the open of the next candle"""
    rows: int
    """Rows of the range, over all pages"""
    next_cursor: str | None
    changed_candles: list[ChangedCandles]
    """Empty: the backtest has read the same candles"""
    plot: Plot | None
    """How the strategy wants them drawn; null: as the chart chooses"""


class BacktestCompletedEvent(TypedDict):
    """The backtest has results"""

    specversion: Literal["1.0"]
    id: str
    """The same for each delivery of an event. Use it to ignore repeated deliveries"""
    source: str
    """Stage and platform, such as `touchstone/prod/123456789012/eu-central-1/touchstone-prod-platform`. IDs are unique in a source only"""
    subject: str
    """Path of the resource, such as `backtests/bt-…`, `models/ema_crossover`, `challenges/ch-…`, `approvals/ap-…`"""
    time: str
    """Time of the change, ISO 8601, UTC"""
    actor: str
    """User who made the change; `platform` when it did itself"""
    datacontenttype: Literal["application/json"]
    sequence: int
    """Order of the events of a subject: later events have higher numbers. Numbers may be missing. Different subjects have no common order"""
    type: Literal["backtest.completed"]
    data: BacktestCompletedEventData


class BacktestCompletedEventData(TypedDict):
    job_id: str
    strategy: str
    experiment_name: str | None
    exchange: str
    timeframe: str
    pairs: list[str]
    result: BacktestResult


class BacktestConfig(TypedDict):
    """Only `strategy` is required. A key that misspells a known key which is not given is rejected with VAL005. Other unknown keys are ignored; the warnings of the job list them."""

    strategy: str
    """Name of a strategy, see GET /api/v1/strategies"""
    exchange: NotRequired[str | None]
    """Exchange of the candles. Default: the configured exchange"""
    trading_mode: NotRequired[Literal["futures", "spot"] | None]
    """`spot`: pairs are `BASE/QUOTE`; no shorts, no leverage, no funding. `futures`: pairs are perpetuals, `BASE/QUOTE:SETTLE`. Default: "futures\""""
    pairs: NotRequired[list[str] | None]
    """`BASE/QUOTE:SETTLE`; `BASE/QUOTE` with trading_mode `spot`. Default: the pairs of the strategy, in spot without `:SETTLE`; with a universe all stored ones"""
    timeframe: NotRequired[Literal["1m", "3m", "5m", "15m", "30m", "1h", "2h", "4h", "6h", "8h", "12h", "1d", "3d", "1w"] | None]
    """Default: the timeframe of the strategy. Others than 1m, 5m, 15m, 1h, 4h, 1d only where the strategy declares them"""
    collect: NotRequired[Literal["never", "if_stale", "always"] | None]
    """Collection of candles before the run. `never`: run on the stored candles and report gaps. `if_stale`: collect when the stored candles do not cover the date range. `always`: always fetch from the exchange. Default: "if_stale\""""
    date_range: NotRequired[BacktestConfigDateRange | None]
    """ISO 8601; without an offset it is UTC. start must be before end"""
    stake_amount: NotRequired[float | Literal["unlimited"] | None]
    """Quote currency per trade, at most the wallet; or `unlimited`: the balance divided by max_open_trades. Default: the stake of the strategy"""
    dry_run_wallet: NotRequired[float | None]
    """Starting wallet, quote currency. Default: 1000"""
    max_open_trades: NotRequired[int | None]
    """Maximum number of open trades. Default: the number of pairs, with a universe its `n`"""
    fee: NotRequired[float | None]
    """Ratio per side. Default: 0.0005"""
    slippage: NotRequired[float | None]
    """Adverse price move of every market fill, as a ratio. Default: 0"""
    slippage_model: NotRequired[BacktestConfigSlippageModel | None]
    """Costs of market fills estimated from candles before the fill, in addition to `slippage`. Without a part: none"""
    leverage: NotRequired[float | None]
    """Default: the leverage of the strategy, else 1"""
    precision: NotRequired[Literal["exchange", "none"] | None]
    """`exchange`: prices and amounts follow the steps and limits of the instruments; orders below the minimum are not placed. `none`: no rounding and no minimum order. Default: `exchange` if the instruments of all pairs are stored, else `none`. Exchange `sim` always runs with `none`"""
    tradable_balance_ratio: NotRequired[float | None]
    """Share of the balance that may be traded. Default: 0.99"""
    available_capital: NotRequired[float | None]
    """Quote currency that may be traded, and the profit of closed trades with it; it replaces tradable_balance_ratio. Default: null, the share of the balance"""
    amend_last_stake_amount: NotRequired[bool | None]
    """Lower the last stake to what is left, where that is enough. Default: false"""
    last_stake_amount_min_ratio: NotRequired[float | None]
    """Least share of the stake that such a trade gets. Default: 0.5"""
    order_types: NotRequired[BacktestConfigOrderTypes | None]
    """A market order fills at the open: its price callback is not called. Default: those of the strategy, else limit"""
    unfilled_timeout: NotRequired[BacktestConfigUnfilledTimeout | None]
    """Age at which an unfilled order is cancelled, minutes. Default: that of the strategy, else 10"""
    ignore_entry_after_candles: NotRequired[int | None]
    """Detail candles of a candle in which its entry signal acts, from the first on; it needs timeframe_detail. null: in all of them. Default: that of the strategy, else null"""
    max_adjustments: NotRequired[int | None]
    """Largest number of additions to a position by `adjustPosition`; 0: none. null: no limit. Default: that of the strategy"""
    position_stacking: NotRequired[bool | None]
    """A pair may have several trades at a time, up to max_open_trades of all pairs. Default: false"""
    margin_mode: NotRequired[Literal["isolated", "cross"] | None]
    """`isolated`: the stake is the margin of a position. `cross`: the account is, less what other positions must keep. Default: "isolated\""""
    params: NotRequired[dict[str, Any] | None]
    """Values of parameters of the strategy. The others keep their defaults"""
    stoploss: NotRequired[float | None]
    """Ratio of the stake. Default: the stop of the strategy"""
    minimal_roi: NotRequired[dict[str, float] | None]
    """Minutes since entry (integer, 0 to 5256000) -> required profit ratio. Default: the table of the strategy"""
    trailing: NotRequired[BacktestConfigTrailing1 | None]
    """Trailing stop. null disables the one of the strategy"""
    protections: NotRequired[list[BacktestConfigProtectionsItem] | None]
    """Rules that lock pairs against entries after losses, with the names and defaults of freqtrade. Default: those of the strategy; an empty list disables them"""
    universe: NotRequired[BacktestConfigUniverse | None]
    """Choose the pairs over time by their volume up to the day before, delisted pairs included. `pairs` are the candidates; without them all stored pairs of the exchange in the quote currency of the strategy are. Default: every pair is traded over the whole range"""
    robustness: NotRequired[BacktestConfigRobustness | None]
    """Further tests of robustness. Default: none"""
    timeframe_detail: NotRequired[Literal["1m", "5m", "15m", "1h", "4h", "1d"] | None]
    """Shorter timeframe that decides the order of events inside a candle. null: none, also over a version that has one. Default: null"""
    max_missing: NotRequired[float | None]
    """Ratio of candles of a series that may be lost in the range. Candles of closed times and without trades do not count. Default: 0.05"""
    fill_model: NotRequired[Literal["freqtrade", "conservative"] | None]
    """`conservative`: of two straight-line paths through each candle of a trade, open, high, low, close and open, low, high, close, the one that leaves the trade worth less at the close. Default: "freqtrade\""""
    seed: NotRequired[int | None]
    """Seed of all random numbers. Default: 0"""
    ml_engine: NotRequired[MlEngine | None]
    """Models that predict each pair. Default: the models that the strategy declares. With `enabled`, any strategy can run with models: its entries then need the probability of `entry_threshold`"""
    signals: NotRequired[str | None]
    """ID of an uploaded file of signals, see POST /api/v1/signals. Only with strategy `signals`"""
    signals_digest: NotRequired[str | None]
    """SHA-256 that the file must have, hex; jobs have it in their configuration"""


class BacktestConfigDateRange(TypedDict):
    """ISO 8601; without an offset it is UTC. start must be before end"""

    start: NotRequired[str | None]
    """Default: 90 days before `end`"""
    end: NotRequired[str | None]
    """Exclusive: the run uses only candles that open before it. Default: the end of the newest stored candle, else now"""


class BacktestConfigOrderTypes(TypedDict):
    """A market order fills at the open: its price callback is not called. Default: those of the strategy, else limit"""

    entry: NotRequired[Literal["limit", "market"] | None]
    exit: NotRequired[Literal["limit", "market"] | None]


class BacktestConfigProtectionsItem(TypedDict):
    method: str


class BacktestConfigRobustness(TypedDict):
    """Further tests of robustness. Default: none"""

    cost_sweep: NotRequired[bool | None]
    """Simulate with costs of 0 to 50 basis points a side and delays of 0 to 2 candles. Default: false"""
    random_entries: NotRequired[float | None]
    """Number of random placements of the trades with which their profit is compared. Default: no test"""
    permutations: NotRequired[float | None]
    """Number of runs over permuted candles with which the profit is compared; each costs as much as a run. Default: no test"""
    capacity: NotRequired[bool | None]
    """Simulate with market impact and growing multiples of wallet and stakes until the profit is gone. Default: false"""


class BacktestConfigSlippageModel(TypedDict):
    """Costs of market fills estimated from candles before the fill, in addition to `slippage`. Without a part: none"""

    spread: NotRequired[Literal["corwin_schultz", "edge"] | None]
    """Estimator of the bid-ask spread, half of which every market fill pays. Default: no spread"""
    spread_days: NotRequired[int | None]
    """Days before the fill from which the spread is estimated. Default: 30"""
    impact: NotRequired[float | None]
    """Coefficient of the square-root impact, usually 0.5 to 1.5: the price moves by it times daily volatility times sqrt(amount / daily volume). Default: no impact"""
    participation: NotRequired[float | None]
    """Largest fill as a share of the volume of the candle before it, such as 0.025. An entry loses the rest, an exit continues in the next candle. Default: orders of any size fill"""


class BacktestConfigTrailing1(TypedDict):
    positive: NotRequired[float | None]
    """Trailing distance once the offset is reached. Default: |stoploss|"""
    offset: NotRequired[float | None]
    """Profit ratio from which `positive` applies. Default: 0"""
    only_offset_is_reached: NotRequired[bool | None]
    """Do not trail before the offset is reached. Default: false"""


class BacktestConfigUnfilledTimeout(TypedDict):
    """Age at which an unfilled order is cancelled, minutes. Default: that of the strategy, else 10"""

    entry: NotRequired[float | None]
    exit: NotRequired[float | None]


class BacktestConfigUniverse(TypedDict):
    """Choose the pairs over time by their volume up to the day before, delisted pairs included. `pairs` are the candidates; without them all stored pairs of the exchange in the quote currency of the strategy are. Default: every pair is traded over the whole range"""

    rule: NotRequired[Literal["top_volume"] | None]
    """`top_volume`: the pairs with the largest volume in quote currency. Default: "top_volume\""""
    n: NotRequired[int | None]
    """Required. Pairs at a time"""
    lookback_days: NotRequired[int | None]
    """Days before a choice whose volumes are added up; a day without candles counts 0. Default: 30"""
    rebalance: NotRequired[Literal["daily", "weekly", "monthly"] | None]
    """When the pairs are chosen again, at 00:00 UTC: every day, on Mondays, or on the first of a month. Default: "weekly\""""
    min_age_days: NotRequired[int | None]
    """Days since the first stored candle from which a pair may be chosen. Default: 0"""
    delisting_haircut: NotRequired[float | None]
    """Ratio of the last close by which positions in a pair that was delisted within the run are closed below it, or above it for shorts; 1: a long loses everything. Default: 0.05"""
    candidates: NotRequired[list[str] | None]
    """Pairs to choose from, in place of `pairs`: the configuration of a job names them, so that a repeated run chooses from all of them"""


class BacktestCurve(TypedDict):
    """Columns of equal length"""

    resolution: Literal["day", "candle"]
    """Resolution of the points. `day` although `candle` was asked for: only days are stored, because an earlier release ran the backtest"""
    step_seconds: int
    """Seconds between two points that are not decimated"""
    decimated: bool
    """True when the range has more points than returned. Then the range is divided into buckets, and the points of each bucket with the smallest and largest value of each column are returned, with the first and last point of the range"""
    total: int
    """Points in the range before decimation"""
    times: list[int]
    """Unix seconds, ascending: start of the UTC day, or open time of the candle"""
    equity: list[float]
    """At the end of the day or candle, open positions marked to market, quote currency. Of candles: rounded to a millionth of the wallet"""
    drawdown: list[float]
    """Percent below the running maximum since the start of the run, zero or negative"""
    market: list[float] | None
    """Value of the wallet if it had been invested in all pairs in equal parts at their first candle, without costs. null: not stored, because an earlier release ran the backtest"""


class BacktestFailedEvent(TypedDict):
    """The backtest has ended with an error"""

    specversion: Literal["1.0"]
    id: str
    """The same for each delivery of an event. Use it to ignore repeated deliveries"""
    source: str
    """Stage and platform, such as `touchstone/prod/123456789012/eu-central-1/touchstone-prod-platform`. IDs are unique in a source only"""
    subject: str
    """Path of the resource, such as `backtests/bt-…`, `models/ema_crossover`, `challenges/ch-…`, `approvals/ap-…`"""
    time: str
    """Time of the change, ISO 8601, UTC"""
    actor: str
    """User who made the change; `platform` when it did itself"""
    datacontenttype: Literal["application/json"]
    sequence: int
    """Order of the events of a subject: later events have higher numbers. Numbers may be missing. Different subjects have no common order"""
    type: Literal["backtest.failed"]
    data: BacktestFailedEventData


class BacktestFailedEventData(TypedDict):
    job_id: str
    strategy: str
    experiment_name: str | None
    exchange: str
    timeframe: str
    pairs: list[str]
    error: BacktestFailedEventDataError


class BacktestFailedEventDataError(TypedDict):
    code: str
    message: str


class BacktestJob(TypedDict):
    job_id: str
    """Shape `bt-<id>`"""
    status: Literal["pending", "running", "completed", "failed", "cancelled"]
    result: BacktestResult | None
    """Present when completed"""
    error: str | None
    """Present when failed"""
    created_at: str
    """ISO 8601, UTC"""
    updated_at: str
    """ISO 8601, UTC"""
    strategy: str
    experiment_name: str | None
    priority: int
    queue: QueueState | None
    """Place in the queue of a pending job, or of a running one that waits for another run; null for others"""
    lane: Literal["backtest", "fast"]
    """`backtest`: runs as a Fargate task, in local mode as a process; `fast`: a short backtest that runs in a function, and on Fargate if that fails"""
    notes: str
    """Notes of users; empty without any"""
    tags: list[str]
    pinned: bool
    """A user has marked the job to find it again"""
    error_code: str | None
    registered: BacktestJobRegistered1 | None
    """Registered version of the run; null without one"""
    found_by: FoundBy | None
    """Hyperopt job whose best parameters the run was made from; null without one"""
    session: str | None
    """Session of the submission, from its header `Touchstone-Session`; null without one"""
    progress: float | None
    """Completed share, 0 to 1; null for a failed or cancelled job"""
    stalled: str | None
    """Local mode: position of a running job without progress for one minute, such as `no progress for 60 s in customExit of ETH/USDT:USDT`; else null"""
    started_at: str | None
    finished_at: str | None
    attempt: int
    """Number of times a task has claimed the job"""
    config: BacktestJobConfig
    warnings: list[str]
    collection: BacktestJobCollection1 | None
    """Outcome of the data collection that preceded the run; null when none was needed"""
    timing: BacktestJobTiming1 | None
    """Present when completed"""
    durations: JobDurations
    look_ahead: LookAhead | None
    """Present when completed"""
    trials: TrialRecord | None
    """Trials of the owner when the job completed, and the Sharpe ratio deflated by them; null until then, and for jobs of earlier versions. Lists have it with the trials of now: `deflation`"""
    kept: bool
    """The platform never deletes the job: a user keeps it, it is shared, or a registered version has it as evidence"""
    expires_at: str | None
    """Earliest time at which the platform deletes the job, or its results or trials; null: never, or not known before its end"""
    results_deleted: bool
    """Its results or trials were deleted; its summary is stored"""


class BacktestJobCollection1(TypedDict):
    status: Literal["completed", "failed"]
    message: str
    unlisted: NotRequired[list[str]]
    """Symbols that the exchange does not list; absent when it lists all"""
    at: str
    """ISO 8601, UTC"""


class BacktestJobConfig(TypedDict):
    strategy: str
    exchange: str
    trading_mode: NotRequired[Literal["spot"]]
    """Absent: futures"""
    pairs: list[str]
    """With `universe`: every pair that was ever in; until the run has ended, and where it failed, the candidates"""
    universe: NotRequired[Universe]
    """Absent: all pairs are traded over the whole range"""
    timeframe: Literal["1m", "3m", "5m", "15m", "30m", "1h", "2h", "4h", "6h", "8h", "12h", "1d", "3d", "1w"]
    date_range: BacktestJobConfigDateRange
    stake_amount: float | Literal["unlimited"]
    dry_run_wallet: float
    max_open_trades: int
    fee: float
    slippage: float
    slippage_model: NotRequired[SlippageModel]
    """Absent: only `slippage`"""
    leverage: float
    tradable_balance_ratio: NotRequired[float]
    """Absent: 0.99"""
    available_capital: NotRequired[float]
    """Quote currency that may be traded; absent: tradable_balance_ratio decides"""
    amend_last_stake_amount: NotRequired[bool]
    """Absent: false"""
    last_stake_amount_min_ratio: NotRequired[float]
    """Absent: 0.5"""
    order_types: NotRequired[BacktestJobConfigOrderTypes]
    """Absent: limit orders"""
    unfilled_timeout: NotRequired[BacktestJobConfigUnfilledTimeout]
    """Minutes per side; absent: the one of the strategy for both"""
    ignore_entry_after_candles: NotRequired[int]
    """Detail candles in which an entry signal acts; absent: all"""
    max_adjustments: NotRequired[int | None]
    """Largest number of additions; null: no limit; absent: that of the strategy"""
    position_stacking: NotRequired[bool]
    """Absent: one trade per pair"""
    margin_mode: NotRequired[Literal["isolated", "cross"]]
    """Absent: isolated"""
    params: dict[str, float | str | bool]
    stoploss: float
    minimal_roi: dict[str, float]
    """Minutes since entry -> required profit ratio; -1 closes at any profit"""
    trailing: BacktestJobConfigTrailing1 | None
    protections: NotRequired[list[Protection]]
    """Absent without any"""
    timeframe_detail: Literal["1m", "5m", "15m", "1h", "4h", "1d"] | None
    max_missing: NotRequired[float]
    """Ratio of candles of a series that may be lost. Absent: 0.05"""
    fill_model: Literal["freqtrade", "conservative"]
    seed: int
    precision: NotRequired[Literal["exchange", "none"]]
    """`exchange`: prices and amounts follow the steps and limits of the instruments; `none`: no rounding and no minimum order. Default: "none\""""
    robustness: NotRequired[RobustnessTests]
    """Further tests; absent without any"""
    ml_engine: NotRequired[ResolvedMlEngine]
    """Absent in a run without machine learning"""
    signals: NotRequired[str]
    """Uploaded file of signals; absent without one"""
    signals_digest: NotRequired[str]
    """SHA-256 of the file of `signals`, hex"""
    collect: Literal["never", "if_stale", "always"]


class BacktestJobConfigDateRange(TypedDict):
    start: str
    """ISO 8601, UTC"""
    end: str
    """Exclusive: the run uses only candles that open before it"""


class BacktestJobConfigOrderTypes(TypedDict):
    """Absent: limit orders"""

    entry: Literal["limit", "market"]
    exit: Literal["limit", "market"]


class BacktestJobConfigTrailing1(TypedDict):
    positive: NotRequired[float]
    offset: NotRequired[float]
    only_offset_is_reached: NotRequired[bool]


class BacktestJobConfigUnfilledTimeout(TypedDict):
    """Minutes per side; absent: the one of the strategy for both"""

    entry: float
    exit: float


class BacktestJobList(TypedDict):
    items: list[BacktestJobSummary]
    next_cursor: str | None
    """Opaque; send it as `cursor` with the same filters. null ends the iteration"""
    searched: BacktestJobListSearched1 | None
    """Reach of `q`, `sort`, `pinned` and of the filters that cover the newest jobs; null without them: the list has all jobs"""
    count: BacktestJobListCount1 | None
    """Jobs on all pages that the caller may see; null unless requested. Ends at 1,000"""


class BacktestJobListCount1(TypedDict):
    value: int
    relation: Literal["exact", "at_least"]
    """`at_least`: more jobs than `value` may pass the filters"""


class BacktestJobListSearched1(TypedDict):
    jobs: int
    """Jobs that were searched: the newest ones"""
    complete: bool
    """false: older jobs that pass the other filters exist and were not searched"""


class BacktestJobRegistered1(TypedDict):
    model_name: str
    version: str
    container_image_uri: str
    image_digest: str | None
    strategy_digest: str


class BacktestJobSummary(TypedDict):
    job_id: str
    """Shape `bt-<id>`"""
    status: Literal["pending", "running", "completed", "failed", "cancelled"]
    result: BacktestResult | None
    """Present when completed"""
    error: str | None
    """Present when failed"""
    created_at: str
    """ISO 8601, UTC"""
    updated_at: str
    """ISO 8601, UTC"""
    strategy: str
    experiment_name: str | None
    priority: int
    queue: QueueState | None
    """Place in the queue of a pending job, or of a running one that waits for another run; null for others"""
    lane: Literal["backtest", "fast"]
    """`backtest`: runs as a Fargate task, in local mode as a process; `fast`: a short backtest that runs in a function, and on Fargate if that fails"""
    notes: str
    """Notes of users; empty without any"""
    tags: list[str]
    pinned: bool
    """A user has marked the job to find it again"""
    owner: str
    session: str | None
    """Session of the submission, from its header `Touchstone-Session`; null without one"""
    exchange: str
    pairs: list[str]
    timeframe: Literal["1m", "3m", "5m", "15m", "30m", "1h", "2h", "4h", "6h", "8h", "12h", "1d", "3d", "1w"]
    started_at: str | None
    """null: not started"""
    finished_at: str | None
    """null: not finished"""
    date_range: BacktestJobSummaryDateRange
    progress: float | None
    """Completed share, 0 to 1; null for a failed or cancelled job"""
    sparkline: list[float] | None
    """Equity at even distances over the run, quote currency: the first value is the starting wallet, the last one the final equity. null until completed, and for jobs of earlier versions"""
    params: dict[str, float | str | bool]
    """Values of all parameters of the strategy"""
    look_ahead: Literal["certified", "sampled", "not_checked", "found"] | None
    """State of the look-ahead bias check, of which the job has the rest. `found`: the metrics cannot be earned; such a run comes after all others in every order of a metric and is never the best. null until completed"""
    deflated_sharpe_ratio: float | None
    """That of `deflation`; null without one"""
    deflation: Deflation | None
    """The Sharpe ratio deflated by the owner's trials of now, where `trials` of the job has those of its completion. null until completed, and for jobs of earlier versions"""


class BacktestJobSummaryDateRange(TypedDict):
    start: str
    """ISO 8601, UTC"""
    end: str
    """Exclusive: the run uses only candles that open before it"""


class BacktestJobTiming1(TypedDict):
    load_ms: float
    indicators_ms: float
    simulate_ms: float
    report_ms: float
    write_ms: float
    total_ms: float
    candles: int
    peak_memory_mb: float
    processor_ms: NotRequired[BacktestJobTiming1ProcessorMs]
    """Processor time of the task up to its last write, with the parts that checked the result; absent in jobs of earlier versions"""


class BacktestJobTiming1ProcessorMs(TypedDict):
    """Processor time of the task up to its last write, with the parts that checked the result; absent in jobs of earlier versions"""

    total: float
    robustness: float
    look_ahead: float


class BacktestPosition(TypedDict):
    position: int
    """Its number in the run, in the order of opening; that of its trades"""
    group: str
    pairs: list[str]
    """Of its trades, in the order of opening"""
    opened_at: str
    """Of the trade that was opened first"""
    closed_at: str
    """Of the trade that was closed last"""
    legs: int
    """Number of its trades"""
    trades: list[int]
    """Their ids, in the order of closing"""
    stake: float
    """Sum of the stakes"""
    profit: float
    """Sum of the profits"""
    profit_pct: float
    """Profit in percent of the stake"""


class BacktestPositions(TypedDict):
    items: list[BacktestPosition]
    """In the order of opening"""
    page: int
    pages: int
    """Pages of this limit; 0 without matching trades"""
    total: int
    """Trades, or positions, that match the filters"""


class BacktestReportData(TypedDict):
    schema_version: Literal[1]
    strategy: BacktestReportDataStrategy
    settings: ReportSettings
    warnings: list[str]
    metrics: Metrics
    undefined_metrics: NotRequired[UndefinedMetrics]
    """The metrics that are null, and why; absent in reports of earlier engines, like short_run"""
    short_run: NotRequired[bool]
    """The run has less than 90 days: cagr_pct and calmar_ratio extrapolate it"""
    tables: ReportTables
    periods: ReportPeriods
    drawdowns: ReportDrawdowns
    costs: ReportCosts
    counters: ReportCounters
    locks: NotRequired[BacktestReportDataLocks]
    """Times without entries, made by protections; absent in a run without protections"""
    slippage: NotRequired[SlippageReport]
    """Absent in a run without a slippage model"""
    fill_model: FillModelComparison
    data: list[ReportPairData]
    robustness: NotRequired[ReportRobustness]
    """Dependence on costs, market and luck; absent in reports of earlier engines"""
    informative: NotRequired[list[ReportInformative]]
    """Candles of other pairs and timeframes that the strategy read; absent when there are none but those computed from the run's own candles"""
    universe: NotRequired[ReportUniverse]
    """Which pairs were in when; absent in a run without a universe"""
    models: NotRequired[ReportModels]
    """Absent in a run without the ML engine"""
    assumptions: NotRequired[ReportAssumptions]
    """Absent in reports of engines before 2.0.0"""
    biases: list[BacktestReportDataBiasesItem]
    notation: dict[str, str]
    """Symbols of the formulas"""
    definitions: dict[str, MetricDefinition]
    """Every metric by its name, every other number as part.name: label, unit, family and formula"""
    provenance: Provenance
    job_id: str
    trades: TradesPage
    timing: BacktestReportDataTiming
    look_ahead: LookAhead


class BacktestReportDataBiasesItem(TypedDict):
    effect: Literal["optimistic", "pessimistic", "neutral"]
    text: str


class BacktestReportDataLocks(TypedDict):
    """Times without entries, made by protections; absent in a run without protections"""

    total: int
    newest: list[Lock]


class BacktestReportDataStrategy(TypedDict):
    name: str
    description: str


class BacktestReportDataTiming(TypedDict):
    load_ms: float
    indicators_ms: float
    simulate_ms: float
    report_ms: float
    write_ms: float
    total_ms: float
    candles: int
    peak_memory_mb: float
    processor_ms: NotRequired[BacktestReportDataTimingProcessorMs]
    """Processor time of the task up to its last write, with the parts that checked the result; absent in jobs of earlier versions"""


class BacktestReportDataTimingProcessorMs(TypedDict):
    """Processor time of the task up to its last write, with the parts that checked the result; absent in jobs of earlier versions"""

    total: float
    robustness: float
    look_ahead: float


class BacktestRequest(TypedDict):
    config: BacktestConfig
    experiment_name: NotRequired[str | None]
    """Name for filtering the list"""
    priority: NotRequired[int | None]
    """Order in the queue. From 8 the run uses on-demand capacity. Default: 5"""
    model_version: NotRequired[str | int | None]
    """Registered version of the strategy to run: a number, `latest` or `champion`. Its configuration replaces the defaults. In AWS it runs in its registered image"""
    hyperopt_job_id: NotRequired[str | None]
    """Completed hyperopt job of the strategy whose best parameters to run. Its configuration replaces the defaults. A version registered from the backtest records the number of trials"""


class BacktestResult(TypedDict):
    """The first nine numbers are always finite. `definitions` of the report holds the formulas"""

    total_trades: int
    winning_trades: int
    """Trades with a profit above 0; draws count in neither"""
    losing_trades: int
    total_profit: float
    """Quote currency, after fees and funding"""
    total_profit_pct: float
    """Percent of the starting wallet"""
    sharpe_ratio: float
    """Mean / population standard deviation of the daily equity returns (open positions marked to market), times sqrt(365); 0 when undefined, see `undefined_metrics`"""
    profit_factor: float
    """Sum of wins over sum of losses; 999 without losses, 0 without wins and losses"""
    win_rate: float
    """Percent of all trades"""
    max_drawdown_pct: float
    """Percent, zero or positive: the largest fall of the daily equity below its running maximum"""
    draws: int
    final_balance: float
    sortino_ratio: float | None
    """Mean / downside deviation of the daily equity returns, times sqrt(365); null when undefined"""
    calmar_ratio: float | None
    """cagr_pct / max_drawdown_pct; null when undefined"""
    cagr_pct: float | None
    """Compound annual growth rate, percent: the final balance over the wallet, to the power of 365 / backtest_days. Under 30 days it is; null when undefined"""
    expectancy: float | None
    """Mean profit per trade, quote currency; null when undefined"""
    sqn: float | None
    """System quality number; null when undefined"""
    exposure_pct: float | None
    """Percentage of candles that end with an open trade; null when undefined"""
    market_change_pct: float | None
    """Mean change of the price of the pairs, percent; null when undefined"""
    fees: float
    """Paid, quote currency"""
    funding: float
    """Positive: received, quote currency"""
    trade_stats: BacktestResultTradeStats
    """Moments of profit_pct over all trades"""
    backtest_days: NotRequired[float]
    """From the open of the first traded candle to the close of the last, a fraction; absent in results of earlier versions, like the two below"""
    short_run: NotRequired[bool]
    """The run has less than 90 days: cagr_pct and calmar_ratio extrapolate it"""
    undefined_metrics: NotRequired[UndefinedMetrics]


class BacktestResultTradeStats(TypedDict):
    """Moments of profit_pct over all trades"""

    n: int
    mean: float | None
    variance: float | None
    """Sample variance, divisor n - 1"""


class BacktestStartedEvent(TypedDict):
    """A task has claimed the backtest"""

    specversion: Literal["1.0"]
    id: str
    """The same for each delivery of an event. Use it to ignore repeated deliveries"""
    source: str
    """Stage and platform, such as `touchstone/prod/123456789012/eu-central-1/touchstone-prod-platform`. IDs are unique in a source only"""
    subject: str
    """Path of the resource, such as `backtests/bt-…`, `models/ema_crossover`, `challenges/ch-…`, `approvals/ap-…`"""
    time: str
    """Time of the change, ISO 8601, UTC"""
    actor: str
    """User who made the change; `platform` when it did itself"""
    datacontenttype: Literal["application/json"]
    sequence: int
    """Order of the events of a subject: later events have higher numbers. Numbers may be missing. Different subjects have no common order"""
    type: Literal["backtest.started"]
    data: BacktestStartedEventData


class BacktestStartedEventData(TypedDict):
    job_id: str
    strategy: str
    experiment_name: str | None
    exchange: str
    timeframe: str
    pairs: list[str]


class BacktestSubmission(TypedDict):
    job_id: str
    """Shape `bt-<id>`"""
    status: Literal["pending", "running", "completed", "failed", "cancelled"]
    created_at: str
    """ISO 8601, UTC"""
    warnings: list[str]
    """Ignored parts of the request, such as unknown keys"""


BacktestTrades: TypeAlias = "BacktestTradesItem1 | BacktestTradesItem2"
"""`items` or `columns`, as `format` asks"""


class BacktestTradesItem1(TypedDict):
    items: list[Trade]
    page: int
    pages: int
    """Pages of this limit; 0 without matching trades"""
    total: int
    """Trades, or positions, that match the filters"""


class BacktestTradesItem2(TypedDict):
    columns: TradeColumns
    page: int
    pages: int
    """Pages of this limit; 0 without matching trades"""
    total: int
    """Trades, or positions, that match the filters"""


class BenchmarkAttribution(TypedDict):
    benchmark: Literal["equal_weight", "btc"]
    """Buying and holding all pairs in equal parts, or bitcoin, with fees, slippage and funding"""
    pair: str | None
    """Pair of bitcoin; null for all pairs, or without one"""
    source: NotRequired[BenchmarkAttributionSource]
    """Stored candles of bitcoin that the run does not trade; absent for its pairs"""
    days: int | None
    """Daily returns of the regression: of the days on which the benchmark has candles. With candles on less than 90 % of the days of the run there is none"""
    lag: int | None
    """Lags of the Newey-West errors"""
    benchmark_return_pct: float | None
    alpha_pct: float | None
    """Return a year that the benchmark does not explain"""
    alpha_low_pct: float | None
    """Lower end of the 95 % interval"""
    alpha_high_pct: float | None
    """Upper end of the 95 % interval"""
    alpha_p_value: float | None
    beta: float | None
    beta_low: float | None
    beta_high: float | None
    information_ratio: float | None
    up_capture_pct: float | None
    down_capture_pct: float | None
    beta_neutral_sharpe_ratio: float | None
    reason: str | None
    """Why the figures are null; null: they are known"""


class BenchmarkAttributionSource(TypedDict):
    """Stored candles of bitcoin that the run does not trade; absent for its pairs"""

    timeframe: str
    """Of the stored candles"""
    candles: int
    """Daily candles that were computed of them"""


class BreakEven(TypedDict):
    cost: float | None
    """Cost per side, as a share of the value of a fill, at which the profit is 0"""
    paid: float
    """Fee and slippage per side of this run; with a slippage model the mean of its fills"""
    method: Literal["closed_form", "simulated", "same_trades"] | None
    """`closed_form`: exact, as costs cannot change these trades; `simulated`: found by further simulations; `same_trades`: the trades are held as they were"""
    simulations: int
    """Simulations that were run for it"""
    reason: str | None
    """Why the figures are null; null: they are known"""


class BrokenStrategyFile(TypedDict):
    """Invalid strategy file"""

    file: str
    """Name in the strategy folder"""
    line: int | None
    """Line in that file, from 1; null without a position"""
    error: str
    strategy: str | None
    """Strategy that the file defined before or probably defines; null when unknown"""


class Candle(TypedDict):
    timestamp: str
    """Open time, ISO 8601, UTC"""
    open: float
    high: float
    low: float
    close: float
    volume: float
    """Base currency"""


class CandleColumns(TypedDict):
    """Closed candles as columns of equal length"""

    exchange: str
    symbol: str
    timeframe: str
    source_timeframe: str
    """Timeframe of the stored candles; shorter than `timeframe` when the candles were computed"""
    count: int
    """Candles: the length of each column"""
    times: list[int]
    """Open times, Unix seconds, ascending"""
    open: list[float]
    """First price of each candle"""
    high: list[float]
    """Highest prices"""
    low: list[float]
    """Lowest prices"""
    close: list[float]
    """Last price of each candle"""
    volume: list[float]
    """Traded amounts, base currency"""
    next_from: str | None
    """Send it as `from` for the following page; null at the end, and without `from`"""
    next_to: str | None
    """Send it as `to` for the preceding page; null at the beginning, and with `from`"""
    incomplete_from: str | None
    """Open time of a computed candle at the end of the range that is left out, because not all of its time is stored; null when none is"""


class Capacity(TypedDict):
    impact: float
    """Coefficient of the impact"""
    steps: list[CapacityStepsItem]
    aum_half: float | None
    """Wallet at which the Sharpe ratio is half of that with impact at the run's own wallet"""
    aum_zero: float | None
    """Wallet at which the profit is 0"""
    pair: str | None
    """The pair that binds: with the largest cost of impact at the last multiple"""
    impact_share_pct: float | None
    """Part of that pair in the cost of impact of all pairs"""
    reason: str | None
    """Why the figures are null; null: they are known"""


class CapacityStepsItem(TypedDict):
    multiple: int
    """Multiple of the wallet and the stakes of the run"""
    aum: float
    """Wallet at this multiple"""
    total_profit_pct: float
    sharpe_ratio: float | None
    total_trades: int
    impact_cost_pct: float
    """Cost of the impact of all fills, of the wallet"""
    capped_entries: int
    """Entries above the limit of participation"""


class CatalogStrategy(TypedDict):
    """A version in Production or Staging."""

    name: str
    model_name: str
    version: str
    stage: Literal["Production", "Staging"]
    description: str
    exchange: str
    pairs: list[str]
    timeframe: str
    ml_engine: CatalogStrategyMlEngine
    metrics: CatalogStrategyMetrics
    backtest_run_id: str
    owner: str
    tags: list[str]
    validation_status: Literal["pending", "passed", "failed", "skipped"]
    look_ahead: NotRequired[Literal["certified", "sampled", "not_checked", "found"]]
    """Result of the look-ahead bias check. Default: "not_checked\""""
    waivers: list[Waiver]
    created_at: str
    """ISO 8601, UTC"""
    updated_at: str
    """ISO 8601, UTC"""
    promoted_at: str | None
    active_challenge_id: str | None
    """Active challenge of the model"""
    same_run_as: SameRun | None


class CatalogStrategyList(TypedDict):
    items: list[CatalogStrategy]
    next_cursor: str | None
    """Opaque; send it as `cursor` with the same filters. null ends the iteration"""
    total: int
    """Items that pass the filters, on all pages"""
    limit: int
    offset: int
    """Items before this page"""


class CatalogStrategyMetrics(TypedDict):
    total_trades: int
    total_profit_pct: float
    sharpe_ratio: float
    profit_factor: float
    win_rate: float
    max_drawdown_pct: float
    undefined_metrics: NotRequired[UndefinedMetrics]
    """Absent in rows of earlier versions"""


class CatalogStrategyMlEngine(TypedDict):
    enabled: bool
    model_type: str


class Challenge(TypedDict):
    challenge_id: str
    model_name: str
    champion_version: str
    challenger_version: str
    status: Literal["active", "completed", "rolled_back", "expired"]
    canary_stage: Literal["stage_1", "stage_2", "stage_3", "stage_4"]
    traffic_split: list[float]
    """Traffic share of the champion, then of the challenger; the sum is 1"""
    next_stage: ChallengeNextStage1 | None
    """Conditions of the next canary stage; null in the last stage"""
    outcome: Literal["challenger_wins", "champion_wins", "champion_kept", "promoted_manually"] | None
    reason: Literal["harm", "max_drawdown", "errors", "manual", "champion_replaced", "champion_stopped"] | None
    """Reason of a rollback, and of a winner that was abandoned because another version entered Production"""
    hold: ChallengeHold1 | None
    """Reason why the challenge does not advance automatically"""
    enable_canary: bool
    min_trades: int
    effective_min_trades: int
    min_hours: int
    """Minimum hours before the verdict"""
    min_assignments: int
    """Assignments of each variant before the verdict"""
    max_duration_hours: int
    max_drawdown_pct: float | None
    max_errors: int | None
    approval_stages: list[Literal["stage_1", "stage_2", "stage_3", "stage_4"]]
    analysis_unit: Literal["trade", "assignment_key"]
    on_rollback: Literal["finish", "close"]
    auto_promote: bool
    require_assignment: bool
    champion_trades: int
    """Closed trades that are analyzed"""
    challenger_trades: int
    champion_errors: int
    challenger_errors: int
    challenger_drawdown_pct: float
    """Maximum loss of the closed trades since a peak, percentage points"""
    misassigned_trades: int
    unassigned_trades: int
    """Without an assigned key, where one is required"""
    late_trades: int
    """Opened before the start, or logged after the end"""
    created_by: str
    created_at: str
    """ISO 8601, UTC"""
    updated_at: str
    """ISO 8601, UTC"""
    ends_at: str
    """ISO 8601, UTC"""
    ended_at: str | None
    promoted_at: str | None
    promotion_rejected: ChallengePromotionRejected1 | None
    """Reason why the winner was not promoted automatically: an approver must promote it"""
    warnings: list[str]


class ChallengeAdvancedEvent(TypedDict):
    """The challenger receives a larger share of the traffic"""

    specversion: Literal["1.0"]
    id: str
    """The same for each delivery of an event. Use it to ignore repeated deliveries"""
    source: str
    """Stage and platform, such as `touchstone/prod/123456789012/eu-central-1/touchstone-prod-platform`. IDs are unique in a source only"""
    subject: str
    """Path of the resource, such as `backtests/bt-…`, `models/ema_crossover`, `challenges/ch-…`, `approvals/ap-…`"""
    time: str
    """Time of the change, ISO 8601, UTC"""
    actor: str
    """User who made the change; `platform` when it did itself"""
    datacontenttype: Literal["application/json"]
    sequence: int
    """Order of the events of a subject: later events have higher numbers. Numbers may be missing. Different subjects have no common order"""
    type: Literal["challenge.advanced"]
    data: ChallengeAdvancedEventData


class ChallengeAdvancedEventData(TypedDict):
    challenge_id: str
    status: Literal["active", "completed", "rolled_back", "expired"]
    """Status after the change"""
    outcome: Literal["challenger_wins", "champion_wins", "champion_kept", "promoted_manually"] | None
    canary_stage: Literal["stage_1", "stage_2", "stage_3", "stage_4"]
    reason: str | None


class ChallengeEvaluation(TypedDict):
    challenge_id: str
    status: Literal["active", "completed", "rolled_back", "expired"]
    recommendation: Literal["PROMOTE_CHALLENGER", "KEEP_CHAMPION", "ROLLBACK", "CONTINUE"]
    """Stored when a trade is logged or the challenge ends, never by a read"""
    champion_mean: float
    """Profit of a trade in percent, weighted over the stages"""
    challenger_mean: float
    improvement_pct: float
    p_value: float
    """Two-sided; it may be looked at after every trade"""
    is_significant: bool
    """`p_value` is below 0.05"""
    p_value_method: Literal["welch", "permutation", "always_valid"]
    p_value_fixed: float
    """p-value of the fixed-sample test, valid for a single look"""
    confidence_interval: list[float] | None
    """95 % confidence sequence of the difference of the means; null without data"""
    raw: ChallengeEvaluationRaw
    """Means over all stages as one"""
    criteria: list[ChallengeEvaluationCriteriaItem]
    """All must pass, and all `conditions` be met, before the challenger is recommended"""
    conditions: ChallengeEvaluationConditions
    """Conditions of the verdict: closed trades and assignments of the variant that has fewer, and hours since the creation. All must be met"""
    champion_version: str
    challenger_version: str
    champion_trades: int
    challenger_trades: int
    open_trades: ChallengeEvaluationOpenTrades
    errors: ChallengeEvaluationErrors
    unrealised: ChallengeEvaluationUnrealised
    """Unrealized profit of the open trades. It is part of the last look at the end of the challenge"""
    analysis_unit: Literal["trade", "assignment_key"]
    clusters: ChallengeEvaluationClusters1 | None
    """Keys with a closed trade that counts; null when trades are compared one by one"""
    assignments: ChallengeEvaluationAssignments
    min_trades: int
    effective_min_trades: int
    srm: ChallengeEvaluationSrm
    """Sample ratio mismatch check of the assignments"""
    planned_look: ChallengeEvaluationPlannedLook1 | None
    """When both variants first had their trades"""
    canary_stage: Literal["stage_1", "stage_2", "stage_3", "stage_4"]
    traffic_split: list[float]
    warnings: list[str]
    minimum_detectable_improvement_pct: float | None
    """Minimum detectable effect with a power of 80 %; null without a baseline"""
    trades_needed: float | None
    """Trades of each variant needed to detect an improvement of 10 %"""
    evaluated_at: str
    """ISO 8601, UTC"""


class ChallengeEvaluationAssignments(TypedDict):
    champion: int
    challenger: int


class ChallengeEvaluationClusters1(TypedDict):
    champion: int
    challenger: int


class ChallengeEvaluationConditions(TypedDict):
    """Conditions of the verdict: closed trades and assignments of the variant that has fewer, and hours since the creation. All must be met"""

    trades: ChallengeEvaluationConditionsTrades
    assignments: ChallengeEvaluationConditionsAssignments
    hours: ChallengeEvaluationConditionsHours


class ChallengeEvaluationConditionsAssignments(TypedDict):
    value: float
    """Current value"""
    needed: float
    met: bool


class ChallengeEvaluationConditionsHours(TypedDict):
    value: float
    """Current value"""
    needed: float
    met: bool


class ChallengeEvaluationConditionsTrades(TypedDict):
    value: float
    """Current value"""
    needed: float
    met: bool


class ChallengeEvaluationCriteriaItem(TypedDict):
    name: str
    operator: Literal["<", ">", "<=", ">="]
    threshold: float
    value: float
    passed: bool


class ChallengeEvaluationErrors(TypedDict):
    champion: int
    challenger: int


class ChallengeEvaluationList(TypedDict):
    items: list[ChallengeEvaluationStep]
    next_cursor: str | None
    """Opaque; send it as `cursor` with the same filters. null ends the iteration"""
    current: CurrentChallengeEvaluation


class ChallengeEvaluationOpenTrades(TypedDict):
    champion: int
    challenger: int


class ChallengeEvaluationPlannedLook1(TypedDict):
    at: str
    """ISO 8601, UTC"""
    champion_trades: int
    challenger_trades: int
    p_value: float
    p_value_method: Literal["welch", "permutation", "always_valid"]
    improvement_pct: float


class ChallengeEvaluationRaw(TypedDict):
    """Means over all stages as one"""

    champion_mean: float
    challenger_mean: float


class ChallengeEvaluationSrm(TypedDict):
    """Sample ratio mismatch check of the assignments"""

    p_value: float
    status: Literal["healthy", "mismatch", "no_assignments"]


class ChallengeEvaluationStep(TypedDict):
    sequence: int
    """From 1, in the order of time"""
    evaluated_at: str
    """ISO 8601, UTC"""
    status: Literal["active", "completed", "rolled_back", "expired"]
    canary_stage: Literal["stage_1", "stage_2", "stage_3", "stage_4"]
    traffic_split: list[float]
    """Traffic share of the champion, then of the challenger; the sum is 1"""
    champion_trades: int
    """Closed trades that are analyzed"""
    challenger_trades: int
    difference: float
    """Mean profit of a trade of the challenger minus that of the champion, percentage points, weighted over the stages"""
    confidence_interval: list[float] | None
    """95 % confidence sequence of `difference`; null without data"""
    improvement_pct: float
    """`difference` in percent of the mean of the champion"""
    p_value: float
    """Two-sided"""
    p_value_method: Literal["welch", "permutation", "always_valid"]
    equity: ChallengeEvaluationStepEquity
    """Sum of the profits of the closed trades of each variant, percentage points, without compounding"""
    mean: ChallengeEvaluationStepMean
    """Equity per trade: mean profit of the closed trades of each variant so far, percent; null without trades"""


class ChallengeEvaluationStepEquity(TypedDict):
    """Sum of the profits of the closed trades of each variant, percentage points, without compounding"""

    champion: float
    challenger: float


class ChallengeEvaluationStepMean(TypedDict):
    """Equity per trade: mean profit of the closed trades of each variant so far, percent; null without trades"""

    champion: float | None
    challenger: float | None


class ChallengeEvaluationUnrealised(TypedDict):
    """Unrealized profit of the open trades. It is part of the last look at the end of the challenge"""

    champion: ChallengeEvaluationUnrealisedChampion
    challenger: ChallengeEvaluationUnrealisedChallenger


class ChallengeEvaluationUnrealisedChallenger(TypedDict):
    open: int
    marked: int
    """Open trades with an unrealized profit"""
    mean_pct: float | None


class ChallengeEvaluationUnrealisedChampion(TypedDict):
    open: int
    marked: int
    """Open trades with an unrealized profit"""
    mean_pct: float | None


class ChallengeEvent(TypedDict):
    sequence: int
    at: str
    """ISO 8601, UTC"""
    actor: str
    """User ID; `platform` for automatic actions"""
    action: Literal["create", "advance", "hold", "resume", "planned_look", "complete", "expire", "roll_back", "promote", "promotion_rejected", "keep_champion"]
    status: Literal["active", "completed", "rolled_back", "expired"]
    """After it"""
    outcome: Literal["challenger_wins", "champion_wins", "champion_kept", "promoted_manually"] | None
    canary_stage: Literal["stage_1", "stage_2", "stage_3", "stage_4"]
    reason: str | None
    warnings: list[str]
    correlation_id: str | None


class ChallengeEventList(TypedDict):
    items: list[ChallengeEvent]
    next_cursor: str | None
    """Opaque; send it as `cursor` with the same filters. null ends the iteration"""


class ChallengeExpiredEvent(TypedDict):
    """The challenge reached its maximum duration without a verdict"""

    specversion: Literal["1.0"]
    id: str
    """The same for each delivery of an event. Use it to ignore repeated deliveries"""
    source: str
    """Stage and platform, such as `touchstone/prod/123456789012/eu-central-1/touchstone-prod-platform`. IDs are unique in a source only"""
    subject: str
    """Path of the resource, such as `backtests/bt-…`, `models/ema_crossover`, `challenges/ch-…`, `approvals/ap-…`"""
    time: str
    """Time of the change, ISO 8601, UTC"""
    actor: str
    """User who made the change; `platform` when it did itself"""
    datacontenttype: Literal["application/json"]
    sequence: int
    """Order of the events of a subject: later events have higher numbers. Numbers may be missing. Different subjects have no common order"""
    type: Literal["challenge.expired"]
    data: ChallengeExpiredEventData


class ChallengeExpiredEventData(TypedDict):
    challenge_id: str
    status: Literal["active", "completed", "rolled_back", "expired"]
    """Status after the change"""
    outcome: Literal["challenger_wins", "champion_wins", "champion_kept", "promoted_manually"] | None
    canary_stage: Literal["stage_1", "stage_2", "stage_3", "stage_4"]
    reason: str | None


class ChallengeHeldEvent(TypedDict):
    """The challenge waits for an approver or for more data"""

    specversion: Literal["1.0"]
    id: str
    """The same for each delivery of an event. Use it to ignore repeated deliveries"""
    source: str
    """Stage and platform, such as `touchstone/prod/123456789012/eu-central-1/touchstone-prod-platform`. IDs are unique in a source only"""
    subject: str
    """Path of the resource, such as `backtests/bt-…`, `models/ema_crossover`, `challenges/ch-…`, `approvals/ap-…`"""
    time: str
    """Time of the change, ISO 8601, UTC"""
    actor: str
    """User who made the change; `platform` when it did itself"""
    datacontenttype: Literal["application/json"]
    sequence: int
    """Order of the events of a subject: later events have higher numbers. Numbers may be missing. Different subjects have no common order"""
    type: Literal["challenge.held"]
    data: ChallengeHeldEventData


class ChallengeHeldEventData(TypedDict):
    challenge_id: str
    status: Literal["active", "completed", "rolled_back", "expired"]
    """Status after the change"""
    outcome: Literal["challenger_wins", "champion_wins", "champion_kept", "promoted_manually"] | None
    canary_stage: Literal["stage_1", "stage_2", "stage_3", "stage_4"]
    reason: str | None


class ChallengeHold1(TypedDict):
    reason: Literal["manual", "approval", "sample_ratio_mismatch", "open_trades", "no_traffic"]
    since: str
    """ISO 8601, UTC"""
    note: str | None


class ChallengeList(TypedDict):
    items: list[Challenge]
    next_cursor: str | None
    """Opaque; send it as `cursor` with the same filters. null ends the iteration"""


class ChallengeLostEvent(TypedDict):
    """The champion won, or the challenger was rolled back"""

    specversion: Literal["1.0"]
    id: str
    """The same for each delivery of an event. Use it to ignore repeated deliveries"""
    source: str
    """Stage and platform, such as `touchstone/prod/123456789012/eu-central-1/touchstone-prod-platform`. IDs are unique in a source only"""
    subject: str
    """Path of the resource, such as `backtests/bt-…`, `models/ema_crossover`, `challenges/ch-…`, `approvals/ap-…`"""
    time: str
    """Time of the change, ISO 8601, UTC"""
    actor: str
    """User who made the change; `platform` when it did itself"""
    datacontenttype: Literal["application/json"]
    sequence: int
    """Order of the events of a subject: later events have higher numbers. Numbers may be missing. Different subjects have no common order"""
    type: Literal["challenge.lost"]
    data: ChallengeLostEventData


class ChallengeLostEventData(TypedDict):
    challenge_id: str
    status: Literal["active", "completed", "rolled_back", "expired"]
    """Status after the change"""
    outcome: Literal["challenger_wins", "champion_wins", "champion_kept", "promoted_manually"] | None
    canary_stage: Literal["stage_1", "stage_2", "stage_3", "stage_4"]
    reason: str | None


class ChallengeNextStage1(TypedDict):
    canary_stage: Literal["stage_1", "stage_2", "stage_3", "stage_4"]
    not_before: str
    """Earliest time: the minimum duration of the current stage"""
    challenger_trades: int
    """Trades that the challenger closed in the current stage"""
    trades_needed: int
    """Trades that the challenger must close in the current stage"""
    needs_approval: bool
    """True when an approver must advance the challenge"""


class ChallengePromoteRequest(TypedDict):
    comment: NotRequired[str | None]
    """Recorded in the history"""
    waive: NotRequired[WaiveRequest | None]
    """Checks of the release policy that this transition may fail, and the reason. Recorded in the history. Role admin"""


class ChallengePromotionRejected1(TypedDict):
    at: str
    """ISO 8601, UTC"""
    code: str
    message: str


class ChallengeRefusedEvent(TypedDict):
    """The release rules rejected the promotion of a winner"""

    specversion: Literal["1.0"]
    id: str
    """The same for each delivery of an event. Use it to ignore repeated deliveries"""
    source: str
    """Stage and platform, such as `touchstone/prod/123456789012/eu-central-1/touchstone-prod-platform`. IDs are unique in a source only"""
    subject: str
    """Path of the resource, such as `backtests/bt-…`, `models/ema_crossover`, `challenges/ch-…`, `approvals/ap-…`"""
    time: str
    """Time of the change, ISO 8601, UTC"""
    actor: str
    """User who made the change; `platform` when it did itself"""
    datacontenttype: Literal["application/json"]
    sequence: int
    """Order of the events of a subject: later events have higher numbers. Numbers may be missing. Different subjects have no common order"""
    type: Literal["challenge.refused"]
    data: ChallengeRefusedEventData


class ChallengeRefusedEventData(TypedDict):
    challenge_id: str
    status: Literal["active", "completed", "rolled_back", "expired"]
    """Status after the change"""
    outcome: Literal["challenger_wins", "champion_wins", "champion_kept", "promoted_manually"] | None
    canary_stage: Literal["stage_1", "stage_2", "stage_3", "stage_4"]
    reason: str | None


class ChallengeRequest(TypedDict):
    champion_version: str | int
    """A version number, or an alias: `latest`, `champion`, or one that users gave"""
    challenger_version: str | int
    """A version number, or an alias: `latest`, `champion`, or one that users gave"""
    min_trades: NotRequired[int | None]
    """Closed trades of each variant before the planned look. The minimum of the environment (100 or more) applies too. Default: 100"""
    max_duration_hours: NotRequired[int | None]
    """Maximum duration. Without a verdict by then the champion stays. Default: 168"""
    enable_canary: NotRequired[bool | None]
    """Start with 5 % of the traffic for the challenger; without a canary with 50 %. Default: true"""
    max_drawdown_pct: NotRequired[float | None]
    """Roll back when the challenger has lost this many percentage points since its peak"""
    max_errors: NotRequired[int | None]
    """Roll back when the challenger has more errors than this"""
    analysis_unit: NotRequired[Literal["trade", "assignment_key"] | None]
    """Unit of analysis: `trade`, or `assignment_key` when trades of one key (a client, a pair, a day) are correlated; they are then compared as one cluster. Default: "trade\""""
    approval_stages: NotRequired[list[Literal["stage_2", "stage_3", "stage_4"]] | None]
    """Stages that the challenger enters only when an approver advances it. When one is due, the challenge is held. Default: []"""
    on_rollback: NotRequired[Literal["finish", "close"] | None]
    """The challenger's open positions after a rollback. `finish`: the challenger manages them to their end. `close`: `should_close` of their keys is true. Default: "finish\""""
    auto_promote: NotRequired[bool | None]
    """Promote the challenger when it has won, subject to every rule of the registry. Default: false"""
    require_assignment: NotRequired[bool | None]
    """Count only trades whose key was assigned before the trade was logged. Default: the setting of the platform, which is on in production"""


class ChallengeRollbackRequest(TypedDict):
    reason: NotRequired[str | None]
    """Recorded in the history"""


class ChallengeTrade(TypedDict):
    profit_pct: float | None
    """Profit after fees, percent of the stake; for an open trade the unrealized profit"""
    profit_abs: float | None
    stake_amount: float | None
    fee_abs: float | None
    leverage: float | None
    pair: str | None
    side: Literal["long", "short"] | None
    opened_at: str | None
    closed_at: str | None
    exit_reason: str | None
    exchange: str | None
    mode: Literal["live", "paper"] | None
    assignment_key: str | None
    error_message: str | None
    trade_id: str
    sequence: int
    """From 1, as they were logged"""
    variant: Literal["champion", "challenger"]
    canary_stage: Literal["stage_1", "stage_2", "stage_3", "stage_4"]
    """When it was entered: what it is compared in"""
    status: Literal["open", "closed", "error"]
    misassigned: bool
    """Its key belongs to the other variant: it does not count"""
    unassigned: bool
    late: bool
    """True outside of the challenge, when it was opened before the start, or logged or closed after the end: it does not count"""
    created_at: str
    """ISO 8601, UTC"""
    updated_at: str
    """ISO 8601, UTC"""


class ChallengeTradeList(TypedDict):
    items: list[ChallengeTrade]
    next_cursor: str | None
    """Opaque; send it as `cursor` with the same filters. null ends the iteration"""


class ChallengeTradesRequest(TypedDict):
    """One trade, or several under `trades`. Requires `trade_id`, and `profit_pct` unless `status` is `open` or `error`"""

    trade_id: NotRequired[str | None]
    """Unique ID: repeated trades count once"""
    variant: NotRequired[Literal["champion", "challenger"] | None]
    """Required unless `version` is given"""
    version: NotRequired[str | int | None]
    """One of the two versions of the challenge"""
    profit_pct: NotRequired[float | None]
    """Profit after fees, percent of the stake, from -100 times the leverage. Open trades: the unrealized profit, optional; it can be posted again"""
    profit_abs: NotRequired[float | None]
    """Profit after fees, quote currency"""
    stake_amount: NotRequired[float | None]
    """Quote currency"""
    fee_abs: NotRequired[float | None]
    """Fees, quote currency"""
    leverage: NotRequired[float | None]
    """Default: 1"""
    pair: NotRequired[str | None]
    """`BASE/QUOTE:SETTLE`; `BASE/QUOTE` with trading_mode `spot`"""
    trading_mode: NotRequired[Literal["futures", "spot"] | None]
    """Market of the pair; it is not stored. Default: "futures\""""
    side: NotRequired[Literal["long", "short"] | None]
    opened_at: NotRequired[str | None]
    """ISO 8601, up to 60 s ahead. A trade that was opened before the start of the challenge does not count"""
    closed_at: NotRequired[str | None]
    """ISO 8601, from the start of the challenge to 60 s ahead. Default: now"""
    exit_reason: NotRequired[str | None]
    """Reason of the exit"""
    exchange: NotRequired[str | None]
    """Exchange key"""
    mode: NotRequired[Literal["live", "paper"] | None]
    error_message: NotRequired[str | None]
    """Message of an error; only with status `error`"""
    assignment_key: NotRequired[str | None]
    """Key of the assignment: a trade of the other variant does not count"""
    status: NotRequired[Literal["open", "closed", "error"] | None]
    """Post the same `trade_id` as `closed` to close an open trade. `error`: the strategy failed to decide or to trade; it is not counted as a trade. Default: "closed\""""
    trades: NotRequired[list[ChallengeTradesRequestTradesItem] | None]


class ChallengeTradesRequestTradesItem(TypedDict):
    """Requires `trade_id`, and `profit_pct` unless `status` is `open` or `error`"""

    trade_id: NotRequired[str | None]
    """Unique ID: repeated trades count once"""
    variant: NotRequired[Literal["champion", "challenger"] | None]
    """Required unless `version` is given"""
    version: NotRequired[str | int | None]
    """One of the two versions of the challenge"""
    profit_pct: NotRequired[float | None]
    """Profit after fees, percent of the stake, from -100 times the leverage. Open trades: the unrealized profit, optional; it can be posted again"""
    profit_abs: NotRequired[float | None]
    """Profit after fees, quote currency"""
    stake_amount: NotRequired[float | None]
    """Quote currency"""
    fee_abs: NotRequired[float | None]
    """Fees, quote currency"""
    leverage: NotRequired[float | None]
    """Default: 1"""
    pair: NotRequired[str | None]
    """`BASE/QUOTE:SETTLE`; `BASE/QUOTE` with trading_mode `spot`"""
    trading_mode: NotRequired[Literal["futures", "spot"] | None]
    """Market of the pair; it is not stored. Default: "futures\""""
    side: NotRequired[Literal["long", "short"] | None]
    opened_at: NotRequired[str | None]
    """ISO 8601, up to 60 s ahead. A trade that was opened before the start of the challenge does not count"""
    closed_at: NotRequired[str | None]
    """ISO 8601, from the start of the challenge to 60 s ahead. Default: now"""
    exit_reason: NotRequired[str | None]
    """Reason of the exit"""
    exchange: NotRequired[str | None]
    """Exchange key"""
    mode: NotRequired[Literal["live", "paper"] | None]
    error_message: NotRequired[str | None]
    """Message of an error; only with status `error`"""
    assignment_key: NotRequired[str | None]
    """Key of the assignment: a trade of the other variant does not count"""
    status: NotRequired[Literal["open", "closed", "error"] | None]
    """Post the same `trade_id` as `closed` to close an open trade. `error`: the strategy failed to decide or to trade; it is not counted as a trade. Default: "closed\""""


class ChallengeWonEvent(TypedDict):
    """The challenger won"""

    specversion: Literal["1.0"]
    id: str
    """The same for each delivery of an event. Use it to ignore repeated deliveries"""
    source: str
    """Stage and platform, such as `touchstone/prod/123456789012/eu-central-1/touchstone-prod-platform`. IDs are unique in a source only"""
    subject: str
    """Path of the resource, such as `backtests/bt-…`, `models/ema_crossover`, `challenges/ch-…`, `approvals/ap-…`"""
    time: str
    """Time of the change, ISO 8601, UTC"""
    actor: str
    """User who made the change; `platform` when it did itself"""
    datacontenttype: Literal["application/json"]
    sequence: int
    """Order of the events of a subject: later events have higher numbers. Numbers may be missing. Different subjects have no common order"""
    type: Literal["challenge.won"]
    data: ChallengeWonEventData


class ChallengeWonEventData(TypedDict):
    challenge_id: str
    status: Literal["active", "completed", "rolled_back", "expired"]
    """Status after the change"""
    outcome: Literal["challenger_wins", "champion_wins", "champion_kept", "promoted_manually"] | None
    canary_stage: Literal["stage_1", "stage_2", "stage_3", "stage_4"]
    reason: str | None


class ChanceTest(TypedDict):
    samples: int
    p_value: float | None
    """Share of the samples and the run itself that earn at least as much as the run"""
    profit_pct: float | None
    """Of the run, measured as in the samples"""
    chance_pct: RobustnessInterval | None
    """Profit of the samples"""
    reason: str | None
    """Why the figures are null; null: they are known"""


class ChangedCandles(TypedDict):
    """Candles that the backtest read and that were replaced or added since"""

    pair: str
    timeframe: Literal["1m", "3m", "5m", "15m", "30m", "1h", "2h", "4h", "6h", "8h", "12h", "1d", "3d", "1w"]
    first: str
    """Open time of the first candle that may have changed"""
    last: str
    """Open time of the last one"""


class ChangedSeries(TypedDict):
    """Result of a change: where the series are, or were"""

    exchange: str
    symbol: str
    timeframes: list[str]
    """Series that the call changed, shortest first"""
    funding: bool
    """True when funding rates were changed too"""


class ClosedTradeMetrics(TypedDict):
    """From closed trades only: open losses are not included"""

    total_trades: int
    """Trades"""
    winning_trades: int
    """Winning trades"""
    losing_trades: int
    """Losing trades"""
    draws: int
    """Draws"""
    win_rate: float | None
    """Win rate %"""
    profit_mean_pct: float | None
    """Mean profit %"""
    profit_median_pct: float | None
    """Median profit %"""
    profit_sum_pct: float
    """Sum of profit %"""
    best_trade_pct: float | None
    """Best trade %"""
    worst_trade_pct: float | None
    """Worst trade %"""
    avg_duration_minutes: float | None
    """Average duration"""
    profit_factor: float | None
    """Profit factor"""
    expectancy: float | None
    """Expectancy"""
    expectancy_ratio: float | None
    """Expectancy ratio"""
    sqn: float | None
    """System quality number"""
    p_value: float | None
    """p-value of the mean trade"""
    closed_trade_sharpe_ratio: float | None
    """Sharpe ratio (closed trades)"""
    closed_trade_sortino_ratio: float | None
    """Sortino ratio (closed trades)"""
    closed_trade_calmar_ratio: float | None
    """Calmar ratio (closed trades)"""
    closed_trade_max_drawdown_abs: float
    """Max drawdown (closed trades)"""
    closed_trade_max_drawdown_pct: float
    """Max drawdown % (closed trades)"""
    closed_trade_max_relative_drawdown_pct: float
    """Max relative drawdown % (closed trades)"""
    lowest_closed_balance: float
    """Lowest balance"""
    highest_closed_balance: float
    """Highest balance"""
    best_day_profit: float | None
    """Best day"""
    worst_day_profit: float | None
    """Worst day"""
    winning_days: int
    """Winning days"""
    draw_days: int
    """Draw days"""
    losing_days: int
    """Losing days"""


class Collection(TypedDict):
    collection_id: str
    status: Literal["pending", "running", "completed", "failed", "cancelled"]
    exchange: str
    symbols: list[str]
    timeframe: str
    start: str
    """ISO 8601, UTC"""
    end: str
    """ISO 8601, UTC"""
    progress: float
    """Completed share, 0 to 1"""
    candles: int
    """New candles stored so far; those of a crashed process may be missing from the count"""
    error: str | None
    """Failed symbols and reasons; for a pending collection the reason of the delay, for a completed one what was left out or moved to the grid"""
    created_at: str
    """ISO 8601, UTC"""
    updated_at: str
    """ISO 8601, UTC"""


class CollectionList(TypedDict):
    items: list[Collection]
    next_cursor: str | None
    """Opaque; send it as `cursor` with the same filters. null ends the iteration"""


class CollectionRequest(TypedDict):
    symbols: list[str]
    """`BASE/QUOTE:SETTLE`; `BASE/QUOTE` with trading_mode `spot`"""
    timeframe: Literal["1m", "5m", "15m", "1h", "4h", "1d"]
    start: NotRequired[str | None]
    """First candle, not in the future. Default: 90 days before `end` or now, whichever is earlier"""
    end: NotRequired[str | None]
    """Exclusive. Default: now"""
    exchange: NotRequired[str | None]
    """`sim`, or the ccxt key of an exchange with perpetual futures (with spot in that trading mode). Default: the configured exchange"""
    trading_mode: NotRequired[Literal["futures", "spot"] | None]
    """`spot`: symbols are `BASE/QUOTE` and have no funding rates. Default: "futures\""""


class ColumnsStatus(TypedDict):
    """The columns are being computed: repeat the request"""

    status: Literal["pending", "running"]


class ComparedMetric(TypedDict):
    a: float
    b: float
    improvement: float
    """Percent of the magnitude of `a`; positive: b is better. Without a direction the relative change. When `a` is 0: 0, 100 or -100"""
    direction: Literal["higher", "lower", "none"]
    """Direction of better values; `none` is not counted"""
    reasons: NotRequired[ComparedMetricReasons]
    """Why a value is undefined, where its number stands for none; absent where both are values"""
    notes: list[Literal["baseline_near_zero", "no_losses", "undefined_a", "undefined_b"]]
    """`no_losses`: a profit factor without losing trades is 999. `undefined_a`, `undefined_b`: the number stands for an undefined value, so the improvement is 0"""


class ComparedMetricReasons(TypedDict):
    """Why a value is undefined, where its number stands for none; absent where both are values"""

    a: Literal["no_trades", "no_losses", "no_wins", "equal_trades", "equal_losses", "under_30_days", "balance_lost", "equal_days", "no_losing_day", "equal_losing_days", "no_drawdown", "too_few_values"] | None
    b: Literal["no_trades", "no_losses", "no_wins", "equal_trades", "equal_losses", "under_30_days", "balance_lost", "equal_days", "no_losing_day", "equal_losing_days", "no_drawdown", "too_few_values"] | None


class ComparisonGuardrail(TypedDict):
    name: Literal["max_drawdown_pct", "profit_factor", "sharpe_ratio"]
    status: Literal["passed", "broken", "undefined"]
    """`undefined`: the value of b is undefined, so it does not pass either"""
    value: float
    """Improvement in percent, of profit_factor its value in b"""
    threshold: float
    message: str


class CostRow(TypedDict):
    amount: float
    """Positive: paid"""
    pct_of_gross_profit: float | None
    pct_of_turnover: float | None


class CostSweep(TypedDict):
    cells: list[CostSweepCellsItem]


class CostSweepCellsItem(TypedDict):
    cost: float
    """Fee per side, in place of fee and slippage"""
    delay: int
    """Candles by which every signal comes later"""
    total_profit_pct: float
    total_trades: int
    sharpe_ratio: float | None


class Coverage(TypedDict):
    """Stored series of an exchange by month, ascending by symbol"""

    exchange: str
    items: list[CoverageSeries]
    next_cursor: str | None
    """Opaque; send it as `cursor` with the same filters. null ends the iteration"""


class CoverageMonth(TypedDict):
    month: str
    """`YYYY-MM`, UTC"""
    candles: int
    """Stored candles; 0 when the file is corrupt"""
    expected: int
    """Candles that the month has, up to now; without those of closed times, and those before the exchange listed the symbol, as far as that is known"""
    gap_count: int
    """Gaps between the first and the last candle of the series that touch the month"""
    missing: MissingCandles
    """Candles of the month between the first and the last one of the series that are not stored"""
    corrupt: bool
    """The file of the month is corrupt and is collected again"""


class CoverageSeries(TypedDict):
    symbol: str
    timeframe: str
    first: str
    """Open time of the first candle"""
    last: str
    """Open time of the last closed candle"""
    count: int
    """Stored candles"""
    gap_count: int
    """Number of gaps between the first and the last candle"""
    missing_candles: int
    """Candles between the first and the last one that are not stored, without those of closed times"""
    missing: MissingCandles
    imported: bool
    """Files hold candles of the series"""
    calendar: Literal["XNYS", "CME", "24/7"] | None
    """Calendar that an import named"""
    sessions: MarketSessions | None
    complete_from: str | None
    """The exchange has no candles between this time and `first`; null when unknown"""
    updated_at: str
    """ISO 8601, UTC"""
    months: list[CoverageMonth]
    """Every month from that of `first` to that of `last`, ascending; also those without a candle"""


class CreatedImport(TypedDict):
    import_id: str
    status: Literal["receiving", "previewing", "previewed", "importing", "completed", "failed", "cancelled"]
    """`receiving`: files arrive, or a preview can be asked for. `previewed`: it can be started. `completed`, `failed` and `cancelled` are final, and the files are gone"""
    files: int
    """Files that were announced"""
    bytes: int
    received_files: int
    """Files that began to arrive"""
    received_bytes: int
    options: StatedImportOptions | None
    """Those of the last preview or start"""
    progress: float | None
    """Read share of the files, 0 to 1; null while it waits for another import, and at rest"""
    error: str | None
    """Why the last preview or the import failed"""
    created_at: str
    """ISO 8601, UTC"""
    updated_at: str
    """ISO 8601, UTC"""
    upload_url: str
    """Address at this service for a PUT of each file in pieces, with `path`, `offset` and `modified` (Unix ms) as query. It is a permission of its own and returned once"""


class CurrentChallengeEvaluation(TypedDict):
    """Evaluation at the time of the request, on every page; it is not stored"""

    evaluated_at: str
    """ISO 8601, UTC"""
    status: Literal["active", "completed", "rolled_back", "expired"]
    canary_stage: Literal["stage_1", "stage_2", "stage_3", "stage_4"]
    traffic_split: list[float]
    """Traffic share of the champion, then of the challenger; the sum is 1"""
    champion_trades: int
    """Closed trades that are analyzed"""
    challenger_trades: int
    difference: float
    """Mean profit of a trade of the challenger minus that of the champion, percentage points, weighted over the stages"""
    confidence_interval: list[float] | None
    """95 % confidence sequence of `difference`; null without data"""
    improvement_pct: float
    """`difference` in percent of the mean of the champion"""
    p_value: float
    """Two-sided"""
    p_value_method: Literal["welch", "permutation", "always_valid"]
    equity: CurrentChallengeEvaluationEquity
    """Sum of the profits of the closed trades of each variant, percentage points, without compounding"""
    mean: CurrentChallengeEvaluationMean
    """Equity per trade: mean profit of the closed trades of each variant so far, percent; null without trades"""


class CurrentChallengeEvaluationEquity(TypedDict):
    """Sum of the profits of the closed trades of each variant, percentage points, without compounding"""

    champion: float
    challenger: float


class CurrentChallengeEvaluationMean(TypedDict):
    """Equity per trade: mean profit of the closed trades of each variant so far, percent; null without trades"""

    champion: float | None
    challenger: float | None


class DataCollectedEvent(TypedDict):
    """Candles were collected"""

    specversion: Literal["1.0"]
    id: str
    """The same for each delivery of an event. Use it to ignore repeated deliveries"""
    source: str
    """Stage and platform, such as `touchstone/prod/123456789012/eu-central-1/touchstone-prod-platform`. IDs are unique in a source only"""
    subject: str
    """Path of the resource, such as `backtests/bt-…`, `models/ema_crossover`, `challenges/ch-…`, `approvals/ap-…`"""
    time: str
    """Time of the change, ISO 8601, UTC"""
    actor: str
    """User who made the change; `platform` when it did itself"""
    datacontenttype: Literal["application/json"]
    sequence: int
    """Order of the events of a subject: later events have higher numbers. Numbers may be missing. Different subjects have no common order"""
    type: Literal["data.collected"]
    data: DataCollectedEventData


class DataCollectedEventData(TypedDict):
    exchange: str
    timeframe: str
    symbols: list[str]
    start: str
    """ISO 8601, UTC"""
    end: str
    """ISO 8601, UTC"""
    collection_id: str | None
    """null when the candles were collected for a job"""
    job_id: str | None
    """Job that needed the candles; null for a collection"""
    message: str | None
    """Result of the collection for a job; null for a collection"""


class DataGapEvent(TypedDict):
    """A candle series has more gaps than before"""

    specversion: Literal["1.0"]
    id: str
    """The same for each delivery of an event. Use it to ignore repeated deliveries"""
    source: str
    """Stage and platform, such as `touchstone/prod/123456789012/eu-central-1/touchstone-prod-platform`. IDs are unique in a source only"""
    subject: str
    """Path of the resource, such as `backtests/bt-…`, `models/ema_crossover`, `challenges/ch-…`, `approvals/ap-…`"""
    time: str
    """Time of the change, ISO 8601, UTC"""
    actor: str
    """User who made the change; `platform` when it did itself"""
    datacontenttype: Literal["application/json"]
    sequence: int
    """Order of the events of a subject: later events have higher numbers. Numbers may be missing. Different subjects have no common order"""
    type: Literal["data.gap"]
    data: DataGapEventData


class DataGapEventData(TypedDict):
    exchange: str
    timeframe: str
    symbol: str
    gaps: int
    """Gaps between the first and the last stored candle"""
    new_gaps: int
    """Gaps that the series did not have before"""


class DataStaleEvent(TypedDict):
    """Candles for a job were stale, and their collection failed"""

    specversion: Literal["1.0"]
    id: str
    """The same for each delivery of an event. Use it to ignore repeated deliveries"""
    source: str
    """Stage and platform, such as `touchstone/prod/123456789012/eu-central-1/touchstone-prod-platform`. IDs are unique in a source only"""
    subject: str
    """Path of the resource, such as `backtests/bt-…`, `models/ema_crossover`, `challenges/ch-…`, `approvals/ap-…`"""
    time: str
    """Time of the change, ISO 8601, UTC"""
    actor: str
    """User who made the change; `platform` when it did itself"""
    datacontenttype: Literal["application/json"]
    sequence: int
    """Order of the events of a subject: later events have higher numbers. Numbers may be missing. Different subjects have no common order"""
    type: Literal["data.stale"]
    data: DataStaleEventData


class DataStaleEventData(TypedDict):
    exchange: str
    timeframe: str
    symbols: list[str]
    start: str
    """ISO 8601, UTC"""
    end: str
    """ISO 8601, UTC"""
    collection_id: str | None
    """null when the candles were collected for a job"""
    job_id: str | None
    """Job that needed the candles; null for a collection"""
    message: str | None
    """Result of the collection for a job; null for a collection"""


class DataStatus(TypedDict):
    """Stored candle series of an exchange"""

    exchange: str
    series: list[Series]
    count: int
    """Series"""
    candles: int
    """Candles of all series together"""
    newest: str | None
    """Open time of the newest candle; null when none is stored"""


class DatedInstrument(TypedDict):
    """Rules of one market, valid until the next ones"""

    amount_step: float | None
    """Amounts are integer multiples of it, contracts; null where the exchange names none"""
    min_amount: float | None
    """Minimum amount of an order, contracts; null where the exchange names none"""
    max_amount: float | None
    """Maximum amount of an order, contracts; null where the exchange names none"""
    min_cost: float | None
    """Minimum of amount times price of an order, contracts times quote currency; null where the exchange names none"""
    max_cost: float | None
    """Maximum of amount times price of an order, contracts times quote currency; null where the exchange names none"""
    contract_size: float
    """Base currency of one contract; 1 where amounts are in base currency"""
    price_tick: float | None
    """Prices are integer multiples of it, quote currency; null where the exchange names none"""
    collected_at: str
    """Time of the request to the exchange, ISO 8601, UTC"""
    leverage_tiers: NotRequired[DatedInstrumentLeverageTiers]
    """Ranges of the value of a position with their margin; absent where they are not known"""
    valid_from: str
    """Time at which these rules were collected first"""


class DatedInstrumentLeverageTiers(TypedDict):
    """Ranges of the value of a position with their margin; absent where they are not known"""

    source: Literal["exchange", "import"]
    at: str
    """Time of the request or the import, ISO 8601, UTC"""
    tiers: list[DatedInstrumentLeverageTiersTiersItem]


class DatedInstrumentLeverageTiersTiersItem(TypedDict):
    min_notional: float
    """Value of a position from which it applies, quote currency"""
    max_notional: float
    max_leverage: float
    maintenance_rate: float
    """Maintenance margin as a ratio of the value"""
    maintenance_amount: float
    """Taken off the maintenance margin, quote currency"""


class DayCondition(TypedDict):
    date: str
    """`YYYY-MM-DD`, UTC"""
    condition: Literal["complete", "gap", "closed", "revised"]
    """`complete`: no candle is missing. `revised`: none is missing, and stored candles were replaced with other values. `closed`: the market was closed all day. `gap`: candles are missing, or the file is corrupt"""
    candles: int
    """Stored candles that open on the day"""
    expected: int
    """Candles that the day has, up to now"""
    revised: bool
    """True when stored candles were replaced, also on a day with gaps"""
    changed_at: str | None
    """Time of the last change; null for changes before this was recorded"""


class DeclineRequest(TypedDict):
    reason: NotRequired[str | None]
    """Why. Required"""


class Deflation(TypedDict):
    scope: Literal["owner", "strategy", "session"]
    """Whose trials: of the owner, those of the same strategy among them, or those of the same session. The scope with the lowest ratio"""
    trials: int
    """Trials of the scope that count against the run, the run included"""
    sharpe_variance_daily: float | None
    """Sample variance of the daily Sharpe ratios of the trials, at most 1 / (days - 1), which is that of ratios without skill; 0 for a single trial, null when undefined"""
    expected_max_sharpe_daily: float | None
    """Expected best daily Sharpe ratio of as many trials without skill"""
    deflated_sharpe_ratio: float | None
    """Probability that the true Sharpe ratio exceeds `expected_max_sharpe_daily`, 0 to 1; the probabilistic Sharpe ratio for a single trial"""
    reason: str | None
    """Why the ratio is null; null otherwise"""


class EquityData(TypedDict):
    dates: list[str]
    equity: list[float]
    """At the end of each day, open positions marked to market"""
    drawdown: list[float]
    """Percent below the running maximum, zero or negative"""
    monthly_returns: dict[str, float]
    """YYYY-MM -> percent: change of the equity from the end of the month before"""


class EquityMetrics(TypedDict):
    """Main family: from the equity with open positions marked to market"""

    sharpe_ratio: float | None
    """Sharpe ratio (daily equity)"""
    sortino_ratio: float | None
    """Sortino ratio (daily equity)"""
    calmar_ratio: float | None
    """Calmar ratio (daily equity)"""
    freqtrade_sortino_ratio: NotRequired[float | None]
    """freqtrade's Sortino ratio (daily equity)"""
    freqtrade_calmar_ratio: NotRequired[float | None]
    """freqtrade's Calmar ratio (daily equity)"""
    volatility_pct: float | None
    """Annualized volatility %"""
    max_drawdown_pct: float
    """Max drawdown % (daily equity)"""
    max_drawdown_abs: float
    """Max drawdown (daily equity)"""
    max_drawdown_candle_pct: float
    """Max drawdown % (every candle)"""
    max_drawdown_candle_abs: float
    """Max drawdown (every candle)"""
    time_under_water_pct: float | None
    """Time under water %"""
    longest_drawdown_days: int
    """Longest drawdown"""
    best_day_pct: float | None
    """Best day %"""
    worst_day_pct: float | None
    """Worst day %"""
    lowest_equity: float
    """Lowest equity"""
    highest_equity: float
    """Highest equity"""


class ErrorBody(TypedDict):
    """An error with a code."""

    detail: ErrorBodyDetail


class ErrorBodyDetail(TypedDict):
    code: str
    """VAL001, VAL002, VAL003, VAL004, VAL005, VAL006, AUTH001, AUTH002, AUTH003, AUTH004, AUTH005, RES001, RES002, RES003, RES004, RES005, RES006, SVC001, SVC002, SVC003, SVC004, SVC005, SVC006, DATA001, DATA002, DATA003, DATA004, DATA005, OPT001, OPT002, CHL001, APR001, COL001, IMP001, HOOK001, HOOK002, SIG001, HTTP400, HTTP403, HTTP404, HTTP405, HTTP408, HTTP413, HTTP414, HTTP415, HTTP429, HTTP431, HTTP503"""
    message: str
    field: str
    """Dotted path of the invalid field; empty without one"""
    context: dict[str, Any]
    """Values that explain the error"""


class Experiment(TypedDict):
    name: str
    """`experiment_name` of its jobs"""
    jobs: ExperimentJobs
    """Backtests and hyperopt jobs of the owner"""
    unfinished: int
    """Pending and running ones, among the newest 1,000 jobs"""
    best: ExperimentBest1 | None
    """Completed backtest with the highest `total_profit_pct`, among the newest 1,000 jobs, without those with a found look-ahead bias; null without one"""
    last: ExperimentLast
    """Newest job"""


class ExperimentBest1(TypedDict):
    job_id: str
    exchange: str
    look_ahead: Literal["certified", "sampled", "not_checked", "found"]
    total_profit_pct: float
    """Percent of the starting wallet"""
    sharpe_ratio: float
    """Mean / population standard deviation of the daily equity returns (open positions marked to market), times sqrt(365); 0 when undefined, see `undefined_metrics`"""
    max_drawdown_pct: float
    """Percent, zero or positive: the largest fall of the daily equity below its running maximum"""
    undefined_metrics: NotRequired[UndefinedMetrics]


class ExperimentJobs(TypedDict):
    """Backtests and hyperopt jobs of the owner"""

    value: int
    relation: Literal["exact", "at_least"]
    """`at_least`: more jobs than `value` may pass the filters"""


class ExperimentLast(TypedDict):
    """Newest job"""

    job_id: str
    created_at: str
    """ISO 8601, UTC"""


class ExperimentList(TypedDict):
    items: list[Experiment]
    next_cursor: str | None
    """Opaque; send it as `cursor` with the same filters. null ends the iteration"""


class ExportLink(TypedDict):
    url: str
    """Address of the file: open it in a browser, or get it without a token. It may be relative to the address of the platform"""
    file_name: str
    expires_at: str
    """End of the address; a new request gives a new one"""


class FillModelComparison(TypedDict):
    """The same run under the other fill model"""

    used: Literal["freqtrade", "conservative"]
    alternative: Literal["freqtrade", "conservative"]
    differing_trades: int
    """Trades of a pair with the same entry time in both runs, whose exit differs in time, price or reason. Reports of engines before 2.0.0 also count trades that exist in one run only"""
    shifted_trades: NotRequired[int]
    """Trades that both runs have at other times: between two trades with the same entry time, before the first and after the last, the k-th of one run and the k-th of the other. Absent in reports of engines before 2.0.0, like the fields that follow"""
    unmatched_trades: NotRequired[int]
    """Trades that exist in one run only"""
    alternative_trades: int
    alternative_total_profit: float
    alternative_total_profit_pct: float
    freed_later_entries: NotRequired[int]
    """Trades of the `freqtrade` model whose entry took a slot or money that a later moment of the same candle freed"""
    freed_later_profit: NotRequired[float]
    """What those trades earned"""
    freed_later_profit_pct: NotRequired[float]


class FoundBy(TypedDict):
    hyperopt_job_id: str
    trial: int
    trials: int
    """Tried by the hyperopt job"""


class Freshness(TypedDict):
    all_fresh: bool
    """True when no symbol is stale"""
    stale_symbols: list[str]
    missing_candles: NotRequired[int]
    """Candles in the range that are not stored, of all symbols and timeframes, without those of closed times; absent without timeframe, start and end"""
    missing: NotRequired[MissingCandles]
    """The same by the reason; those before the first and after the last stored candle are damage"""
    exchange: str
    stale_threshold_hours: int
    symbols: list[FreshnessSymbolsItem]


class FreshnessSymbolsItem(TypedDict):
    symbol: str
    timeframe: str | None
    """The series examined; null when none is stored"""
    first: str | None
    last: str | None
    age_hours: float | None
    """Hours since the last closed candle ended; null when none is stored"""
    fresh: bool


class Grant(TypedDict):
    principal: str
    """`user:<id>`, `group:<name>` or `everyone`"""
    level: Literal["read", "write"]
    """`write` includes `read`"""


class Health(TypedDict):
    status: str
    """`healthy`, or `degraded` while a dependency is not healthy"""
    service: str
    version: str
    """The service's own version"""
    dependencies: dict[str, str]
    """Status of each dependency by name, such as `healthy` or `unavailable`"""
    reason: NotRequired[str]
    """Reason of the degraded status; absent when healthy"""


class HoldRequest(TypedDict):
    reason: NotRequired[str | None]
    """Recorded in the history"""


class HyperoptCancelledEvent(TypedDict):
    """A user has cancelled the hyperopt job"""

    specversion: Literal["1.0"]
    id: str
    """The same for each delivery of an event. Use it to ignore repeated deliveries"""
    source: str
    """Stage and platform, such as `touchstone/prod/123456789012/eu-central-1/touchstone-prod-platform`. IDs are unique in a source only"""
    subject: str
    """Path of the resource, such as `backtests/bt-…`, `models/ema_crossover`, `challenges/ch-…`, `approvals/ap-…`"""
    time: str
    """Time of the change, ISO 8601, UTC"""
    actor: str
    """User who made the change; `platform` when it did itself"""
    datacontenttype: Literal["application/json"]
    sequence: int
    """Order of the events of a subject: later events have higher numbers. Numbers may be missing. Different subjects have no common order"""
    type: Literal["hyperopt.cancelled"]
    data: HyperoptCancelledEventData


class HyperoptCancelledEventData(TypedDict):
    job_id: str
    strategy: str
    experiment_name: str | None
    exchange: str
    timeframe: str
    pairs: list[str]


class HyperoptCompletedEvent(TypedDict):
    """The hyperopt job has a best trial"""

    specversion: Literal["1.0"]
    id: str
    """The same for each delivery of an event. Use it to ignore repeated deliveries"""
    source: str
    """Stage and platform, such as `touchstone/prod/123456789012/eu-central-1/touchstone-prod-platform`. IDs are unique in a source only"""
    subject: str
    """Path of the resource, such as `backtests/bt-…`, `models/ema_crossover`, `challenges/ch-…`, `approvals/ap-…`"""
    time: str
    """Time of the change, ISO 8601, UTC"""
    actor: str
    """User who made the change; `platform` when it did itself"""
    datacontenttype: Literal["application/json"]
    sequence: int
    """Order of the events of a subject: later events have higher numbers. Numbers may be missing. Different subjects have no common order"""
    type: Literal["hyperopt.completed"]
    data: HyperoptCompletedEventData


class HyperoptCompletedEventData(TypedDict):
    job_id: str
    strategy: str
    experiment_name: str | None
    exchange: str
    timeframe: str
    pairs: list[str]
    best_trial: int
    best_value: float
    """Value of the objective metric of the best trial"""


class HyperoptFailedEvent(TypedDict):
    """The hyperopt job has ended with an error"""

    specversion: Literal["1.0"]
    id: str
    """The same for each delivery of an event. Use it to ignore repeated deliveries"""
    source: str
    """Stage and platform, such as `touchstone/prod/123456789012/eu-central-1/touchstone-prod-platform`. IDs are unique in a source only"""
    subject: str
    """Path of the resource, such as `backtests/bt-…`, `models/ema_crossover`, `challenges/ch-…`, `approvals/ap-…`"""
    time: str
    """Time of the change, ISO 8601, UTC"""
    actor: str
    """User who made the change; `platform` when it did itself"""
    datacontenttype: Literal["application/json"]
    sequence: int
    """Order of the events of a subject: later events have higher numbers. Numbers may be missing. Different subjects have no common order"""
    type: Literal["hyperopt.failed"]
    data: HyperoptFailedEventData


class HyperoptFailedEventData(TypedDict):
    job_id: str
    strategy: str
    experiment_name: str | None
    exchange: str
    timeframe: str
    pairs: list[str]
    error: HyperoptFailedEventDataError


class HyperoptFailedEventDataError(TypedDict):
    code: str
    message: str


class HyperoptJob(TypedDict):
    job_id: str
    """Shape `ho-<id>`"""
    status: Literal["pending", "running", "completed", "failed", "cancelled"]
    strategy: str
    experiment_name: str | None
    created_at: str
    """ISO 8601, UTC"""
    updated_at: str
    """ISO 8601, UTC"""
    progress: int
    """Percentage of finished trials, with those of permuted searches, 0 to 100"""
    current_trial: int
    """Number of finished trials"""
    total_trials: int
    permutations: HyperoptJobPermutations1 | None
    """Progress of the searches on permuted candles, which follow the trials; null without any"""
    best_value: float | None
    """null before the first complete trial"""
    best_trial: int | None
    feasible: bool | None
    """false: no trial keeps the constraints yet, and the best one misses them least. null before the first complete trial"""
    error: str | None
    """Present when failed"""
    queue: QueueState | None
    """Place in the queue of a pending job, or of a running one that waits for another run; null for others"""
    started_at: str | None
    """null until a worker has started"""
    finished_at: str | None
    error_code: str | None
    stalled: str | None
    """Position of a running trial without progress for one minute, such as `no progress for 60 s in customExit of ETH/USDT:USDT (trial 3)`; else null"""
    trials: HyperoptJobTrials
    config: HyperoptJobConfig
    pairs: list[str]
    timeframe: str
    exchange: str
    collect: Literal["never", "if_stale", "always"]
    account: HyperoptJobAccount
    """Account and costs of every trial"""
    precision: Literal["exchange", "none"]
    """Precision of every trial"""
    trading_mode: NotRequired[Literal["spot"]]
    """Absent: futures"""
    look_ahead: LookAhead | None
    """Look-ahead bias check with the parameters of the best trial, which is that of all trials: they run the same code. Present when completed"""
    warnings: list[str]
    session: str | None
    """Session of the submission, from its header `Touchstone-Session`; null without one"""
    resumed_from: str | None
    """Job that this one resumes: its finished trials are not run again"""
    collection: HyperoptJobCollection1 | None
    """Outcome of the data collection that preceded the trials; null when none was needed"""
    kept: bool
    """The platform never deletes the job: a user keeps it, it is shared, or a registered version has it as evidence"""
    expires_at: str | None
    """Earliest time at which the platform deletes the job, or its results or trials; null: never, or not known before its end"""
    results_deleted: bool
    """Its results or trials were deleted; its summary is stored"""


class HyperoptJobAccount(TypedDict):
    """Account and costs of every trial"""

    stake_amount: float | Literal["unlimited"]
    dry_run_wallet: float
    max_open_trades: int
    fee: float
    slippage: float
    slippage_model: NotRequired[SlippageModel]
    """Absent: only `slippage`"""
    leverage: float
    tradable_balance_ratio: NotRequired[float]
    """Absent: 0.99"""
    available_capital: NotRequired[float]
    """Quote currency that may be traded; absent: tradable_balance_ratio decides"""
    amend_last_stake_amount: NotRequired[bool]
    """Absent: false"""
    last_stake_amount_min_ratio: NotRequired[float]
    """Absent: 0.5"""
    order_types: NotRequired[HyperoptJobAccountOrderTypes]
    """Absent: limit orders"""
    unfilled_timeout: NotRequired[HyperoptJobAccountUnfilledTimeout]
    """Minutes per side; absent: the one of the strategy for both"""
    ignore_entry_after_candles: NotRequired[int]
    """Detail candles in which an entry signal acts; absent: all"""
    max_adjustments: NotRequired[int | None]
    """Largest number of additions; null: no limit; absent: that of the strategy"""
    position_stacking: NotRequired[bool]
    """Absent: one trade per pair"""
    margin_mode: NotRequired[Literal["isolated", "cross"]]
    """Absent: isolated"""


class HyperoptJobAccountOrderTypes(TypedDict):
    """Absent: limit orders"""

    entry: Literal["limit", "market"]
    exit: Literal["limit", "market"]


class HyperoptJobAccountUnfilledTimeout(TypedDict):
    """Minutes per side; absent: the one of the strategy for both"""

    entry: float
    exit: float


class HyperoptJobCollection1(TypedDict):
    status: Literal["completed", "failed"]
    message: str
    unlisted: NotRequired[list[str]]
    """Symbols that the exchange does not list; absent when it lists all"""
    at: str
    """ISO 8601, UTC"""


class HyperoptJobConfig(TypedDict):
    n_trials: int
    train_period_days: NotRequired[int]
    """Absent when no models are trained"""
    backtest_period_days: int
    objective_metric: str
    """A metric, or an expression of metrics"""
    direction: Literal["maximize", "minimize"]
    constraints: NotRequired[list[HyperoptJobConfigConstraintsItem]]
    """Limits of the metrics of a trial; absent without any"""
    model_types: list[str]
    """As in the request; only `none` when no models are trained"""
    n_estimators_range: NotRequired[list[int]]
    """Absent when no models are trained"""
    learning_rate_range: NotRequired[list[float]]
    """Absent when no models are trained"""
    spaces: NotRequired[list[Literal["params", "stoploss", "roi", "trailing", "ml"]]]
    """Search spaces; absent when the request has neither spaces nor models"""
    search: dict[str, HyperoptJobConfigSearchValue1 | HyperoptJobConfigSearchValue2]
    """Searched parameters of the strategy"""
    grid_order: NotRequired[list[str]]
    """Names of `search` in the order of a grid: the first varies slowest; absent otherwise"""
    date_range: HyperoptJobConfigDateRange
    """Traded interval: `start` is the first candle. Training data precede it"""
    sampler: Literal["tpe", "random", "grid"]
    pruner: Literal["wilcoxon", "median", "none"]
    seed: int
    workers: int
    permutations: NotRequired[int]
    """Searches on permuted candles; absent without any"""


class HyperoptJobConfigConstraintsItem(TypedDict):
    metric: str
    bound: Literal["min", "max"]
    limit: float
    divisor: float
    """Size of a miss that counts 1 in `violation`"""


class HyperoptJobConfigDateRange(TypedDict):
    """Traded interval: `start` is the first candle. Training data precede it"""

    start: str
    """ISO 8601, UTC"""
    end: str
    """ISO 8601, UTC"""


class HyperoptJobConfigSearchValue1(TypedDict):
    kind: Literal["integer", "number"]
    min: float
    max: float
    step: NotRequired[float]
    """Distance of the values of a grid; absent otherwise"""


class HyperoptJobConfigSearchValue2(TypedDict):
    kind: Literal["choice"]
    choices: list[float | str | bool]


class HyperoptJobPermutations1(TypedDict):
    ended: int
    total: int


class HyperoptJobTrials(TypedDict):
    complete: int
    pruned: int
    failed: int


class HyperoptList(TypedDict):
    items: list[HyperoptSummary]
    next_cursor: str | None
    """Opaque; send it as `cursor` with the same filters. null ends the iteration"""
    searched: HyperoptListSearched1 | None
    """Reach of `q`, `sort`, `pinned` and of the filters that cover the newest jobs; null without them: the list has all jobs"""
    count: HyperoptListCount1 | None
    """Jobs on all pages that the caller may see; null unless requested. Ends at 1,000"""


class HyperoptListCount1(TypedDict):
    value: int
    relation: Literal["exact", "at_least"]
    """`at_least`: more jobs than `value` may pass the filters"""


class HyperoptListSearched1(TypedDict):
    jobs: int
    """Jobs that were searched: the newest ones"""
    complete: bool
    """false: older jobs that pass the other filters exist and were not searched"""


class HyperoptPermutedSearchEvent(TypedDict):
    ended: int
    """Number of ended searches on permuted candles"""
    total: int
    best_value: float | None
    """Best value of the trials"""
    progress: int
    """Percentage of finished trials at that time, with those of permuted searches"""


class HyperoptRequest(TypedDict):
    """Only `strategy` is required. Unknown keys are ignored; the warnings of the job list them."""

    strategy: str
    """Name of a strategy, see GET /api/v1/strategies of the backend"""
    exchange: NotRequired[str | None]
    """Exchange of the candles. Default: the configured exchange"""
    trading_mode: NotRequired[Literal["futures", "spot"] | None]
    """`spot`: pairs are `BASE/QUOTE`; no shorts, no leverage, no funding. `futures`: pairs are perpetuals, `BASE/QUOTE:SETTLE`. Default: "futures\""""
    pairs: NotRequired[list[str] | None]
    """`BASE/QUOTE:SETTLE`; `BASE/QUOTE` with trading_mode `spot`. Default: the pairs of the strategy, in spot without `:SETTLE`; with a universe all stored ones"""
    timeframe: NotRequired[Literal["1m", "3m", "5m", "15m", "30m", "1h", "2h", "4h", "6h", "8h", "12h", "1d", "3d", "1w"] | None]
    """Default: the timeframe of the strategy. Others than 1m, 5m, 15m, 1h, 4h, 1d only where the strategy declares them"""
    collect: NotRequired[Literal["never", "if_stale", "always"] | None]
    """Collection of candles before the run. `never`: run on the stored candles and report gaps. `if_stale`: collect when the stored candles do not cover the date range. `always`: always fetch from the exchange. Default: "if_stale\""""
    n_trials: NotRequired[int | None]
    """Number of trials; with sampler `grid` by default the number of its points. Default: 100"""
    train_period_days: NotRequired[int | None]
    """Training window of each model, days. Default: 30"""
    backtest_period_days: NotRequired[int | None]
    """Out-of-sample days per window. Each window has a model of its own. Default: 7"""
    objective_metric: NotRequired[str | None]
    """Metric of the backtest result or report, or an expression of such with `direction`: numbers, + - * /, parentheses, min max abs sqrt log, at most 500 characters. Default: "sharpe_ratio\""""
    direction: NotRequired[Literal["maximize", "minimize"] | None]
    """Default: the direction in which the metric improves; required for an expression"""
    constraints: NotRequired[dict[str, Any] | list[Any] | None]
    """Limits that the best trial keeps: `{min_trades, max_drawdown_pct, min_profit_factor}`, each above 0, or up to 20 of `{metric, min?, max?}`. Without a feasible trial the one that misses least is the best"""
    model_types: NotRequired[list[str] | None]
    """Classifier kinds to choose from: depthwise_gbdt, leafwise_gbdt, symmetric_gbdt, logistic_regression, or the aliases xgboost, XGBoostClassifier, lightgbm, LightGBMClassifier, catboost, CatboostClassifier. `none` only means the same as `models: none`. Default: ["depthwise_gbdt","leafwise_gbdt","symmetric_gbdt"]"""
    models: NotRequired[Literal["none"] | None]
    """`none`: train no models; each trial is a plain backtest with other parameters. Default: search models"""
    spaces: NotRequired[list[Literal["params", "stoploss", "roi", "trailing", "ml"]] | None]
    """Search spaces: `params` (all parameters of the strategy), `stoploss`, `roi` (minimal_roi), `trailing`, `ml` (the model). Without `ml` the model keeps its settings; a strategy that declares no model runs without one. Default: `ml` and the parameters in `search`; with `models: none`: `params`. Not together with `search`"""
    n_estimators_range: NotRequired[list[int] | None]
    """[min, max] of the number of trees. Default: [50,500]"""
    learning_rate_range: NotRequired[list[float] | None]
    """[min, max] of the learning rate, searched on a logarithmic scale. Default: [0.01,0.3]"""
    search: NotRequired[dict[str, HyperoptRequestSearchValue] | None]
    """Parameters of the strategy to search: name -> `{min, max}` or `{choices}` within the range of the strategy; `{}`: the whole range. With sampler `grid` also `step`: 1 by default for integers, required for numbers; the first parameter varies slowest"""
    date_range: NotRequired[HyperoptRequestDateRange | None]
    """Traded interval, at most 1000 windows: `start` is the first traded candle; training data precede it. Default: 4 times backtest_period_days (without models 90 days) up to the newest stored candle, else now"""
    stake_amount: NotRequired[float | Literal["unlimited"] | None]
    """Quote currency per trade, at most the wallet; or `unlimited`: the balance divided by max_open_trades. Default: the stake of the strategy"""
    dry_run_wallet: NotRequired[float | None]
    """Starting wallet, quote currency. Default: 1000"""
    max_open_trades: NotRequired[int | None]
    """Maximum number of open trades. Default: the number of pairs, with a universe its `n`"""
    fee: NotRequired[float | None]
    """Ratio per side. Default: 0.0005"""
    slippage: NotRequired[float | None]
    """Adverse price move of every market fill, as a ratio. Default: 0"""
    slippage_model: NotRequired[HyperoptRequestSlippageModel | None]
    """Costs of market fills estimated from candles before the fill, in addition to `slippage`. Without a part: none"""
    leverage: NotRequired[float | None]
    """Default: the leverage of the strategy, else 1"""
    precision: NotRequired[Literal["exchange", "none"] | None]
    """`exchange`: prices and amounts follow the steps and limits of the instruments; orders below the minimum are not placed. `none`: no rounding and no minimum order. Default: `exchange` if the instruments of all pairs are stored, else `none`. Exchange `sim` always runs with `none`"""
    tradable_balance_ratio: NotRequired[float | None]
    """Share of the balance that may be traded. Default: 0.99"""
    available_capital: NotRequired[float | None]
    """Quote currency that may be traded, and the profit of closed trades with it; it replaces tradable_balance_ratio. Default: null, the share of the balance"""
    amend_last_stake_amount: NotRequired[bool | None]
    """Lower the last stake to what is left, where that is enough. Default: false"""
    last_stake_amount_min_ratio: NotRequired[float | None]
    """Least share of the stake that such a trade gets. Default: 0.5"""
    order_types: NotRequired[HyperoptRequestOrderTypes | None]
    """A market order fills at the open: its price callback is not called. Default: those of the strategy, else limit"""
    unfilled_timeout: NotRequired[HyperoptRequestUnfilledTimeout | None]
    """Age at which an unfilled order is cancelled, minutes. Default: that of the strategy, else 10"""
    ignore_entry_after_candles: NotRequired[int | None]
    """Detail candles of a candle in which its entry signal acts, from the first on; it needs timeframe_detail. null: in all of them. Default: that of the strategy, else null"""
    max_adjustments: NotRequired[int | None]
    """Largest number of additions to a position by `adjustPosition`; 0: none. null: no limit. Default: that of the strategy"""
    position_stacking: NotRequired[bool | None]
    """A pair may have several trades at a time, up to max_open_trades of all pairs. Default: false"""
    margin_mode: NotRequired[Literal["isolated", "cross"] | None]
    """`isolated`: the stake is the margin of a position. `cross`: the account is, less what other positions must keep. Default: "isolated\""""
    sampler: NotRequired[Literal["tpe", "random", "grid"] | None]
    """Sampler of the trial parameters; `grid`: every combination of `search`, at most 10,000. Default: "tpe\""""
    pruner: NotRequired[Literal["wilcoxon", "median", "none"] | None]
    """Test that stops a trial whose windows are worse than those of the best. Default: "wilcoxon\""""
    seed: NotRequired[int | None]
    """Seed of the sampler. The same seed gives the same trials for any number of workers. Default: 0"""
    workers: NotRequired[int | None]
    """Tasks that run trials (local mode: processes). At most a tenth of n_trials run concurrently. Default: 1"""
    permutations: NotRequired[int | None]
    """Repeat the whole search on that many permutations of the candles, for the p-value of its best trial. Each costs as much as the search. At most 50000 trials together; not with models, timeframe_detail or informative candles of their own. Default: none"""
    experiment_name: NotRequired[str | None]
    """The study_name, and a name for filtering the list"""


class HyperoptRequestDateRange(TypedDict):
    """Traded interval, at most 1000 windows: `start` is the first traded candle; training data precede it. Default: 4 times backtest_period_days (without models 90 days) up to the newest stored candle, else now"""

    start: NotRequired[str | None]
    """ISO 8601, UTC"""
    end: NotRequired[str | None]
    """ISO 8601, UTC"""


class HyperoptRequestOrderTypes(TypedDict):
    """A market order fills at the open: its price callback is not called. Default: those of the strategy, else limit"""

    entry: NotRequired[Literal["limit", "market"] | None]
    exit: NotRequired[Literal["limit", "market"] | None]


class HyperoptRequestSearchValue(TypedDict):
    min: NotRequired[float | None]
    max: NotRequired[float | None]
    step: NotRequired[float | None]
    choices: NotRequired[list[float | str | bool] | None]


class HyperoptRequestSlippageModel(TypedDict):
    """Costs of market fills estimated from candles before the fill, in addition to `slippage`. Without a part: none"""

    spread: NotRequired[Literal["corwin_schultz", "edge"] | None]
    """Estimator of the bid-ask spread, half of which every market fill pays. Default: no spread"""
    spread_days: NotRequired[int | None]
    """Days before the fill from which the spread is estimated. Default: 30"""
    impact: NotRequired[float | None]
    """Coefficient of the square-root impact, usually 0.5 to 1.5: the price moves by it times daily volatility times sqrt(amount / daily volume). Default: no impact"""
    participation: NotRequired[float | None]
    """Largest fill as a share of the volume of the candle before it, such as 0.025. An entry loses the rest, an exit continues in the next candle. Default: orders of any size fill"""


class HyperoptRequestUnfilledTimeout(TypedDict):
    """Age at which an unfilled order is cancelled, minutes. Default: that of the strategy, else 10"""

    entry: NotRequired[float | None]
    exit: NotRequired[float | None]


class HyperoptResult(TypedDict):
    job_id: str
    """Shape `ho-<id>`"""
    best_params: HyperoptTrialParams
    best_value: float
    best_trial: int
    feasible: bool
    """false: no trial keeps the constraints, and the best one misses them least; true without constraints"""
    n_trials_completed: int
    """Complete trials; pruned ones are excluded"""
    study_name: str
    best_trials: list[HyperoptResultBestTrialsItem]
    """The ten best: feasible ones by value, then the others by violation; the earlier of equal ones first"""
    overfitting: OverfittingReport
    distinct_runs: int | None
    """Number of different runs among the complete trials: trials with different parameters can make exactly the same trades; null in jobs stored before this field existed"""
    look_ahead: LookAhead
    """`look_ahead` of the job; with state `found` the values cannot be earned, and none is the best"""
    permutations: SearchPermutations | None
    """The best value among those of searches on permuted candles; null unless asked for"""
    warnings: list[str]
    """Limitations of the result, such as parameters without effect"""
    out_of_sample: EquityData
    """Equity of the best trial over its out-of-sample windows. Without models: over the date range that selected the parameters"""


class HyperoptResultBestTrialsItem(TypedDict):
    number: int
    value: float
    params: HyperoptTrialParams


class HyperoptStart(TypedDict):
    job_id: str
    """Shape `ho-<id>`"""
    status: Literal["pending", "running", "completed", "failed", "cancelled"]
    message: str
    n_trials: int
    strategy: str
    warnings: list[str]
    """Ignored parts of the request, such as unknown keys"""


class HyperoptStartedEvent(TypedDict):
    """A worker has started the first trials"""

    specversion: Literal["1.0"]
    id: str
    """The same for each delivery of an event. Use it to ignore repeated deliveries"""
    source: str
    """Stage and platform, such as `touchstone/prod/123456789012/eu-central-1/touchstone-prod-platform`. IDs are unique in a source only"""
    subject: str
    """Path of the resource, such as `backtests/bt-…`, `models/ema_crossover`, `challenges/ch-…`, `approvals/ap-…`"""
    time: str
    """Time of the change, ISO 8601, UTC"""
    actor: str
    """User who made the change; `platform` when it did itself"""
    datacontenttype: Literal["application/json"]
    sequence: int
    """Order of the events of a subject: later events have higher numbers. Numbers may be missing. Different subjects have no common order"""
    type: Literal["hyperopt.started"]
    data: HyperoptStartedEventData


class HyperoptStartedEventData(TypedDict):
    job_id: str
    strategy: str
    experiment_name: str | None
    exchange: str
    timeframe: str
    pairs: list[str]


class HyperoptSummary(TypedDict):
    job_id: str
    """Shape `ho-<id>`"""
    status: Literal["pending", "running", "completed", "failed", "cancelled"]
    strategy: str
    experiment_name: str | None
    created_at: str
    """ISO 8601, UTC"""
    updated_at: str
    """ISO 8601, UTC"""
    progress: int
    """Percentage of finished trials, with those of permuted searches, 0 to 100"""
    current_trial: int
    """Number of finished trials"""
    total_trials: int
    permutations: HyperoptSummaryPermutations1 | None
    """Progress of the searches on permuted candles, which follow the trials; null without any"""
    best_value: float | None
    """null before the first complete trial"""
    best_trial: int | None
    feasible: bool | None
    """false: no trial keeps the constraints yet, and the best one misses them least. null before the first complete trial"""
    error: str | None
    """Present when failed"""
    queue: QueueState | None
    """Place in the queue of a pending job, or of a running one that waits for another run; null for others"""
    owner: str
    session: str | None
    """Session of the submission, from its header `Touchstone-Session`; null without one"""
    exchange: str
    pairs: list[str]
    timeframe: Literal["1m", "3m", "5m", "15m", "30m", "1h", "2h", "4h", "6h", "8h", "12h", "1d", "3d", "1w"]
    started_at: str | None
    """null: not started"""
    finished_at: str | None
    """null: not finished"""
    date_range: HyperoptSummaryDateRange
    """Traded interval: `start` is the first candle. Training data precede it"""
    objective_metric: str
    """A metric, or an expression of metrics"""
    direction: Literal["maximize", "minimize"]
    look_ahead: Literal["certified", "sampled", "not_checked", "found"] | None
    """State of the look-ahead bias check, of which the job has the rest. `found`: the metrics cannot be earned; such a run comes after all others in every order of a metric and is never the best. null until completed"""
    params: HyperoptTrialParams | None
    """The best parameters; null until completed"""
    deflated_sharpe_ratio: float | None
    """That of `overfitting` of the result; null until completed"""
    sparkline: list[float] | None
    """Best value so far, at even distances over the finished trials from the first complete one. null before it, and for jobs of earlier versions"""


class HyperoptSummaryDateRange(TypedDict):
    """Traded interval: `start` is the first candle. Training data precede it"""

    start: str
    """ISO 8601, UTC"""
    end: str
    """ISO 8601, UTC"""


class HyperoptSummaryPermutations1(TypedDict):
    ended: int
    total: int


class HyperoptTrial(TypedDict):
    number: int
    """From 0, in the order of suggestion"""
    state: Literal["running", "complete", "pruned", "failed"]
    params: HyperoptTrialParams
    value: float | None
    """Objective value; null unless complete"""
    total_trades: int | None
    """As in the result of a backtest; null unless complete, where undefined, and in trials of earlier versions"""
    total_profit_pct: float | None
    """As in the result of a backtest; null unless complete, where undefined, and in trials of earlier versions"""
    max_drawdown_pct: float | None
    """As in the result of a backtest; null unless complete, where undefined, and in trials of earlier versions"""
    profit_factor: float | None
    """As in the result of a backtest; null unless complete, where undefined, and in trials of earlier versions"""
    violation: float | None
    """By how much the trial misses the constraints, 0: feasible; null unless complete"""
    windows: list[float | None]
    """Objective value of each evaluated window; null when undefined"""
    duplicate_of: int | None
    """Earliest trial with the same parameters, whose result was reused without a run"""
    same_as: int | None
    """The same number as `duplicate_of`"""
    error: str | None
    """Present when failed"""
    started_at: str
    """ISO 8601, UTC"""
    finished_at: str | None
    attempt: int
    """Number of times a worker has started it"""
    worker: int
    look_ahead: Literal["certified", "sampled", "not_checked", "found"] | None
    """State of the look-ahead bias check, of which the job has the rest. `found`: the metrics cannot be earned; such a run comes after all others in every order of a metric and is never the best. null until completed"""


class HyperoptTrialEvent(TypedDict):
    number: int
    """From 0, in the order of suggestion"""
    state: Literal["complete", "pruned", "failed"]
    value: float | None
    """Objective value; null unless complete"""
    violation: float | None
    """By how much it misses the constraints, 0: feasible; null unless complete"""
    params: HyperoptTrialParams
    best_value: float | None
    """Best value of the trials finished so far; null before the first complete one"""
    progress: int
    """Percentage of finished trials at that time, with those of permuted searches"""


class HyperoptTrialList(TypedDict):
    items: list[HyperoptTrial]
    next_cursor: str | None
    """Opaque; send it as `cursor` with the same filters. null ends the iteration"""


class HyperoptTrialParams(TypedDict):
    """Model settings for `config.ml_engine` of a backtest, searched strategy parameters for `config.params`, and searched `stoploss`, `minimal_roi` and `trailing` for `config`"""

    model_type: str
    """As in the request; `none` when no models are trained"""
    n_estimators: NotRequired[int]
    """Absent when no models are trained"""
    learning_rate: NotRequired[float]
    """Absent when no models are trained"""


class ImportDetails(TypedDict):
    import_id: str
    status: Literal["receiving", "previewing", "previewed", "importing", "completed", "failed", "cancelled"]
    """`receiving`: files arrive, or a preview can be asked for. `previewed`: it can be started. `completed`, `failed` and `cancelled` are final, and the files are gone"""
    files: int
    """Files that were announced"""
    bytes: int
    received_files: int
    """Files that began to arrive"""
    received_bytes: int
    options: StatedImportOptions | None
    """Those of the last preview or start"""
    progress: float | None
    """Read share of the files, 0 to 1; null while it waits for another import, and at rest"""
    error: str | None
    """Why the last preview or the import failed"""
    created_at: str
    """ISO 8601, UTC"""
    updated_at: str
    """ISO 8601, UTC"""
    report: ImportReport | None
    """Of the last preview, or of the import once it has ended"""


class ImportList(TypedDict):
    items: list[ImportState]
    """Newest first"""
    count: int


class ImportNote(TypedDict):
    """A correction of rows of some files"""

    note: str
    files: int
    names: list[str]
    """The first three files"""


class ImportOptions(TypedDict):
    """Statements on the files, as the options of `touchstone import`"""

    exchange: NotRequired[str | None]
    """Exchange of the candles. Default: named by the files, else the configured exchange, else `binanceusdm`"""
    symbols: NotRequired[str | None]
    """Symbols of files that do not say them completely, separated by commas, such as `ETH/BTC`, or `ESH5=ES/USD:USD` for the series `ESH5` of a file"""
    timeframe: NotRequired[Literal["1m", "3m", "5m", "15m", "30m", "1h", "2h", "4h", "6h", "8h", "12h", "1d", "3d", "1w"] | None]
    """Default: by name, else by the rows"""
    columns: NotRequired[str | None]
    """Columns by name or number, such as `time=when,volume=traded`"""
    time_zone: NotRequired[str | None]
    """Zone of times that state none, such as `Europe/Athens` or `UTC-5`. Default: UTC"""
    spot: NotRequired[bool | None]
    """Names such as `BTCUSDT` are spot pairs"""
    skip_invalid: NotRequired[bool | None]
    """Leave out and count wrong rows, which otherwise reject their file"""
    calendar: NotRequired[Literal["XNYS", "CME", "24/7"] | None]
    """When the markets are open. Default: found in three weeks of candles or more"""


class ImportReport(TypedDict):
    """What files hold, or what was stored of them"""

    dry_run: bool
    """True for a preview: nothing was stored"""
    exchange: str | None
    """Exchange of files that name none"""
    spot_exchange: str | None
    """The same of spot pairs"""
    files: int
    """Files that were read"""
    imported_files: int
    recognized: list[RecognizedFiles]
    series: list[ImportedSeries]
    """Ascending by symbol; the first 1,000"""
    series_count: int
    previews: list[SeriesPreview]
    """In a preview the first 50 series"""
    notes: list[ImportNote]
    rejected: list[RejectedFiles]
    """Failed files first"""
    next: list[str]
    """Commands of backtests on what was imported"""


class ImportRequest(TypedDict):
    files: int
    """Number of files that will be sent"""
    bytes: int
    """Size of all files together, bytes"""


class ImportState(TypedDict):
    import_id: str
    status: Literal["receiving", "previewing", "previewed", "importing", "completed", "failed", "cancelled"]
    """`receiving`: files arrive, or a preview can be asked for. `previewed`: it can be started. `completed`, `failed` and `cancelled` are final, and the files are gone"""
    files: int
    """Files that were announced"""
    bytes: int
    received_files: int
    """Files that began to arrive"""
    received_bytes: int
    options: StatedImportOptions | None
    """Those of the last preview or start"""
    progress: float | None
    """Read share of the files, 0 to 1; null while it waits for another import, and at rest"""
    error: str | None
    """Why the last preview or the import failed"""
    created_at: str
    """ISO 8601, UTC"""
    updated_at: str
    """ISO 8601, UTC"""


class ImportUndo(TypedDict):
    symbol: str
    """`BASE/QUOTE:SETTLE`; `BASE/QUOTE` in spot"""
    timeframe: NotRequired[Literal["1m", "3m", "5m", "15m", "30m", "1h", "2h", "4h", "6h", "8h", "12h", "1d", "3d", "1w"] | None]
    """Only the series of this timeframe. Default: those that the last import of the symbol changed"""
    exchange: NotRequired[str | None]
    """Exchange of the series. Default: the configured exchange"""


class ImportedSeries(TypedDict):
    exchange: str
    symbol: str
    series: str
    """Timeframe, or `funding`"""
    files: int
    rows: int
    """Rows in the files"""
    stored: int | None
    """Rows stored between first and last; null in a preview"""
    first: str
    """ISO 8601, UTC"""
    last: str
    """ISO 8601, UTC"""
    gaps: int | None
    """Gaps between first and last; null for funding, and in a preview"""
    missing: int | None
    """Candles missing in these gaps"""
    duplicates: int | None
    """Rows merged into another row of the same time; null for funding"""


class Instrument(TypedDict):
    """Rules of one market"""

    amount_step: float | None
    """Amounts are integer multiples of it, contracts; null where the exchange names none"""
    min_amount: float | None
    """Minimum amount of an order, contracts; null where the exchange names none"""
    max_amount: float | None
    """Maximum amount of an order, contracts; null where the exchange names none"""
    min_cost: float | None
    """Minimum of amount times price of an order, contracts times quote currency; null where the exchange names none"""
    max_cost: float | None
    """Maximum of amount times price of an order, contracts times quote currency; null where the exchange names none"""
    contract_size: float
    """Base currency of one contract; 1 where amounts are in base currency"""
    price_tick: float | None
    """Prices are integer multiples of it, quote currency; null where the exchange names none"""
    collected_at: str
    """Time of the request to the exchange, ISO 8601, UTC"""
    leverage_tiers: NotRequired[InstrumentLeverageTiers]
    """Ranges of the value of a position with their margin; absent where they are not known"""
    symbol: str


class InstrumentHistory(TypedDict):
    exchange: str
    symbol: str
    items: list[DatedInstrument]
    """Ascending by time"""


class InstrumentLeverageTiers(TypedDict):
    """Ranges of the value of a position with their margin; absent where they are not known"""

    source: Literal["exchange", "import"]
    at: str
    """Time of the request or the import, ISO 8601, UTC"""
    tiers: list[InstrumentLeverageTiersTiersItem]


class InstrumentLeverageTiersTiersItem(TypedDict):
    min_notional: float
    """Value of a position from which it applies, quote currency"""
    max_notional: float
    max_leverage: float
    maintenance_rate: float
    """Maintenance margin as a ratio of the value"""
    maintenance_amount: float
    """Taken off the maintenance margin, quote currency"""


class Instruments(TypedDict):
    """Instruments collected from an exchange"""

    exchange: str
    instruments: list[Instrument]
    count: int


class JobCounts(TypedDict):
    """Jobs by status."""

    pending: JobCountsPending
    running: JobCountsRunning
    completed: JobCountsCompleted
    failed: JobCountsFailed
    cancelled: JobCountsCancelled


class JobCountsCancelled(TypedDict):
    value: int
    relation: Literal["exact", "at_least"]
    """`at_least`: more jobs than `value` may pass the filters"""


class JobCountsCompleted(TypedDict):
    value: int
    relation: Literal["exact", "at_least"]
    """`at_least`: more jobs than `value` may pass the filters"""


class JobCountsFailed(TypedDict):
    value: int
    relation: Literal["exact", "at_least"]
    """`at_least`: more jobs than `value` may pass the filters"""


class JobCountsPending(TypedDict):
    value: int
    relation: Literal["exact", "at_least"]
    """`at_least`: more jobs than `value` may pass the filters"""


class JobCountsRunning(TypedDict):
    value: int
    relation: Literal["exact", "at_least"]
    """`at_least`: more jobs than `value` may pass the filters"""


class JobDurations(TypedDict):
    queue_ms: int | None
    """Time in the queue, from the submission to the latest slot, ms; null until it has ended"""
    start_ms: int | None
    """Time from there to the claim by its latest task: freshness check, collection, start, ms; null until it has ended"""
    run_ms: int | None
    """Time from there to the end of the job, ms; null until it has ended"""


class JobEvent(TypedDict):
    kind: Literal["backtest", "hyperopt", "collection"]
    id: str
    """`job_id` or `collection_id`"""
    status: Literal["pending", "running", "completed", "failed", "cancelled"]
    progress: float | None
    """Completed share, 0 to 1; null for a failed or cancelled job"""


class KeepRequest(TypedDict):
    keep: NotRequired[bool | None]
    """false: the platform may delete the job again. Default: true"""


class KeptImport(TypedDict):
    """The last import that changed the series: it can be undone"""

    id: str
    at: str
    """ISO 8601, UTC"""


class LabelRequest(TypedDict):
    aliases: NotRequired[list[str] | None]
    """Aliases of the version from now on; another version of the model loses them. Letters, digits, `_` and `-`, no number. `latest` and `champion` follow the versions and stages: they have no effect here"""
    tags: NotRequired[list[str] | None]
    """Tags from now on"""


class LiveFigures(TypedDict):
    """What traders reported of a version in its active challenge."""

    challenge_id: str
    trades: int
    """Closed trades that count"""
    mean_profit_pct: float | None
    """Mean profit of these; null without any"""


Lock = TypedDict("Lock", {
    "pair": "str | None",
    "side": "Literal[\"long\", \"short\"] | None",
    "from": "str",
    "until": "str",
    "reason": "str",
})


class LoggedTrade(TypedDict):
    challenge_id: str
    trade_id: str
    variant: Literal["champion", "challenger"]
    accepted: bool
    """True when the trade is in the log"""
    duplicate: bool
    """True when it was logged before"""
    canary_stage: Literal["stage_1", "stage_2", "stage_3", "stage_4"]
    """Canary stage in which it is compared"""
    trade_status: Literal["open", "closed", "error"]
    misassigned: bool
    unassigned: bool
    """True when the challenge requires assignments, and the key had none: it does not count"""
    late: bool
    """True outside of the challenge: it does not count"""
    status: Literal["active", "completed", "rolled_back", "expired"]
    """Status of the challenge after the request"""
    champion_trades: int
    challenger_trades: int
    recommendation: str
    warnings: list[str]
    """Ignored keys of the body"""


class LoggedTrades(TypedDict):
    challenge_id: str
    items: list[LoggedTradesItemsItem1 | LoggedTradesItemsItem2]
    status: Literal["active", "completed", "rolled_back", "expired"]
    """Status of the challenge after the request"""
    champion_trades: int
    challenger_trades: int
    recommendation: str
    warnings: list[str]
    """Ignored keys of the body"""


class LoggedTradesItemsItem1(TypedDict):
    challenge_id: str
    trade_id: str
    variant: Literal["champion", "challenger"]
    accepted: bool
    """True when the trade is in the log"""
    duplicate: bool
    """True when it was logged before"""
    canary_stage: Literal["stage_1", "stage_2", "stage_3", "stage_4"]
    """Canary stage in which it is compared"""
    trade_status: Literal["open", "closed", "error"]
    misassigned: bool
    unassigned: bool
    """True when the challenge requires assignments, and the key had none: it does not count"""
    late: bool
    """True outside of the challenge: it does not count"""


class LoggedTradesItemsItem2(TypedDict):
    trade_id: str
    accepted: Literal[False]
    """Always false"""
    error: LoggedTradesItemsItem2Error


class LoggedTradesItemsItem2Error(TypedDict):
    code: str
    message: str
    field: str
    context: dict[str, Any]


class LookAhead(TypedDict):
    """Result of the look-ahead bias check of a run"""

    state: Literal["certified", "sampled", "not_checked", "found"]
    message: str
    """Checked parts, or the reason why nothing was checked"""
    cuts: int
    """Number of repeated runs on cut histories"""
    poisoned_cuts: NotRequired[int]
    """Of them, those that went on with changed candles; absent in runs of earlier versions"""
    rows: int
    """Compared candles, over all pairs"""
    pairs: list[str]
    """Checked pairs"""
    findings: list[str]
    """Values that depend on later candles, one sentence each; at most 20"""


class MarketSessions(TypedDict):
    """Times of the week at which the market is closed, by its calendar or its candles"""

    clock: Literal["utc", "us", "eu"]
    """UTC, or UTC with an hour added in the summer of the United States or of Europe"""
    closed: list[list[int]]
    """`[first minute of the week, minutes]`, from Monday, 00:00 by the clock"""


class Me(TypedDict):
    subject: str
    """Id of the caller, as in `user:<id>` of a grant: the `sub` of the token, or `anonymous` without one"""
    roles: list[Literal["viewer", "researcher", "approver", "admin"]]
    """Every role whose operations the caller may use, lowest first: a higher role includes the lower ones"""
    groups: list[str]
    """Groups of the token, as in `group:<name>` of a grant; roles are groups too"""
    enforced: bool
    """True where calls need a token, except health and documentation; false where calls without one are accepted"""


class MetricDefinition(TypedDict):
    label: str
    unit: Literal["percent", "quote", "base", "ratio", "count", "minutes", "days", "probability"]
    family: Literal["account", "equity", "closed_trades", "activity", "trades", "costs", "periods", "drawdowns", "counters", "fill_model", "assumptions", "data", "models", "robustness", "slippage", "universe"]
    """A family of metrics, or another part of the report"""
    formula: str
    """In the symbols of `notation`"""


class Metrics(TypedDict):
    """All metrics by family; null is undefined"""

    account: AccountMetrics
    equity: EquityMetrics
    closed_trades: ClosedTradeMetrics
    activity: ActivityMetrics


class MissingCandles(TypedDict):
    """Candles that are not stored, by the reason"""

    closed: int
    """The market was closed: by its week, for a holiday, or early"""
    no_trades: int
    """Nothing was traded: read as flat candles with volume 0"""
    damage: int
    """All others. Only these count against `max_missing` of a run"""


class MlEngine(TypedDict):
    """Models that are trained on the past of each pair and predict its next days, window by window. A setting that is not given is that of the strategy, else the default"""

    enabled: NotRequired[bool | None]
    """Train models and predict. Default: true"""
    model_type: NotRequired[str | None]
    """depthwise_gbdt, leafwise_gbdt, symmetric_gbdt, logistic_regression, or an alias in any case: xgboost, XGBoostClassifier, lightgbm, LightGBMClassifier, catboost, CatboostClassifier. Default: the setting of the strategy, else depthwise_gbdt"""
    train_period_days: NotRequired[int | None]
    """Training window before each prediction window, days. Default: the setting of the strategy, else 30"""
    backtest_period_days: NotRequired[int | None]
    """Prediction window of one model, days. Default: the setting of the strategy, else 7"""
    n_estimators: NotRequired[int | None]
    """Maximum number of trees. Default: the setting of the strategy, else 100"""
    learning_rate: NotRequired[float | None]
    """Factor of each tree's values. Default: the setting of the strategy, else 0.1"""
    max_depth: NotRequired[int | None]
    """Splits from root to leaf. Default: the setting of the strategy, else 4"""
    max_leaves: NotRequired[int | None]
    """Leaves of a tree, leafwise_gbdt only. Default: the setting of the strategy, else 31"""
    max_bins: NotRequired[int | None]
    """Bins of a feature's values. Default: the setting of the strategy, else 64"""
    l2: NotRequired[float | None]
    """L2 penalty on leaf values or weights. Default: the setting of the strategy, else 1"""
    min_child_weight: NotRequired[float | None]
    """Minimum weight of a leaf. Default: the setting of the strategy, else 1"""
    gamma: NotRequired[float | None]
    """Minimum loss reduction of a split. Default: the setting of the strategy, else 0"""
    subsample: NotRequired[float | None]
    """Fraction of the rows that a tree sees. Default: the setting of the strategy, else 1"""
    column_sample: NotRequired[float | None]
    """Fraction of the features that a tree sees. Default: the setting of the strategy, else 1"""
    early_stopping_rounds: NotRequired[int | None]
    """Boosting stops after this many trees without improvement on the validation rows; 0: never. Default: the setting of the strategy, else 20"""
    validation_fraction: NotRequired[float | None]
    """Validation rows: the last fraction of the training rows. Default: the setting of the strategy, else 0.2"""
    class_weight: NotRequired[float | Literal["none", "balanced"] | None]
    """`none`, `balanced`, or the weight of label 1 relative to label 0. Default: the setting of the strategy, else none"""
    entry_threshold: NotRequired[float | None]
    """Minimum probability of a long entry; a short needs at most 1 minus it. Not for strategies that read the predictions. Default: 0.5"""


class MlflowAliasDeletion(TypedDict):
    name: str
    alias: str


class MlflowAliasRequest(TypedDict):
    name: str
    version: str
    alias: str


class MlflowError(TypedDict):
    error_code: str
    """Such as RESOURCE_DOES_NOT_EXIST, INVALID_PARAMETER_VALUE"""
    message: str


class MlflowExperiment(TypedDict):
    experiment_id: str
    name: str
    artifact_location: str
    lifecycle_stage: Literal["active"]
    last_update_time: int
    """Submission of its newest job; 0: unknown"""
    tags: list[MlflowExperimentTagsItem]


class MlflowExperimentAnswer(TypedDict):
    experiment: MlflowExperiment


class MlflowExperimentList(TypedDict):
    experiments: list[MlflowExperiment]
    next_page_token: str
    """Empty at the end"""


class MlflowExperimentTagsItem(TypedDict):
    key: str
    value: str


class MlflowFileList(TypedDict):
    root_uri: str
    files: list[MlflowFileListFilesItem]


class MlflowFileListFilesItem(TypedDict):
    path: str
    """Relative to the path of the request"""
    is_dir: bool


class MlflowGetLatestVersionsBody(TypedDict):
    name: str
    stages: NotRequired[list[str] | None]
    """Names of stages, in any case. Default: every stage"""


class MlflowLoggedModelList(TypedDict):
    models: list[dict[str, Any]]
    """Empty"""
    next_page_token: str
    """Empty at the end"""


class MlflowMetric(TypedDict):
    key: str
    value: float
    timestamp: int
    """Milliseconds since 1970"""
    step: int


class MlflowMetricList(TypedDict):
    metrics: list[MlflowMetric]
    next_page_token: str
    """Empty at the end"""


class MlflowModelAnswer(TypedDict):
    registered_model: MlflowRegisteredModel


class MlflowModelList(TypedDict):
    registered_models: list[MlflowRegisteredModel]
    next_page_token: str
    """Empty at the end"""


class MlflowModelRequest(TypedDict):
    name: str
    """Name of a strategy"""
    tags: NotRequired[list[MlflowModelRequestTagsItem] | None]
    """Not stored: tag a version"""
    description: NotRequired[str | None]
    """Not stored: describe a version"""


class MlflowModelRequestTagsItem(TypedDict):
    key: str
    value: NotRequired[str | None]
    """Default: "\""""


class MlflowModelVersion(TypedDict):
    name: str
    version: str
    creation_timestamp: int
    """Milliseconds since 1970"""
    last_updated_timestamp: int
    """Milliseconds since 1970"""
    user_id: str
    current_stage: str
    description: str
    source: str
    """Artifacts of the backtest"""
    run_id: str
    """Backtest that was registered"""
    status: Literal["READY"]
    tags: list[MlflowModelVersionTagsItem]
    aliases: list[str]


class MlflowModelVersionTagsItem(TypedDict):
    key: str
    value: str


MlflowNothing: TypeAlias = "dict[str, Any]"


class MlflowRegisteredModel(TypedDict):
    name: str
    creation_timestamp: int
    """Milliseconds since 1970"""
    last_updated_timestamp: int
    """Milliseconds since 1970"""
    user_id: str
    description: str
    latest_versions: list[MlflowModelVersion]
    """Newest version of each stage"""
    tags: list[MlflowRegisteredModelTagsItem]
    aliases: list[MlflowRegisteredModelAliasesItem]


class MlflowRegisteredModelAliasesItem(TypedDict):
    alias: str
    version: str


class MlflowRegisteredModelTagsItem(TypedDict):
    key: str
    value: str


class MlflowRun(TypedDict):
    info: MlflowRunInfo
    data: MlflowRunData


class MlflowRunAnswer(TypedDict):
    run: MlflowRun


class MlflowRunData(TypedDict):
    metrics: list[MlflowMetric]
    params: list[MlflowRunDataParamsItem]
    tags: list[MlflowRunDataTagsItem]


class MlflowRunDataParamsItem(TypedDict):
    key: str
    value: str


class MlflowRunDataTagsItem(TypedDict):
    key: str
    value: str


class MlflowRunInfo(TypedDict):
    run_id: str
    run_uuid: str
    """Same as `run_id`"""
    run_name: str
    experiment_id: str
    user_id: str
    status: Literal["SCHEDULED", "RUNNING", "FINISHED", "FAILED", "KILLED"]
    start_time: int
    """Milliseconds since 1970"""
    end_time: int
    """0 until the run ends"""
    artifact_uri: str
    lifecycle_stage: Literal["active"]


class MlflowRunList(TypedDict):
    runs: list[MlflowRun]
    next_page_token: str
    """Empty at the end"""


class MlflowSearchExperimentsBody(TypedDict):
    filter: NotRequired[str | None]
    """Comparisons joined by AND, such as `metrics.sharpe_ratio > 1 AND params.strategy = "ema_crossover"`. Operators: =, !=, <, <=, >, >=, LIKE, ILIKE, IN, NOT IN"""
    max_results: NotRequired[int | None]
    """Maximum number of items on a page; a text of digits too"""
    order_by: NotRequired[list[str] | None]
    """Fields, each with ASC or DESC"""
    page_token: NotRequired[str | None]
    """`next_page_token` of the previous page, with the same filters"""
    view_type: NotRequired[str | None]
    """`DELETED_ONLY` finds none"""


class MlflowSearchLoggedModelsBody(TypedDict):
    experiment_ids: NotRequired[list[str] | None]
    filter: NotRequired[str | None]
    page_token: NotRequired[str | None]


class MlflowSearchRunsBody(TypedDict):
    filter: NotRequired[str | None]
    """Comparisons joined by AND, such as `metrics.sharpe_ratio > 1 AND params.strategy = "ema_crossover"`. Operators: =, !=, <, <=, >, >=, LIKE, ILIKE, IN, NOT IN"""
    max_results: NotRequired[int | None]
    """Maximum number of items on a page; a text of digits too"""
    order_by: NotRequired[list[str] | None]
    """Fields, each with ASC or DESC"""
    page_token: NotRequired[str | None]
    """`next_page_token` of the previous page, with the same filters"""
    experiment_ids: NotRequired[list[str] | None]
    """Experiments of the runs. Default: all of them"""
    run_view_type: NotRequired[str | None]
    """`DELETED_ONLY` finds none"""


class MlflowTagDeletion(TypedDict):
    name: str
    version: str
    key: str
    """Letters, digits, spaces and `_ - . / :`"""


class MlflowTagRequest(TypedDict):
    name: str
    version: str
    key: str
    """Letters, digits, spaces and `_ - . / :`"""
    value: NotRequired[str | None]
    """With the key and `=` up to 250 characters"""


class MlflowTransitionRequest(TypedDict):
    name: str
    version: str
    stage: str
    """`Staging`, `Production` or `Archived`: from Archived to Production is a rollback, from Production to Archived a stop"""
    archive_existing_versions: NotRequired[bool | None]
    """A model has one version in Production, and the one before is archived: `false` is refused while there is another one. Has no effect on Staging. Default: true"""


class MlflowUri(TypedDict):
    artifact_uri: str


class MlflowVersionAnswer(TypedDict):
    model_version: MlflowModelVersion


class MlflowVersionList(TypedDict):
    model_versions: list[MlflowModelVersion]


class MlflowVersionPage(TypedDict):
    model_versions: list[MlflowModelVersion]
    next_page_token: str
    """Empty at the end"""


class MlflowVersionRequest(TypedDict):
    name: str
    """Name of a strategy"""
    source: NotRequired[str | None]
    """Artifacts of the backtest: `mlflow-artifacts:/bt-<id>` or `runs:/bt-<id>`"""
    run_id: NotRequired[str | None]
    """The backtest. Default: that of the source"""
    tags: NotRequired[list[MlflowVersionRequestTagsItem] | None]
    """`touchstone.container_image_uri` is the image that runs the version, not a tag"""
    description: NotRequired[str | None]


class MlflowVersionRequestTagsItem(TypedDict):
    key: str
    value: NotRequired[str | None]
    """Default: "\""""


ModelEvent = TypedDict("ModelEvent", {
    "event_id": "str",
    "sequence": "int",
    "at": "str",
    "actor": "str",
    "action": "Literal[\"register\", \"stage\", \"promote\", \"rollback\", \"stop\", \"validate\", \"label\"]",
    "version": "str",
    "from": "Literal[\"None\", \"Staging\", \"Production\", \"Archived\"] | None",
    "to": "Literal[\"None\", \"Staging\", \"Production\", \"Archived\"]",
    "previous_production": "str | None",
    "production": "str | None",
    "archived_versions": "list[str]",
    "reason": "str | None",
    "notes": "list[str]",
    "waiver": "ModelEventWaiver1 | None",
    "challenge_id": "str | None",
    "correlation_id": "str",
})


class ModelEventWaiver1(TypedDict):
    checks: list[str]
    reason: str


class ModelHistory(TypedDict):
    items: list[ModelEvent]
    next_cursor: str | None
    """Opaque; send it as `cursor` with the same filters. null ends the iteration"""


class ModelQuality(TypedDict):
    """Out of sample; null where undefined"""

    rows: int
    """Predictions with a known outcome"""
    positives_pct: float | None
    auc: float | None
    """Probability that a row with label 1 ranks above a row with label 0; 0.5 has no predictive value"""
    log_loss: float | None
    """Mean negative log of the predicted probability of the outcome; 0.693 for a coin flip"""
    base_log_loss: float | None
    """Log loss of always predicting the base rate of label 1"""
    brier: float | None
    """Mean squared error of the probability; 0.25 for a coin flip"""


class ModelVersion(TypedDict):
    version: str
    stage: Literal["None", "Staging", "Production", "Archived"]
    created_at: str
    """ISO 8601, UTC"""
    updated_at: str
    """ISO 8601, UTC"""
    description: str
    backtest_run_id: str
    exchange: str
    """Exchange of the backtest; `sim` has simulated candles"""
    container_image_uri: str
    image_digest: str | None
    metrics: BacktestResult
    thresholds: ModelVersionThresholds1 | None
    validation_status: str
    """`pending`, `passed`, `failed` or `skipped`"""
    look_ahead: Literal["certified", "sampled", "not_checked", "found"]
    """Result of the look-ahead bias check"""
    created_by: str
    staged_at: str | None
    promoted_at: str | None
    archived_at: str | None
    rolled_back: bool
    rolled_back_reason: str | None
    stopped: bool
    """A stop took it out of Production"""
    stopped_reason: str | None
    same_run_as: SameRun | None
    aliases: list[str]
    """`latest`, `champion`, and those that users gave"""
    tags: list[str]
    trials: int
    """Trials to find this configuration: of its hyperopt job, or of the owner of the backtest if they are more"""
    evidence: ModelVersionEvidence1 | None
    """null: registered before it was kept"""
    waivers: list[Waiver]
    """Checks that admins waived, oldest first"""
    candle_digest: str
    strategy_digest: str
    engine_version: str
    content_hash: str
    """sha-256 of what the version is made of: it never changes"""


class ModelVersionDetail(TypedDict):
    model_name: str
    version: str
    stage: Literal["None", "Staging", "Production", "Archived"]
    created_at: str
    """ISO 8601, UTC"""
    updated_at: str
    """ISO 8601, UTC"""
    description: str
    backtest_run_id: str
    exchange: str
    """Exchange of the backtest; `sim` has simulated candles"""
    container_image_uri: str
    image_digest: str | None
    metrics: BacktestResult
    thresholds: ModelVersionDetailThresholds1 | None
    validation_status: str
    """`pending`, `passed`, `failed` or `skipped`"""
    look_ahead: Literal["certified", "sampled", "not_checked", "found"]
    """Result of the look-ahead bias check"""
    created_by: str
    staged_at: str | None
    promoted_at: str | None
    archived_at: str | None
    rolled_back: bool
    rolled_back_reason: str | None
    stopped: bool
    """A stop took it out of Production"""
    stopped_reason: str | None
    same_run_as: SameRun | None
    aliases: list[str]
    """`latest`, `champion`, and those that users gave"""
    tags: list[str]
    trials: int
    """Trials to find this configuration: of its hyperopt job, or of the owner of the backtest if they are more"""
    evidence: ModelVersionDetailEvidence1 | None
    """null: registered before it was kept"""
    waivers: list[Waiver]
    """Checks that admins waived, oldest first"""
    candle_digest: str
    strategy_digest: str
    engine_version: str
    content_hash: str
    """sha-256 of what the version is made of: it never changes"""
    config: ResolvedBacktestConfig
    validation: ModelVersionDetailValidation


ModelVersionDetailEvidence1 = TypedDict("ModelVersionDetailEvidence1", {
    "from": "str",
    "to": "str",
    "hyperopt_job_id": "str | None",
    "deflated_sharpe_ratio": "float | None",
    "trial_record": "NotRequired[TrialRecord]",
})


class ModelVersionDetailThresholds1(TypedDict):
    min_sharpe: NotRequired[float]
    min_profit_factor: NotRequired[float]
    max_drawdown: NotRequired[float]
    """Percent, of either sign"""


class ModelVersionDetailValidation(TypedDict):
    status: Literal["pending", "passed", "failed", "skipped"]
    checks: list[ModelVersionDetailValidationChecksItem]
    job_id: str | None
    """Job of the checks that need a task; null without one"""


class ModelVersionDetailValidationChecksItem(TypedDict):
    name: str
    status: Literal["passed", "failed", "warning", "pending", "skipped", "waived"]
    """`waived`: it failed, and an admin waived it for this transition"""
    message: str
    value: float | str | None
    threshold: float | str | None


ModelVersionEvidence1 = TypedDict("ModelVersionEvidence1", {
    "from": "str",
    "to": "str",
    "hyperopt_job_id": "str | None",
    "deflated_sharpe_ratio": "float | None",
    "trial_record": "NotRequired[TrialRecord]",
})


class ModelVersionList(TypedDict):
    model_name: str
    versions: list[ModelVersion]
    """Newest number first"""
    count: int
    """Length of `versions`"""
    next_cursor: str | None
    """Opaque; send it as `cursor` with the same filters. null ends the iteration"""


class ModelVersionThresholds1(TypedDict):
    min_sharpe: NotRequired[float]
    min_profit_factor: NotRequired[float]
    max_drawdown: NotRequired[float]
    """Percent, of either sign"""


class Ohlcv(TypedDict):
    exchange: str
    symbol: str
    timeframe: str
    data: list[Candle]
    """Closed candles, ascending by time"""
    count: int


class OpenApiDocument(TypedDict):
    openapi: str


class Order(TypedDict):
    side: Literal["entry", "exit"]
    placed_at: str
    """Open time of the candle of the order"""
    filled_at: str
    """Open time of the candle of its fill"""
    price: float
    amount: float
    """Base currency"""
    fee: float
    funding: float
    """Since the fill before it. Positive: received"""
    tag: str | None
    """Tag of an entry, reason of an exit"""


class OverfittingReport(TypedDict):
    trials: int
    """Trials of the job, including pruned, failed and repeated ones"""
    effective_trials: float | None
    """Number of independent trials they count as, from the mean correlation of their returns; null when undefined"""
    days: int
    """Days of daily returns: out of sample, or the whole range without ML models"""
    sharpe_ratio_daily: float | None
    """Sharpe ratio of the best trial, per day: not annualized; null when undefined"""
    expected_max_sharpe_daily: float | None
    """Expected best Sharpe ratio of the same number of zero-skill trials, per day; null when undefined"""
    probabilistic_sharpe_ratio: float | None
    """Probability that the true Sharpe ratio is above 0 if this had been the only trial, 0 to 1; null when undefined"""
    deflated_sharpe_ratio: float | None
    """Probability that the true Sharpe ratio exceeds the expected best of the same number of zero-skill trials, 0 to 1; null when undefined"""
    min_track_record_days: float | None
    """Days needed for 95 % confidence in a Sharpe ratio above 0; null when undefined"""
    pbo: OverfittingReportPbo1 | None
    """Combinatorially symmetric cross-validation (CSCV) of the daily returns of the complete trials; null with too few days or trials"""
    walk_forward_efficiency: float | None
    """Annualized return out of sample divided by that in sample, of the best trial. Near 1 the return persists; near 0 or below the trial is overfitted; null when undefined"""
    plateau: OverfittingReportPlateau1 | None
    """Plateau around the best parameters; null with fewer than ten complete trials"""


class OverfittingReportPbo1(TypedDict):
    probability: float
    """Probability of backtest overfitting, 0 to 1: share of the splits in which the best trial in sample is at or below the median out of sample. Good below 0.1, no predictive value above 0.5"""
    loss_probability: float
    """Share of the splits in which the best trial in sample loses out of sample"""
    degradation_slope: float | None
    """Slope of the out-of-sample Sharpe ratio on the in-sample one; below 0: the better in sample, the worse out of sample; null when undefined"""
    blocks: int
    """Blocks that the days are cut into"""
    splits: int
    """Ways to choose half of the blocks as in-sample"""


class OverfittingReportPlateau1(TypedDict):
    width: float
    """Distance from the best parameters, as a share of their ranges, within which values stay near the best. Near 0: an isolated peak"""
    trials: int
    """Complete trials within that distance"""


class Overview(TypedDict):
    evaluated_at: str
    """ISO 8601, UTC"""
    missing: list[Literal["backtests", "hyperopt", "collections", "production", "challenges", "waiting", "freshness"]]
    """Parts that could not be read in time: their fields are null, their jobs are absent"""
    counts: OverviewCounts
    """Pending and running jobs are counted up to 100, ended ones up to 1,000, collections among the newest 50"""
    moving: list[OverviewJob]
    """Unfinished jobs, the running ones first, at most 50"""
    ended: list[OverviewJob]
    """Ended jobs, the last one first: 10 of those submitted last"""
    production: OverviewProduction1 | None
    """Versions in Production by name, at most 20"""
    challenges: OverviewChallenges1 | None
    """Challenges that are active or whose winner awaits its promotion, newest first, at most 20"""
    waiting: OverviewWaiting1 | None
    """What waits for a decision that the caller may make"""
    freshness: OverviewFreshness1 | None
    """Age of the stored candles of the default exchange"""


class OverviewChallenges1(TypedDict):
    items: list[Challenge]
    more: bool
    """true: the list of this resource has more"""


class OverviewCounts(TypedDict):
    """Pending and running jobs are counted up to 100, ended ones up to 1,000, collections among the newest 50"""

    backtests: JobCounts | None
    hyperopt: JobCounts | None
    collections: JobCounts | None


class OverviewFreshness1(TypedDict):
    exchange: str
    stale_threshold_hours: int
    series: int
    """Number of stored series of the exchange"""
    complete: bool
    """false: only the first 500 symbols were read"""
    stale: int
    """Number of series that are older than the threshold or corrupt"""
    worst: list[OverviewFreshness1WorstItem]
    """Oldest series, at most 5"""


class OverviewFreshness1WorstItem(TypedDict):
    symbol: str
    timeframe: str | None
    """The series examined; null when none is stored"""
    first: str | None
    last: str | None
    age_hours: float | None
    """Hours since the last closed candle ended; null when none is stored"""
    fresh: bool


class OverviewJob(TypedDict):
    kind: Literal["backtest", "hyperopt", "collection"]
    id: str
    """`job_id` or `collection_id`"""
    status: Literal["pending", "running", "completed", "failed", "cancelled"]
    progress: float | None
    """Completed share, 0 to 1; null for a failed or cancelled job"""
    name: str
    """Strategy; for a collection its symbols"""
    experiment_name: str | None
    exchange: str
    created_at: str
    """ISO 8601, UTC"""
    started_at: str | None
    """null: not started; for a collection always null"""
    finished_at: str | None
    """null: not finished"""
    total_profit_pct: float | None
    """Percent of the starting wallet; null unless a completed backtest"""
    best_value: float | None
    """Best value of a hyperopt job so far; null without one"""
    look_ahead: Literal["certified", "sampled", "not_checked", "found"] | None
    """State of the look-ahead bias check, of which the job has the rest. `found`: the metrics cannot be earned; such a run comes after all others in every order of a metric and is never the best. null until completed"""
    new_candles: int | None
    """New candles that a collection has stored so far; null for other jobs"""
    error: str | None
    """Begin of the message of a failed job"""


class OverviewProduction1(TypedDict):
    items: list[ProductionStrategy]
    more: bool
    """true: the list of this resource has more"""


class OverviewWaiting1(TypedDict):
    count: int
    """Length of both lists"""
    approvals: list[Approval]
    """Open requests that the caller may approve, newest first, at most 20"""
    challenges: list[Challenge]
    """Of `challenges`, those held for an approval, and winners that await their promotion"""
    more: bool
    """true: more than these may wait"""


class PeriodRow(TypedDict):
    """Trades by the UTC day of closing"""

    key: str
    """YYYY-MM-DD, YYYY-MM, YYYY or the name of a weekday"""
    return_pct: float
    """Return of the equity: its value at the period's end over the one before the period, less 1; weekdays: their daily returns compounded"""
    total_profit: float
    """Total profit"""
    total_profit_pct: float
    """Total profit %"""
    total_trades: int
    """Trades"""
    winning_trades: int
    """Winning trades"""
    losing_trades: int
    """Losing trades"""
    draws: int
    """Draws"""
    win_rate: float | None
    """Win rate %"""
    profit_factor: float | None
    """Profit factor"""


class Plot(TypedDict):
    """How a chart draws the columns of the strategy"""

    main: NotRequired[dict[str, PlotColumn]]
    """Columns over the candles"""
    panels: NotRequired[dict[str, dict[str, PlotColumn | list[float]]]]
    """Panels below them by name, each with its columns; `levels` are horizontal lines"""


class PlotColumn(TypedDict):
    color: NotRequired[str]
    """Name, `#hex` or `rgba()`; absent: chosen by the chart"""
    fillTo: NotRequired[str]
    """Column up to which the area is filled"""
    type: NotRequired[Literal["line", "bar", "scatter"]]
    """Absent: `line`"""


class ProductionAt(TypedDict):
    model_name: str
    at: str
    """ISO 8601, UTC"""
    version: str | None
    """Version in Production at that time; null without one"""


ProductionPeriod = TypedDict("ProductionPeriod", {
    "version": "str | None",
    "from": "str",
    "to": "str",
    "action": "Literal[\"register\", \"stage\", \"promote\", \"rollback\", \"stop\", \"validate\", \"label\"] | None",
    "actor": "str | None",
    "reason": "str | None",
})


ProductionPeriods = TypedDict("ProductionPeriods", {
    "model_name": "str",
    "from": "str",
    "to": "str",
    "periods": "list[ProductionPeriod]",
})


class ProductionStrategy(TypedDict):
    name: str
    model_name: str
    version: str
    stage: Literal["Production", "Staging"]
    description: str
    exchange: str
    pairs: list[str]
    timeframe: str
    ml_engine: ProductionStrategyMlEngine
    metrics: ProductionStrategyMetrics
    backtest_run_id: str
    owner: str
    tags: list[str]
    validation_status: Literal["pending", "passed", "failed", "skipped"]
    look_ahead: NotRequired[Literal["certified", "sampled", "not_checked", "found"]]
    """Result of the look-ahead bias check. Default: "not_checked\""""
    waivers: list[Waiver]
    created_at: str
    """ISO 8601, UTC"""
    updated_at: str
    """ISO 8601, UTC"""
    promoted_at: str | None
    active_challenge_id: str | None
    """Active challenge of the model"""
    live: LiveFigures | None
    """null without an active challenge"""


class ProductionStrategyMetrics(TypedDict):
    total_trades: int
    total_profit_pct: float
    sharpe_ratio: float
    profit_factor: float
    win_rate: float
    max_drawdown_pct: float
    undefined_metrics: NotRequired[UndefinedMetrics]
    """Absent in rows of earlier versions"""


class ProductionStrategyMlEngine(TypedDict):
    enabled: bool
    model_type: str


class PromoteReply(TypedDict):
    success: bool
    """False only for a check list (`validate_only`) that failed"""
    message: str
    archived_versions: list[str]
    previous_stage: Literal["None", "Staging", "Production", "Archived"]
    new_stage: Literal["None", "Staging", "Production", "Archived"]
    model_name: str
    version: str
    previous_production: str | None
    promoted_at: str | None
    warnings: list[str]
    """Ignored keys of the body, and other warnings"""


class PromoteRequest(TypedDict):
    """Requires `version` or `model_version`"""

    version: NotRequired[str | int | None]
    """A version number, or an alias: `latest`, `champion`, or one that users gave"""
    model_version: NotRequired[str | int | None]
    """Synonym of `version`"""
    comment: NotRequired[str | None]
    """Recorded in the history"""
    expected_production: NotRequired[str | int | None]
    """Reject with RES005 unless this version is in Production; null: no version is in Production"""
    challenge_id: NotRequired[str | None]
    """Challenge that the version has won, as the caller says"""
    force: NotRequired[bool | None]
    """Promote regardless of the validation; stage and release policy still apply. Role admin. Default: false"""
    waive: NotRequired[WaiveRequest | None]
    """Checks of the release policy that this transition may fail, and the reason. Recorded in the history. Role admin"""


Protection: TypeAlias = "ProtectionItem1 | ProtectionItem2 | ProtectionItem3 | ProtectionItem4"


class ProtectionItem1(TypedDict):
    method: Literal["CooldownPeriod"]
    lookback_period: NotRequired[float]
    """Trades closed within this time count"""
    lookback_period_candles: NotRequired[int]
    """The same in candles of the timeframe"""
    stop_duration: NotRequired[float]
    """Length of the lock from the last counted trade"""
    stop_duration_candles: NotRequired[int]
    """The same in candles of the timeframe"""
    unlock_at: NotRequired[str]
    """End of the lock as a time of day, `HH:MM` in UTC"""


class ProtectionItem2(TypedDict):
    method: Literal["StoplossGuard"]
    lookback_period: NotRequired[float]
    """Trades closed within this time count"""
    lookback_period_candles: NotRequired[int]
    """The same in candles of the timeframe"""
    stop_duration: NotRequired[float]
    """Length of the lock from the last counted trade"""
    stop_duration_candles: NotRequired[int]
    """The same in candles of the timeframe"""
    unlock_at: NotRequired[str]
    """End of the lock as a time of day, `HH:MM` in UTC"""
    trade_limit: NotRequired[int]
    """Least number of trades"""
    only_per_pair: NotRequired[bool]
    """Lock the pair only"""
    only_per_side: NotRequired[bool]
    """Count and lock the side of the closed trade only"""
    required_profit: NotRequired[float]


class ProtectionItem3(TypedDict):
    method: Literal["LowProfitPairs"]
    lookback_period: NotRequired[float]
    """Trades closed within this time count"""
    lookback_period_candles: NotRequired[int]
    """The same in candles of the timeframe"""
    stop_duration: NotRequired[float]
    """Length of the lock from the last counted trade"""
    stop_duration_candles: NotRequired[int]
    """The same in candles of the timeframe"""
    unlock_at: NotRequired[str]
    """End of the lock as a time of day, `HH:MM` in UTC"""
    trade_limit: NotRequired[int]
    """Least number of trades"""
    only_per_side: NotRequired[bool]
    """Count and lock the side of the closed trade only"""
    required_profit: NotRequired[float]


class ProtectionItem4(TypedDict):
    method: Literal["MaxDrawdown"]
    lookback_period: NotRequired[float]
    """Trades closed within this time count"""
    lookback_period_candles: NotRequired[int]
    """The same in candles of the timeframe"""
    stop_duration: NotRequired[float]
    """Length of the lock from the last counted trade"""
    stop_duration_candles: NotRequired[int]
    """The same in candles of the timeframe"""
    unlock_at: NotRequired[str]
    """End of the lock as a time of day, `HH:MM` in UTC"""
    trade_limit: NotRequired[int]
    """Least number of trades"""
    max_allowed_drawdown: NotRequired[float]
    calculation_mode: NotRequired[Literal["ratios", "equity"]]


class Provenance(TypedDict):
    engine_version: str
    strategy_digest: str
    """Over the strategy's source; sha-256, hex"""
    parameters_digest: str
    """sha-256, hex"""
    config_digest: str
    """sha-256, hex"""
    data_digest: str
    """sha-256, hex"""
    instruments_digest: NotRequired[str]
    """Over the instruments of the pairs; absent in a run without precision; sha-256, hex"""
    digest: str
    """Over all of the above: equal digests, equal bytes; sha-256, hex"""
    slippage_model: NotRequired[SlippageModel]
    """Model of the spread, impact and participation of the fills, a part of config_digest; absent: only `slippage`"""


class ProxyAnswer(TypedDict):
    success: bool
    data: ProxyAnswerData
    error: NotRequired[ProxyAnswerError]
    """Present exactly when `success` is false"""


class ProxyAnswerData(TypedDict):
    operation: str
    result: dict[str, Any] | None
    """Has `error`, a string, when data collection failed"""


class ProxyAnswerError(TypedDict):
    """Present exactly when `success` is false"""

    code: str
    message: str
    field: str


class ProxyRequest(TypedDict):
    operation: Literal["health", "fetch_ohlcv", "symbols", "status", "check-freshness"]
    params: NotRequired[dict[str, Any] | None]
    """The operation's parameters"""
    deadline_ms: NotRequired[float | None]
    """Maximum duration of the call, ms; the remaining time of the function applies too"""
    safe: NotRequired[bool | None]
    """false: a failure of data collection returns an `error` with the status of its code instead of a safe result. Default: true"""


class QueueState(TypedDict):
    position: int | Literal["1,000+"] | None
    """Estimated number of jobs that start before this one, plus one; null while it starts"""
    waiting_for: Literal["slot", "capacity", "start"]
    """`slot`: as many jobs run as the platform allows; `capacity`: AWS had no capacity or the registry did not deliver the image, and the start is repeated; `start`: the job has a slot, and its task is starting"""
    reason: str | None
    """Capacity that was lacking; null otherwise"""
    next_start: str | None
    """Next start at the earliest; null: at any time"""


class RecognizedFiles(TypedDict):
    """Files of one kind"""

    recognizer: str
    """Kind of file; empty for files that are not known"""
    content: str
    market: str
    """`futures`, `spot`, or empty before the file is read"""
    symbols: list[str]
    """The first three"""
    symbol_count: int
    timeframes: list[str]
    format: str
    files: int
    bytes: int


class RegimeCell(TypedDict):
    trend: Literal["up", "down"]
    """Sign of the 90-day return of the benchmark"""
    volatility: Literal["low", "middle", "high"]
    """Tercile of the 30-day volatility of the benchmark among its values up to then"""
    days: int
    trades: int
    """By the day of closing"""
    return_pct: float | None
    profit: float
    """Change of the equity on these days"""
    profit_share_pct: float | None
    sharpe_ratio: float | None
    sharpe_ratio_error: float | None
    max_drawdown_pct: float | None


class RegisterReply(TypedDict):
    success: bool
    """False only for a check list (`validate_only`) that failed"""
    message: str
    version: str
    model_name: str
    stage: Literal["None", "Staging", "Production", "Archived"]
    validation: RegisterReplyValidation
    content_hash: str
    warnings: list[str]
    """Ignored keys of the body, and other warnings"""


class RegisterReplyValidation(TypedDict):
    status: Literal["pending", "passed", "failed", "skipped"]
    checks: list[RegisterReplyValidationChecksItem]
    job_id: str | None
    """Job of the checks that need a task; null without one"""


class RegisterReplyValidationChecksItem(TypedDict):
    name: str
    status: Literal["passed", "failed", "warning", "pending", "skipped", "waived"]
    """`waived`: it failed, and an admin waived it for this transition"""
    message: str
    value: float | str | None
    threshold: float | str | None


class RegisterRequest(TypedDict):
    backtest_run_id: str
    """`job_id` of a completed backtest of the strategy"""
    container_image_uri: str
    """Image that runs the version"""
    description: NotRequired[str | None]
    skip_validation: NotRequired[bool | None]
    """Register without comparing the thresholds; the version is marked `skipped`. It waives no look-ahead bias. Role admin. Default: false"""
    thresholds: NotRequired[RegisterRequestThresholds | None]
    """Required metrics of the backtest; equality passes. Without thresholds the version is marked `skipped`. Unknown ones are ignored and listed in the warnings"""
    tags: NotRequired[list[str] | None]
    waive: NotRequired[WaiveRequest | None]
    """Register a run with a found look-ahead bias: `checks` is `["look_ahead"]`, and `reason` says why. Recorded in the history and the catalog. Role admin"""


class RegisterRequestThresholds(TypedDict):
    """Required metrics of the backtest; equality passes. Without thresholds the version is marked `skipped`. Unknown ones are ignored and listed in the warnings"""

    min_sharpe: NotRequired[float | None]
    min_profit_factor: NotRequired[float | None]
    max_drawdown: NotRequired[float | None]
    """Percent, of either sign"""


class RejectedFiles(TypedDict):
    """Files that are not imported for one reason"""

    outcome: Literal["skipped", "failed"]
    reason: str
    files: int
    bytes: int
    names: list[str]
    """The first three files"""


class ReleaseRules(TypedDict):
    four_eyes: bool
    """The user who registered a version may not promote or approve it"""
    validation_required: bool
    """Only versions whose validation passed enter Production"""
    rollback_reason_required: bool
    release_policy: ReleaseRulesReleasePolicy


class ReleaseRulesReleasePolicy(TypedDict):
    min_trades: float | None
    """Trades of the backtest"""
    min_days: float | None
    """Days from the first traded candle to the end of the candles"""
    max_evidence_age_days: float | None
    """Days since the end of the candles"""
    min_sharpe: float | None
    """Sharpe ratio"""
    min_profit_factor: float | None
    """Profit factor"""
    max_drawdown: float | None
    """Percent"""
    min_deflated_sharpe: float | None
    """Deflated Sharpe ratio, 0 to 1"""
    look_ahead_certificate: bool
    """Only versions that are certified free of look-ahead bias enter Production"""


class ReportAssumptions(TypedDict):
    """What each assumption earned, by size, and what a fee or slippage higher by so much would cost. First-order effects: they do not add up"""

    assumptions: list[ReportAssumptionsAssumptionsItem]
    costs: list[ReportAssumptionsCostsItem]


class ReportAssumptionsAssumptionsItem(TypedDict):
    name: Literal["gap_at_stop", "order_in_candle", "freed_later", "entry_settlement", "open_at_end"]
    text: str
    without: str
    """What the amount is compared with"""
    trades: int | None
    """Trades that it changes; null when unknown"""
    amount: float | None
    """Profit now minus profit without the assumption, same trades and stakes; positive: it helped. null when unknown"""
    amount_pct: float | None
    """Of the wallet"""
    reason: str | None
    """Why it is unknown"""


class ReportAssumptionsCostsItem(TypedDict):
    basis_points: float
    """Of the values of entries and exits"""
    amount: float
    amount_pct: float


class ReportCosts(TypedDict):
    gross_profit: float
    """Profit before all costs"""
    turnover: float
    fees: CostRow
    slippage: CostRow
    funding: CostRow
    total: CostRow


class ReportCounters(TypedDict):
    rejected_signals: int
    """Entry signals without a free slot"""
    timed_out_entries: int
    timed_out_exits: int
    cancelled_entries: int
    replaced_entries: int
    cancelled_exits: NotRequired[int]
    """Only of a strategy that adjusts the prices of waiting exits, like `replaced_exits`"""
    replaced_exits: NotRequired[int]


class ReportDrawdowns(TypedDict):
    daily: list[ReportDrawdownsDailyItem]
    """The ten deepest falls of the daily equity; the first is max_drawdown_pct"""
    candle: ReportDrawdownsCandle1 | None
    """The deepest fall at the close of every candle"""


class ReportDrawdownsCandle1(TypedDict):
    peak_at: str | None
    """null: the wallet at the start"""
    low_at: str
    """ISO 8601, UTC"""
    peak_equity: float
    low_equity: float
    depth_pct: float


class ReportDrawdownsDailyItem(TypedDict):
    start: str
    """Day of the peak; the run's first day when the peak is the wallet"""
    low: str
    """YYYY-MM-DD, UTC"""
    recovery: str | None
    """null: the run ended below the peak"""
    depth_pct: float
    depth_abs: float
    duration_days: int
    """To the recovery, or to the end of the run"""
    days_to_low: int


class ReportInformative(TypedDict):
    pair: str
    timeframe: Literal["1m", "3m", "5m", "15m", "30m", "1h", "2h", "4h", "6h", "8h", "12h", "1d", "3d", "1w"]
    origin: Literal["stored", "computed"]
    """`computed`: from stored candles of `source_timeframe`"""
    source_timeframe: Literal["1m", "3m", "5m", "15m", "30m", "1h", "2h", "4h", "6h", "8h", "12h", "1d", "3d", "1w"]
    candles: int
    """Candles read, filled ones included"""
    filled_candles: int
    first: str | None
    """null: no candle"""
    last: str | None
    read_by: list[str]
    """Traded pairs whose signals read the series"""
    digest: str
    """Over the candles read; sha-256, hex"""


class ReportModels(TypedDict):
    model_kind: str
    """Classifier kind of `model_type`"""
    features: int
    horizon: int
    """Candles until a label is known: the gap between training and prediction"""
    trained: int
    """Models over all windows and pairs"""
    windows_total: int
    windows: list[ReportWindow]
    """By pair and time; at most 1,000, evenly spread"""
    quality: ModelQuality
    calibration: list[ReportModelsCalibrationItem]
    """Predicted and observed frequency per decile of probability; deciles without predictions are omitted"""
    importances: list[ReportModelsImportancesItem]
    """Largest gain first"""


class ReportModelsCalibrationItem(TypedDict):
    low: float
    high: float
    rows: int
    mean_probability: float
    positive_share: float


class ReportModelsImportancesItem(TypedDict):
    feature: str
    gain: float
    """Mean share of the reduction of the training loss"""
    permutation: float | None
    """Mean rise of the log loss out of sample when the feature is shuffled, over at most 12 windows"""


class ReportPairData(TypedDict):
    pair: str
    candles: int
    """Traded candles, without startup candles"""
    first: str
    """ISO 8601, UTC"""
    last: str
    """ISO 8601, UTC"""
    startup_candles: int
    filled_candles: int
    """Gaps filled with the previous close, startup candles included"""
    filled_pct: float
    filled: NotRequired[ReportPairDataFilled]
    """Filled candles by the reason: the market was closed, nothing was traded, or they are lost. Absent: unknown, or none is filled"""
    largest_jump_pct: float
    """From a close to the next open"""
    enter_long_signals: int
    enter_short_signals: int
    market_change_pct: float
    funding_events: int
    detail_candles: int
    leverage_tiers: NotRequired[ReportPairDataLeverageTiers]
    """Absent: one maintenance margin rate for every size, that of the settings"""
    source_timeframe: NotRequired[Literal["1m", "3m", "5m", "15m", "30m", "1h", "2h", "4h", "6h", "8h", "12h", "1d", "3d", "1w"]]
    """Timeframe of the stored candles of which `candles` were computed; absent: they were stored"""
    digest: str
    """Over the candles, detail candles, funding and informative candles read; sha-256, hex"""


class ReportPairDataFilled(TypedDict):
    """Filled candles by the reason: the market was closed, nothing was traded, or they are lost. Absent: unknown, or none is filled"""

    closed: int
    no_trades: int
    damage: int


class ReportPairDataLeverageTiers(TypedDict):
    """Absent: one maintenance margin rate for every size, that of the settings"""

    count: int
    source: Literal["exchange", "import"]


class ReportPeriods(TypedDict):
    """Every period of the run, with or without trades"""

    day: list[PeriodRow]
    week: list[PeriodRow]
    """Key: the Monday on which the week begins"""
    month: list[PeriodRow]
    year: list[PeriodRow]
    weekday: list[PeriodRow]


class ReportRobustness(TypedDict):
    findings: list[str]
    """What the figures say, one sentence each"""
    break_even: BreakEven
    regimes: ReportRobustnessRegimes
    stress: list[StressResult]
    """Stress windows that the run overlaps"""
    benchmarks: list[BenchmarkAttribution]
    bootstrap: ReportRobustnessBootstrap
    """Stationary bootstrap of the daily returns: luck of the path only"""
    cost_sweep: NotRequired[CostSweep]
    """Absent unless asked for"""
    random_entries: NotRequired[ChanceTest]
    """Against the same trades at random times; absent unless asked for"""
    permutations: NotRequired[ChanceTest]
    """Against the strategy on permuted candles; absent unless asked for"""
    capacity: NotRequired[Capacity]
    """Size at which market impact takes the profit; absent unless asked for"""


class ReportRobustnessBootstrap(TypedDict):
    """Stationary bootstrap of the daily returns: luck of the path only"""

    samples: int
    mean_block_days: int | None
    cagr_pct: RobustnessInterval | None
    max_drawdown_pct: RobustnessInterval | None
    time_under_water_pct: RobustnessInterval | None
    reason: str | None
    """Why the figures are null; null: they are known"""


class ReportRobustnessRegimes(TypedDict):
    days_before: int
    """First days, which have no regime yet"""
    cells: list[RegimeCell]
    reason: str | None
    """Why the figures are null; null: they are known"""


class ReportSettings(TypedDict):
    """All settings that affect the results"""

    strategy: str
    exchange: str
    trading_mode: NotRequired[Literal["spot"]]
    """Absent: futures"""
    pairs: list[str]
    """With `universe`: every pair that was ever in; until the run has ended, and where it failed, the candidates"""
    universe: NotRequired[Universe]
    """Absent: all pairs are traded over the whole range"""
    timeframe: Literal["1m", "3m", "5m", "15m", "30m", "1h", "2h", "4h", "6h", "8h", "12h", "1d", "3d", "1w"]
    date_range: ReportSettingsDateRange
    stake_amount: float | Literal["unlimited"]
    dry_run_wallet: float
    max_open_trades: int
    fee: float
    slippage: float
    slippage_model: NotRequired[SlippageModel]
    """Absent: only `slippage`"""
    leverage: float
    tradable_balance_ratio: float
    available_capital: NotRequired[float]
    """Quote currency that may be traded; absent: tradable_balance_ratio decides"""
    amend_last_stake_amount: NotRequired[bool]
    """Absent: false"""
    last_stake_amount_min_ratio: NotRequired[float]
    """Absent: 0.5"""
    order_types: NotRequired[ReportSettingsOrderTypes]
    """Absent: limit orders"""
    unfilled_timeout: NotRequired[ReportSettingsUnfilledTimeout]
    """Minutes per side; absent: the one of the strategy for both"""
    ignore_entry_after_candles: NotRequired[int]
    """Detail candles in which an entry signal acts; absent: all"""
    max_adjustments: NotRequired[int]
    """Additions to a position; absent without a maximum"""
    position_stacking: NotRequired[bool]
    """Absent: one trade per pair"""
    margin_mode: NotRequired[Literal["isolated", "cross"]]
    """Absent in spot"""
    params: dict[str, float | str | bool]
    stoploss: float
    minimal_roi: dict[str, float]
    """Minutes since entry -> required profit ratio; -1 closes at any profit"""
    trailing: ReportSettingsTrailing1 | None
    protections: NotRequired[list[Protection]]
    """Absent without any"""
    timeframe_detail: Literal["1m", "5m", "15m", "1h", "4h", "1d"] | None
    max_missing: NotRequired[float]
    """Ratio of candles of a series that may be lost. Absent: 0.05"""
    fill_model: Literal["freqtrade", "conservative"]
    seed: int
    precision: NotRequired[Literal["exchange", "none"]]
    """`exchange`: prices and amounts follow the steps and limits of the instruments; `none`: no rounding and no minimum order. Default: "none\""""
    robustness: NotRequired[RobustnessTests]
    """Further tests; absent without any"""
    ml_engine: NotRequired[ResolvedMlEngine]
    """Absent in a run without machine learning"""
    signals: NotRequired[str]
    """Uploaded file of signals; absent without one"""
    signals_digest: NotRequired[str]
    """SHA-256 of the file of `signals`, hex"""
    first_candle: str
    """Open time of the first candle traded on"""
    last_candle: str
    """Open time of the last candle"""
    startup_candles: int | dict[str, int]
    """Startup candles before the start; of a strategy that declares them by timeframe its object"""
    can_short: bool
    use_exit_signal: bool
    exit_profit_only: bool
    exit_profit_offset: float
    ignore_roi_if_entry_signal: bool
    unfilled_timeout_minutes: float
    """Of entries; of exits too where `unfilled_timeout` is absent"""
    callbacks: list[str]
    """Per-candle callbacks that the strategy defines"""
    maintenance_margin_rate: NotRequired[float]
    """Absent in spot"""
    liquidation_buffer: NotRequired[float]
    """Absent in spot"""


class ReportSettingsDateRange(TypedDict):
    start: str
    """ISO 8601, UTC"""
    end: str
    """Exclusive: the run uses only candles that open before it"""


class ReportSettingsOrderTypes(TypedDict):
    """Absent: limit orders"""

    entry: Literal["limit", "market"]
    exit: Literal["limit", "market"]


class ReportSettingsTrailing1(TypedDict):
    positive: NotRequired[float]
    offset: NotRequired[float]
    only_offset_is_reached: NotRequired[bool]


class ReportSettingsUnfilledTimeout(TypedDict):
    """Minutes per side; absent: the one of the strategy for both"""

    entry: float
    exit: float


class ReportTables(TypedDict):
    """Largest total profit first; the last row is TOTAL"""

    per_pair: list[TableRow]
    per_enter_tag: list[TableRow]
    per_exit_reason: list[TableRow]
    per_enter_tag_and_exit_reason: list[TableRow]
    per_side: list[TableRow]
    per_group: NotRequired[list[TableRow]]
    """By group of the enter tag; absent without groups"""
    left_open: list[TableRow]
    """Trades closed only because the data ended, per pair"""


class ReportUniverse(TypedDict):
    candidates: int
    """Stored pairs that were ranked"""
    rebalances: int
    """Choices, the one at the start included"""
    short_rebalances: int
    """Choices that found fewer than `n` pairs"""
    delisted_trades: NotRequired[int]
    """Trades that were closed because their pair was delisted, with the exit reason `delisted`; absent in reports of engines before 1.8.0"""
    members: list[UniverseMember]
    """Every pair that was ever in, in the order of the run"""
    left_out: NotRequired[list[UniverseLeftOut]]
    """Candidates that could not be chosen, in the order of the run; absent without any"""
    survivorship: list[UniverseSurvivorship]
    digest: str
    """Over the volumes of all candidates; sha-256, hex"""


class ReportWindow(TypedDict):
    """One model: training data and prediction quality"""

    pair: str
    index: int
    """0 for the first window"""
    train_from: str
    """ISO 8601, UTC"""
    train_to: str
    """Exclusive; rows whose label is not known by then are left out"""
    test_from: str
    """ISO 8601, UTC"""
    test_to: str
    """Exclusive"""
    training_rows: int
    training_positives_pct: float | None
    iterations: int | None
    """Trees, or steps of the regression; null without a model"""
    skipped: str | None
    """Reason why no model was trained; null otherwise"""
    quality: ModelQuality
    calibration: list[ReportWindowCalibrationItem]
    """Predicted and observed frequency per decile of probability; deciles without predictions are omitted"""


class ReportWindowCalibrationItem(TypedDict):
    low: float
    high: float
    rows: int
    mean_probability: float
    positive_share: float


class RequestValidationError(TypedDict):
    """The body lacks a required field or has a value of the wrong JSON type."""

    detail: list[RequestValidationErrorDetailItem]


class RequestValidationErrorDetailItem(TypedDict):
    type: str
    """For example `missing`, `string_type`, `json_invalid`"""
    loc: list[str | int]
    """Location in the request, starting with `body`"""
    msg: str
    input: Any
    """The invalid value; null when it is missing or large"""


class ResolvedBacktestConfig(TypedDict):
    strategy: str
    exchange: str
    trading_mode: NotRequired[Literal["spot"]]
    """Absent: futures"""
    pairs: list[str]
    """With `universe`: every pair that was ever in; until the run has ended, and where it failed, the candidates"""
    universe: NotRequired[Universe]
    """Absent: all pairs are traded over the whole range"""
    timeframe: Literal["1m", "3m", "5m", "15m", "30m", "1h", "2h", "4h", "6h", "8h", "12h", "1d", "3d", "1w"]
    date_range: ResolvedBacktestConfigDateRange
    stake_amount: float | Literal["unlimited"]
    dry_run_wallet: float
    max_open_trades: int
    fee: float
    slippage: float
    slippage_model: NotRequired[SlippageModel]
    """Absent: only `slippage`"""
    leverage: float
    tradable_balance_ratio: NotRequired[float]
    """Absent: 0.99"""
    available_capital: NotRequired[float]
    """Quote currency that may be traded; absent: tradable_balance_ratio decides"""
    amend_last_stake_amount: NotRequired[bool]
    """Absent: false"""
    last_stake_amount_min_ratio: NotRequired[float]
    """Absent: 0.5"""
    order_types: NotRequired[ResolvedBacktestConfigOrderTypes]
    """Absent: limit orders"""
    unfilled_timeout: NotRequired[ResolvedBacktestConfigUnfilledTimeout]
    """Minutes per side; absent: the one of the strategy for both"""
    ignore_entry_after_candles: NotRequired[int]
    """Detail candles in which an entry signal acts; absent: all"""
    max_adjustments: NotRequired[int | None]
    """Largest number of additions; null: no limit; absent: that of the strategy"""
    position_stacking: NotRequired[bool]
    """Absent: one trade per pair"""
    margin_mode: NotRequired[Literal["isolated", "cross"]]
    """Absent: isolated"""
    params: dict[str, float | str | bool]
    stoploss: float
    minimal_roi: dict[str, float]
    """Minutes since entry -> required profit ratio; -1 closes at any profit"""
    trailing: ResolvedBacktestConfigTrailing1 | None
    protections: NotRequired[list[Protection]]
    """Absent without any"""
    timeframe_detail: Literal["1m", "5m", "15m", "1h", "4h", "1d"] | None
    max_missing: NotRequired[float]
    """Ratio of candles of a series that may be lost. Absent: 0.05"""
    fill_model: Literal["freqtrade", "conservative"]
    seed: int
    precision: NotRequired[Literal["exchange", "none"]]
    """`exchange`: prices and amounts follow the steps and limits of the instruments; `none`: no rounding and no minimum order. Default: "none\""""
    robustness: NotRequired[RobustnessTests]
    """Further tests; absent without any"""
    ml_engine: NotRequired[ResolvedMlEngine]
    """Absent in a run without machine learning"""
    signals: NotRequired[str]
    """Uploaded file of signals; absent without one"""
    signals_digest: NotRequired[str]
    """SHA-256 of the file of `signals`, hex"""


class ResolvedBacktestConfigDateRange(TypedDict):
    start: str
    """ISO 8601, UTC"""
    end: str
    """Exclusive: the run uses only candles that open before it"""


class ResolvedBacktestConfigOrderTypes(TypedDict):
    """Absent: limit orders"""

    entry: Literal["limit", "market"]
    exit: Literal["limit", "market"]


class ResolvedBacktestConfigTrailing1(TypedDict):
    positive: NotRequired[float]
    offset: NotRequired[float]
    only_offset_is_reached: NotRequired[bool]


class ResolvedBacktestConfigUnfilledTimeout(TypedDict):
    """Minutes per side; absent: the one of the strategy for both"""

    entry: float
    exit: float


class ResolvedMlEngine(TypedDict):
    enabled: Literal[True]
    """Always true"""
    model_type: str
    """As in the request"""
    train_period_days: int
    """Training window before each prediction window, days"""
    backtest_period_days: int
    """Prediction window of one model, days"""
    n_estimators: int
    """Maximum number of trees"""
    learning_rate: float
    """Factor of each tree's values"""
    max_depth: int
    """Splits from root to leaf"""
    max_leaves: int
    """Leaves of a tree, leafwise_gbdt only"""
    max_bins: int
    """Bins of a feature's values"""
    l2: float
    """L2 penalty on leaf values or weights"""
    min_child_weight: float
    """Minimum weight of a leaf"""
    gamma: float
    """Minimum loss reduction of a split"""
    subsample: float
    """Fraction of the rows that a tree sees"""
    column_sample: float
    """Fraction of the features that a tree sees"""
    early_stopping_rounds: int
    """Boosting stops after this many trees without improvement on the validation rows; 0: never"""
    validation_fraction: float
    """Validation rows: the last fraction of the training rows"""
    class_weight: float | Literal["none"] | Literal["balanced"]
    entry_threshold: float | None
    """null: the strategy reads the predictions"""


class ResumeRequest(TypedDict):
    comment: NotRequired[str | None]
    """Recorded in the history"""


class RobustnessInterval(TypedDict):
    """Quantiles 5 %, 50 % and 95 %"""

    low: float
    median: float
    high: float


class RobustnessTests(TypedDict):
    cost_sweep: NotRequired[Literal[True]]
    """Always true"""
    random_entries: NotRequired[int]
    permutations: NotRequired[int]
    capacity: NotRequired[Literal[True]]
    """Always true"""


class RollbackReply(TypedDict):
    success: bool
    """False only for a check list (`validate_only`) that failed"""
    message: str
    previous_production: str | None
    """null when none was in Production"""
    new_production: str
    model_name: str
    warnings: list[str]
    """Ignored keys of the body, and other warnings"""


class RollbackRequest(TypedDict):
    """Requires `version`, `target_version` or `expected_production`"""

    version: NotRequired[str | int | None]
    """The version to return to: a number, or an alias. Default: the one that was in Production last before the present one and was never rolled back or stopped; `expected_production` is required then"""
    target_version: NotRequired[str | int | None]
    """Synonym of `version`"""
    reason: NotRequired[str | None]
    """Recorded in the history"""
    expected_production: NotRequired[str | int | None]
    """Reject with RES005 unless this version is in Production; null: no version is in Production"""


class Route(TypedDict):
    model_name: str
    key: str
    version: str | None
    """Version that decides for this key; null when no version is in Production, and for every key of a stopped model"""
    entry_version: str | None
    """Version for new positions of this key: `version` while the challenge routes, afterwards the version in Production; null when there is none"""
    challenge_id: str | None
    """null without a challenge: plain Production"""
    variant: Literal["champion", "challenger"] | None
    canary_stage: Literal["stage_1", "stage_2", "stage_3", "stage_4"] | None
    bucket: float | None
    traffic_split: list[float] | None
    should_close: bool
    """Close the position: the model was stopped and has no version in Production; or its version was rolled back or stopped since, or rolled back as the challenger of this or the last challenge with `on_rollback: close`. False while its version is in Production"""


class SameRun(TypedDict):
    """Another version of the same backtest that was rolled back or stopped"""

    version: str
    reason: str | None


class SearchPermutations(TypedDict):
    searches: int
    undefined_searches: int
    """Searches without a complete trial: they count as worse than the best"""
    p_value: float | None
    """Share of the permuted searches and the search itself whose best is at least as good"""
    chance: SearchPermutationsChance1 | None
    """Quantiles 5 %, 50 % and 95 % of the best values of the permuted searches"""
    reason: str | None
    """Why there is no p-value"""


class SearchPermutationsChance1(TypedDict):
    low: float
    median: float
    high: float


class Series(TypedDict):
    symbol: str
    timeframe: str
    first: str
    """Open time of the first candle"""
    last: str
    """Open time of the last closed candle"""
    count: int
    gap_count: int
    """Number of gaps between the first and the last candle"""
    gaps: list[SeriesGapsItem]
    """The longest gaps, by time: at most 20 of a month, at most 40 in all"""
    complete_from: str | None
    """The exchange has no candles between this time and `first`; null when unknown"""
    corrupt: list[str]
    """Months (`YYYY-MM`) with a corrupt file, to be collected again"""
    updated_at: str
    """ISO 8601, UTC"""


class SeriesCondition(TypedDict):
    """Condition of a series by day"""

    exchange: str
    symbol: str
    timeframe: str
    items: list[DayCondition]
    """Ascending, without days on which no candle opens"""
    next_from: str | None
    """Send it as `from` for the following page; null at the end"""


class SeriesCopying(TypedDict):
    symbol: str
    """`BASE/QUOTE:SETTLE`; `BASE/QUOTE` in spot"""
    timeframe: NotRequired[Literal["1m", "3m", "5m", "15m", "30m", "1h", "2h", "4h", "6h", "8h", "12h", "1d", "3d", "1w"] | None]
    """Only the series of this timeframe. Default: all of the symbol, with its funding rates"""
    exchange: NotRequired[str | None]
    """Exchange of the series. Default: the configured exchange"""
    to_exchange: NotRequired[str | None]
    """Exchange of the result. Default: that of the series"""
    to_symbol: NotRequired[str | None]
    """Symbol of the result. Default: that of the series"""


class SeriesDeletion(TypedDict):
    symbol: str
    """`BASE/QUOTE:SETTLE`; `BASE/QUOTE` in spot"""
    timeframe: NotRequired[Literal["1m", "3m", "5m", "15m", "30m", "1h", "2h", "4h", "6h", "8h", "12h", "1d", "3d", "1w"] | None]
    """Only the series of this timeframe. Default: all of the symbol, with its funding rates"""
    exchange: NotRequired[str | None]
    """Exchange of the series. Default: the configured exchange"""
    force: NotRequired[bool | None]
    """True: also while something uses the series. Default: false"""


class SeriesDetails(TypedDict):
    exchange: str
    symbol: str
    timeframe: str
    first: str
    """Open time of the first candle"""
    last: str
    """Open time of the last closed candle"""
    count: int
    """Stored candles"""
    gap_count: int
    """Number of gaps between the first and the last candle"""
    missing_candles: int
    """Candles between the first and the last one that are not stored, without those of closed times"""
    missing: MissingCandles
    imported: bool
    """Files hold candles of the series"""
    calendar: Literal["XNYS", "CME", "24/7"] | None
    """Calendar that an import named"""
    updated_at: str
    """Time of the last change"""
    kept_import: KeptImport | None
    funding: bool
    """True when funding rates of the symbol are stored"""
    used_by: list[SeriesUse]
    """Pending and running jobs, unfinished collections, and versions in Staging and Production, of the symbol on the exchange, of any timeframe"""


class SeriesGapsItem(TypedDict):
    start: str
    """Open time of the first missing candle"""
    missing: int
    """Candles missing"""


class SeriesList(TypedDict):
    items: list[StoredSeriesItem]
    """Ascending by exchange, symbol and timeframe"""
    count: int


class SeriesPreview(TypedDict):
    exchange: str
    symbol: str
    timeframe: str
    rows: list[list[float]]
    """The first rows: open time in Unix ms, open, high, low, close, volume"""


class SeriesRenaming(TypedDict):
    symbol: str
    """`BASE/QUOTE:SETTLE`; `BASE/QUOTE` in spot"""
    timeframe: NotRequired[Literal["1m", "3m", "5m", "15m", "30m", "1h", "2h", "4h", "6h", "8h", "12h", "1d", "3d", "1w"] | None]
    """Only the series of this timeframe. Default: all of the symbol, with its funding rates"""
    exchange: NotRequired[str | None]
    """Exchange of the series. Default: the configured exchange"""
    to_exchange: NotRequired[str | None]
    """Exchange of the result. Default: that of the series"""
    to_symbol: NotRequired[str | None]
    """Symbol of the result. Default: that of the series"""
    force: NotRequired[bool | None]
    """True: also while something uses the series. Default: false"""


class SeriesUse(TypedDict):
    """Something that reads the candles of a symbol, or collects them"""

    kind: Literal["backtest", "hyperopt", "version", "collection"]
    id: str | None
    """ID of the job or collection, or `model/version`; null when it belongs to another user"""
    status: str
    """Status of the job or collection, or stage of the version"""


class Sharing(TypedDict):
    owner: str
    """ID of the user who created it"""
    shared_with: list[Grant]
    """Empty: private to the owner"""


class SharingRequest(TypedDict):
    shared_with: list[SharingRequestSharedWithItem]
    """All grants. A principal that is not in the list loses access"""
    expected_shared_with: NotRequired[list[SharingRequestExpectedSharedWithItem] | None]
    """Reject with RES005 unless these are the grants now, in any order"""


class SharingRequestExpectedSharedWithItem(TypedDict):
    principal: str
    """`user:<id>` (the `sub` of its tokens), `group:<name>` (of `cognito:groups`; roles are groups), or `everyone`"""
    level: NotRequired[Literal["read", "write"] | None]
    """`write` includes `read`. Default: "read\""""


class SharingRequestSharedWithItem(TypedDict):
    principal: str
    """`user:<id>` (the `sub` of its tokens), `group:<name>` (of `cognito:groups`; roles are groups), or `everyone`"""
    level: NotRequired[Literal["read", "write"] | None]
    """`write` includes `read`. Default: "read\""""


class Signals(TypedDict):
    """A file of signals. Its content never changes"""

    signals_id: str
    owner: str
    name: str | None
    format: Literal["csv", "parquet"]
    bytes: int
    sha256: str
    created_at: str
    """ISO 8601, UTC"""
    last_used_at: str | None
    """Submission of the newest backtest with this file; null: none. A file without one is deleted after 30 days"""


class SignalsList(TypedDict):
    items: list[Signals]
    next_cursor: str | None
    """Opaque; send it as `cursor` with the same filters. null ends the iteration"""


class SignalsRequest(TypedDict):
    format: Literal["csv", "parquet"]
    """Format of the file"""
    bytes: int
    """Size of the file"""
    sha256: str
    """SHA-256 of the file, hex: the upload accepts these bytes only"""
    name: NotRequired[str | None]
    """Name for lists"""


class SignalsUpload(TypedDict):
    signals_id: str
    owner: str
    name: str | None
    format: Literal["csv", "parquet"]
    bytes: int
    sha256: str
    created_at: str
    """ISO 8601, UTC"""
    last_used_at: str | None
    """Submission of the newest backtest with this file; null: none. A file without one is deleted after 30 days"""
    upload_url: str
    """Address for a PUT of the file. Locally it is a path of this service"""
    upload_headers: dict[str, str]
    """Headers that the PUT must have, with these values"""
    upload_expires_at: str
    """The PUT must begin before. Repeat the request with its Idempotency-Key for another address"""


class SlippageModel(TypedDict):
    spread: NotRequired[Literal["corwin_schultz", "edge"]]
    """Estimator of the bid-ask spread, half of which every market fill pays. Absent: no spread"""
    spread_days: NotRequired[int]
    """Days before the fill from which the spread is estimated; only with `spread`"""
    impact: NotRequired[float]
    """Coefficient of the square-root impact: the price moves by it times daily volatility times sqrt(amount / daily volume). Absent: no impact"""
    participation: NotRequired[float]
    """Largest fill as a share of the volume of the candle before it. Absent: orders of any size fill"""


class SlippageReport(TypedDict):
    """What the slippage model estimated and limited"""

    large_trades: int
    large_trades_pct: float | None
    """null without trades"""
    pairs: list[SlippageReportPairsItem]


class SlippageReportPairsItem(TypedDict):
    pair: str
    mean_spread_pct: float | None
    """null without an estimator, or without an estimate"""
    days_without_estimate: int
    capped_entries: int
    dropped_value: float
    capped_exits: int


class StageReply(TypedDict):
    success: bool
    """False only for a check list (`validate_only`) that failed"""
    message: str
    previous_stage: Literal["None", "Staging", "Production", "Archived"]
    new_stage: Literal["None", "Staging", "Production", "Archived"]
    model_name: str
    version: str
    validation: StageReplyValidation
    warnings: list[str]
    """Ignored keys of the body, and other warnings"""


class StageReplyValidation(TypedDict):
    status: Literal["pending", "passed", "failed", "skipped"]
    checks: list[StageReplyValidationChecksItem]
    job_id: str | None
    """Job of the checks that need a task; null without one"""


class StageReplyValidationChecksItem(TypedDict):
    name: str
    status: Literal["passed", "failed", "warning", "pending", "skipped", "waived"]
    """`waived`: it failed, and an admin waived it for this transition"""
    message: str
    value: float | str | None
    threshold: float | str | None


class StageRequest(TypedDict):
    """Requires `version` or `model_version`"""

    version: NotRequired[str | int | None]
    """A version number, or an alias: `latest`, `champion`, or one that users gave"""
    model_version: NotRequired[str | int | None]
    """Synonym of `version`"""
    comment: NotRequired[str | None]
    """Recorded in the history"""
    validate_only: NotRequired[bool | None]
    """Run the check list and change nothing. Default: false"""
    skip_validation: NotRequired[bool | None]
    """Stage without the check list; the release policy still applies. Role admin. Default: false"""
    waive: NotRequired[WaiveRequest | None]
    """Checks of the release policy that this transition may fail, and the reason. Recorded in the history. Role admin"""


class StatedImportOptions(TypedDict):
    exchange: NotRequired[str]
    """Exchange of the candles. Default: named by the files, else the configured exchange, else `binanceusdm`"""
    symbols: NotRequired[str]
    """Symbols of files that do not say them completely, separated by commas, such as `ETH/BTC`, or `ESH5=ES/USD:USD` for the series `ESH5` of a file"""
    timeframe: NotRequired[Literal["1m", "3m", "5m", "15m", "30m", "1h", "2h", "4h", "6h", "8h", "12h", "1d", "3d", "1w"]]
    """Default: by name, else by the rows"""
    columns: NotRequired[str]
    """Columns by name or number, such as `time=when,volume=traded`"""
    time_zone: NotRequired[str]
    """Zone of times that state none, such as `Europe/Athens` or `UTC-5`. Default: UTC"""
    spot: NotRequired[bool]
    """Names such as `BTCUSDT` are spot pairs"""
    skip_invalid: NotRequired[bool]
    """Leave out and count wrong rows, which otherwise reject their file"""
    calendar: NotRequired[Literal["XNYS", "CME", "24/7"]]
    """When the markets are open. Default: found in three weeks of candles or more"""


class StopReply(TypedDict):
    success: bool
    """False only for a check list (`validate_only`) that failed"""
    message: str
    model_name: str
    previous_production: str
    """The version that was stopped"""
    new_production: str | None
    """Always null"""
    warnings: list[str]
    """Ignored keys of the body, and other warnings"""


class StopRequest(TypedDict):
    reason: str | None
    """Why no version trades from now on. Recorded in the history and with the version"""
    expected_production: NotRequired[str | int | None]
    """Reject with RES005 unless this version is in Production; null: no version is in Production"""


class StoredSeriesItem(TypedDict):
    exchange: str
    symbol: str
    timeframe: str
    first: str
    """Open time of the first candle"""
    last: str
    """Open time of the last closed candle"""
    count: int
    """Stored candles"""
    gap_count: int
    """Number of gaps between the first and the last candle"""
    missing_candles: int
    """Candles between the first and the last one that are not stored, without those of closed times"""
    missing: MissingCandles
    imported: bool
    """Files hold candles of the series"""
    calendar: Literal["XNYS", "CME", "24/7"] | None
    """Calendar that an import named"""
    updated_at: str
    """Time of the last change"""


class StrategyConfiguration(TypedDict):
    strategy: str
    """The name that `config.strategy` of a backtest takes"""
    pairs: list[str]
    """Default pairs, `BASE/QUOTE:SETTLE`"""
    timeframe: str
    stake_amount: float
    """Default stake per trade, quote currency"""
    ml_engine: StrategyConfigurationMlEngine
    description: str
    startup_candles: int
    """Candles needed before the first signal with the default parameters, training data included"""
    can_short: bool
    leverage: float
    stoploss: float
    """Negative ratio of the stake"""
    minimal_roi: dict[str, float]
    """Minutes since entry -> required profit ratio"""
    trailing: StrategyConfigurationTrailing1 | None
    protections: list[Protection]
    use_exit_signal: bool
    exit_profit_only: bool
    exit_profit_offset: float
    ignore_roi_if_entry_signal: bool
    order_types: StrategyConfigurationOrderTypes
    unfilled_timeout: StrategyConfigurationUnfilledTimeout
    """Minutes after which an order that is not filled is cancelled"""
    ignore_entry_after_candles: int | None
    """Detail candles of a candle in which its entry signal acts; null: all of them"""
    max_adjustments: int | None
    """Additions to a position; null without a maximum"""
    callbacks: list[str]
    """Callbacks that the strategy defines"""
    informative_timeframes: list[str]
    """Higher timeframes of the same pair that it reads"""
    informative: list[StrategyConfigurationInformativeItem]
    """Other pairs that it reads"""
    parameters: dict[str, StrategyParameter]
    plot: Plot | None
    """null: a chart draws the columns as it chooses"""


class StrategyConfigurationInformativeItem(TypedDict):
    pair: str
    timeframe: str


class StrategyConfigurationList(TypedDict):
    items: list[StrategyConfiguration]
    broken: list[BrokenStrategyFile]


class StrategyConfigurationMlEngine(TypedDict):
    enabled: bool
    """True when the strategy trades on predictions; with `config.ml_engine` any strategy can run with models"""
    model_type: str
    """`none` for a strategy without machine learning"""


class StrategyConfigurationOrderTypes(TypedDict):
    entry: Literal["limit", "market"]
    exit: Literal["limit", "market"]


class StrategyConfigurationTrailing1(TypedDict):
    positive: NotRequired[float]
    offset: NotRequired[float]
    only_offset_is_reached: NotRequired[bool]


class StrategyConfigurationUnfilledTimeout(TypedDict):
    """Minutes after which an order that is not filled is cancelled"""

    entry: float
    exit: float


StrategyParameter: TypeAlias = "StrategyParameterItem1 | StrategyParameterItem2"


class StrategyParameterItem1(TypedDict):
    kind: Literal["integer", "number"]
    default: float
    min: float
    max: float
    description: str


class StrategyParameterItem2(TypedDict):
    kind: Literal["choice"]
    default: str | float | bool
    choices: list[str | float | bool]
    description: str


class StressResult(TypedDict):
    name: str
    start: str
    """YYYY-MM-DD, UTC"""
    end: str
    """YYYY-MM-DD, UTC"""
    text: str
    days: int
    """Days of the window in the run"""
    trades: int
    """Closed in these days"""
    return_pct: float
    market_return_pct: float
    """Of holding the pairs"""
    max_drawdown_pct: float


class Symbols(TypedDict):
    """Symbols with stored candles"""

    exchange: str
    symbols: list[str]
    count: int


class TableRow(TypedDict):
    """Metrics of one group of trades"""

    key: str
    """Group of the trades. TOTAL: all trades; OTHERS: all groups except the 199 with the most trades"""
    total_profit: float
    """Total profit"""
    total_profit_pct: float
    """Total profit %"""
    cagr_pct: float | None
    """CAGR %"""
    total_trades: int
    """Trades"""
    winning_trades: int
    """Winning trades"""
    losing_trades: int
    """Losing trades"""
    draws: int
    """Draws"""
    win_rate: float | None
    """Win rate %"""
    profit_mean_pct: float | None
    """Mean profit %"""
    profit_median_pct: float | None
    """Median profit %"""
    profit_sum_pct: float
    """Sum of profit %"""
    best_trade_pct: float | None
    """Best trade %"""
    worst_trade_pct: float | None
    """Worst trade %"""
    avg_duration_minutes: float | None
    """Average duration"""
    profit_factor: float | None
    """Profit factor"""
    expectancy: float | None
    """Expectancy"""
    expectancy_ratio: float | None
    """Expectancy ratio"""
    sqn: float | None
    """System quality number"""
    p_value: float | None
    """p-value of the mean trade"""
    closed_trade_sharpe_ratio: float | None
    """Sharpe ratio (closed trades)"""
    closed_trade_sortino_ratio: float | None
    """Sortino ratio (closed trades)"""
    closed_trade_calmar_ratio: float | None
    """Calmar ratio (closed trades)"""
    closed_trade_max_drawdown_abs: float
    """Max drawdown (closed trades)"""
    closed_trade_max_drawdown_pct: float
    """Max drawdown % (closed trades)"""
    closed_trade_max_relative_drawdown_pct: float
    """Max relative drawdown % (closed trades)"""


class Trade(TypedDict):
    id: int
    """1 for the first trade that was closed"""
    pair: str
    side: Literal["long", "short"]
    opened_at: str
    """Open time of the candle in which the entry was ordered"""
    closed_at: str
    """Open time of the exit candle"""
    duration_minutes: float
    entry_price: float
    """With additions: their average"""
    exit_price: float
    """Of the last exit"""
    amount: float
    """Base currency, of the last exit"""
    stake: float
    """Collateral before the last exit"""
    leverage: float
    enter_tag: str | None
    exit_reason: str
    """exit_signal (or its tag), stop_loss, trailing_stop_loss, liquidation, roi, delisted, force_exit, partial_exit, or the text of a custom exit"""
    fees: float
    """Of all orders"""
    slippage_cost: float
    """Cost relative to the prices without slippage"""
    funding: float
    """Positive: received"""
    profit: float
    """After fees, slippage and funding"""
    profit_pct: float
    """Percent of the collateral of all entries plus their fees"""
    initial_stop_price: float
    stop_price: float
    """When the trade was closed"""
    liquidation_price: float | None
    lowest_price: float
    """From the entry to the exit candle"""
    highest_price: float
    """From the entry to the exit candle"""
    left_open: bool
    """Closed only because the data ended"""
    group: str | None
    """Enter tag up to its first colon; null without one"""
    position: int | None
    """Number of the position in the run: trades of a group that overlap in time are one. null without a group"""
    orders: NotRequired[list[Order]]
    """In the order of filling; absent for a trade of one entry and one exit"""


class TradeColumns(TypedDict):
    """Arrays of equal length; times are Unix seconds"""

    id: list[int]
    pair: list[str]
    side: list[Literal["long", "short"]]
    opened_at: list[int]
    """Open time of the candle in which the entry was ordered, Unix seconds"""
    closed_at: list[int]
    """Open time of the exit candle, Unix seconds"""
    duration_minutes: list[float]
    entry_price: list[float]
    exit_price: list[float]
    amount: list[float]
    stake: list[float]
    leverage: list[float]
    enter_tag: list[str | None]
    exit_reason: list[str]
    fees: list[float]
    slippage_cost: list[float]
    funding: list[float]
    profit: list[float]
    profit_pct: list[float]
    initial_stop_price: list[float]
    stop_price: list[float]
    liquidation_price: list[float | None]
    lowest_price: list[float]
    highest_price: list[float]
    left_open: list[bool]
    group: list[str | None]
    position: list[int | None]
    orders: NotRequired[list[list[Order] | None]]
    """Orders of each trade, with ISO times; null for a trade of one entry and one exit. Absent when all are"""


class TradePath(TypedDict):
    """Levels of a trade, a row for each of its candles"""

    trade_id: int
    pair: str
    timeframe: Literal["1m", "3m", "5m", "15m", "30m", "1h", "2h", "4h", "6h", "8h", "12h", "1d", "3d", "1w"]
    items: list[TradePathItemsItem]
    next_cursor: str | None


class TradePathItemsItem(TypedDict):
    time: int
    """Open time of the candle, Unix seconds"""
    stop: float | None
    """Stop at the end of the candle; at the end of the trade its `stop_price`"""
    trailing: float | None
    """The same stop once it has moved; null before"""
    target: float | None
    """Price at which the profit reaches what the ROI requires; null without one"""
    liquidation: float | None
    """null without one"""


class TradeReason(TypedDict):
    candle: str
    """Open time of the candle of the fill"""
    rule: Literal["enter_signal", "given_signal", "addition", "partial_exit", "stop_loss", "trailing_stop_loss", "liquidation", "roi", "exit_signal", "custom_exit", "force_exit", "delisted"]
    price: float
    """Price of the fill, quote currency"""
    reason: str | None
    """Tag of an entry, reason of an exit"""
    values: dict[str, float | str | None]
    """Values that decided. Of a rule with a signal: `signal_candle` and every column of that row. Of a callback: `returned` and the columns of the row before. Prices are in quote currency, `distance` and `ratio` are ratios of the stake"""
    text: str
    """The same in words. Tags and reasons are texts of the strategy"""


class TradeWhy(TypedDict):
    trade: Trade
    entry: TradeReason
    exit: TradeReason
    additions: NotRequired[list[TradeReason]]
    """Absent without any"""
    partial_exits: NotRequired[list[TradeReason]]
    """Absent without any"""
    changed_candles: NotRequired[list[ChangedCandles]]
    """Candles that changed since the backtest: `values` are of the present ones. Absent without any"""


class TradesPage(TypedDict):
    items: list[Trade]
    """In the order of closing, 1,000 a page"""
    page: int
    pages: int
    total: int


class TransferRequest(TypedDict):
    resource: str
    """Path of a model, a job, a file of signals or a webhook: `models/<name>`, `backtests/bt-…`, `hyperopt/ho-…`, `signals/sg-…`, `webhooks/wh-…`"""
    owner: str
    """ID of the user who owns it from now on: the `sub` of its tokens"""


class TrialRecord(TypedDict):
    owner: int
    """Trials of the owner that count against the run, of any strategy, this one included"""
    strategy: int
    """Those of the same strategy"""
    session: int | None
    """Those of the same session, of any strategy; null without a session"""
    sharpe_ratio_daily: float | None
    """Mean / sample standard deviation of the daily equity returns, not annualized; null when they do not vary"""
    probabilistic_sharpe_ratio: float | None
    """Probability of a true Sharpe ratio above 0 if this were the only trial, 0 to 1; null when undefined"""
    expected_max_sharpe_daily: float | None
    """Expected best daily Sharpe ratio of as many trials without skill as `owner`; null when undefined"""
    deflated_sharpe_ratio: float | None
    """Probability that the true Sharpe ratio exceeds `expected_max_sharpe_daily`, 0 to 1; null when undefined. The probabilistic Sharpe ratio for a single trial"""
    strategy_deflated_sharpe_ratio: float | None
    """Deflated by the trials of `strategy`"""
    session_deflated_sharpe_ratio: float | None
    """Deflated by the trials of `session`"""
    lowest: NotRequired[Deflation]
    """The lowest of the three deflated ratios, which texts and the release policy use; null with a reason where that of the owner is undefined. Absent in jobs of earlier versions"""
    returns: NotRequired[TrialRecordReturns]
    """What lists deflate again, by the trials of now; absent in jobs of earlier versions"""


class TrialRecordReturns(TypedDict):
    """What lists deflate again, by the trials of now; absent in jobs of earlier versions"""

    count: int
    """Daily returns of the run"""
    digest: str
    """Digest of the daily returns; equal for all runs that never traded"""
    skewness: float | None
    """Null when the returns do not vary"""
    kurtosis: float | None
    """3 for the normal distribution; null when the returns do not vary"""


UndefinedMetrics: TypeAlias = "dict[str, Literal[\"no_trades\", \"no_losses\", \"no_wins\", \"equal_trades\", \"equal_losses\", \"under_30_days\", \"balance_lost\", \"equal_days\", \"no_losing_day\", \"equal_losing_days\", \"no_drawdown\", \"too_few_values\"]]"
"""Metrics without a value, and why. They satisfy no threshold and come last in every order; a profit factor without losses over 30 trades or more counts as infinite there"""


class UndoneImports(TypedDict):
    exchange: str
    symbol: str
    items: list[UndoneImportsItemsItem]


UndoneImportsItemsItem = TypedDict("UndoneImportsItemsItem", {
    "timeframe": "str",
    "import": "KeptImport",
    "count": "int",
})


class Universe(TypedDict):
    rule: Literal["top_volume"]
    n: int
    """Pairs at a time"""
    lookback_days: int
    """Days before a choice whose volumes are added up"""
    rebalance: Literal["daily", "weekly", "monthly"]
    """When the pairs are chosen again, at 00:00 UTC"""
    min_age_days: int
    """Days since the first stored candle of a pair"""
    delisting_haircut: NotRequired[float]
    """Ratio of the last close by which positions in a delisted pair are closed below it, or above it for shorts; 0 in jobs of engines before 1.8.0, which closed them at the last open. Default: 0"""
    candidates: list[str]
    """Pairs to choose from, in the order of the run"""


class UniverseFigures(TypedDict):
    total_profit_pct: float | None
    cagr_pct: float | None
    sharpe_ratio: float | None
    max_drawdown_pct: float | None
    total_trades: int


class UniverseLeftOut(TypedDict):
    pair: str
    reason: Literal["no_candles", "no_instrument", "corrupt_file"]
    missing: str
    """What is missing, such as `1h candles`"""


class UniverseMember(TypedDict):
    pair: str
    intervals: list[UniverseMemberIntervalsItem]
    """Times in which the pair may be entered; `to` is exclusive"""
    days_in: float
    """Length of the intervals, days"""
    ends: str | None
    """Close of the last candle of a pair whose candles end before the run; null: they do not"""


UniverseMemberIntervalsItem = TypedDict("UniverseMemberIntervalsItem", {
    "from": "str",
    "to": "str",
})


class UniverseSurvivorship(TypedDict):
    choice: Literal["survivors", "final_ranking"]
    """`survivors`: the same rule among the pairs that still trade at the end; `final_ranking`: the pairs that rank highest at the end, over the whole range"""
    pairs: list[str]
    """Pairs that were ever in"""
    figures: UniverseFigures | None
    """Of the same run over these pairs; null: none could be traded"""
    added: UniverseFigures | None
    """`figures` less those of the run: what survivorship would have added"""


class VersionComparison(TypedDict):
    model_name: str
    version_a: str
    """The champion"""
    version_b: str
    """The challenger"""
    decision: Literal["PROMOTE", "REJECT", "INCONCLUSIVE"]
    """Decision about the challenger"""
    confidence: float
    """0 to 1: probability that the mean trade differs in the decided direction"""
    confidence_method: Literal["welch", "metric_agreement"]
    """`welch`: Welch's test on profit_pct of all trades of both backtests. `metric_agreement`, where a trade list is too short or does not vary: share of the metrics with a direction that agree"""
    exchange: VersionComparisonExchange
    """Exchange of each backtest"""
    look_ahead: VersionComparisonLookAhead
    """Result of the look-ahead bias check of each. `found` in b is rejected; in a it makes the comparison inconclusive"""
    sample_sizes: VersionComparisonSampleSizes
    """Trades of each"""
    comparable: bool
    """True for the same market, timeframe and date range"""
    differences: list[VersionComparisonDifferencesItem]
    """Differences that prevent a comparison"""
    metrics: dict[str, ComparedMetric]
    guardrails: list[ComparisonGuardrail]
    recommendation: str
    warnings: list[str]
    """Differences that bias the comparison"""


class VersionComparisonDifferencesItem(TypedDict):
    field: str
    a: str
    b: str


class VersionComparisonExchange(TypedDict):
    """Exchange of each backtest"""

    a: str
    b: str


class VersionComparisonLookAhead(TypedDict):
    """Result of the look-ahead bias check of each. `found` in b is rejected; in a it makes the comparison inconclusive"""

    a: Literal["certified", "sampled", "not_checked", "found"]
    b: Literal["certified", "sampled", "not_checked", "found"]


class VersionComparisonSampleSizes(TypedDict):
    """Trades of each"""

    a: int
    b: int


class VersionPromotedEvent(TypedDict):
    """A version entered Production"""

    specversion: Literal["1.0"]
    id: str
    """The same for each delivery of an event. Use it to ignore repeated deliveries"""
    source: str
    """Stage and platform, such as `touchstone/prod/123456789012/eu-central-1/touchstone-prod-platform`. IDs are unique in a source only"""
    subject: str
    """Path of the resource, such as `backtests/bt-…`, `models/ema_crossover`, `challenges/ch-…`, `approvals/ap-…`"""
    time: str
    """Time of the change, ISO 8601, UTC"""
    actor: str
    """User who made the change; `platform` when it did itself"""
    datacontenttype: Literal["application/json"]
    sequence: int
    """Order of the events of a subject: later events have higher numbers. Numbers may be missing. Different subjects have no common order"""
    type: Literal["version.promoted"]
    data: VersionPromotedEventData


VersionPromotedEventData = TypedDict("VersionPromotedEventData", {
    "model_name": "str",
    "version": "str",
    "from": "Literal[\"None\", \"Staging\", \"Production\", \"Archived\"] | None",
    "to": "Literal[\"None\", \"Staging\", \"Production\", \"Archived\"]",
    "production": "str | None",
    "previous_production": "str | None",
    "reason": "str | None",
    "notes": "list[str]",
    "challenge_id": "str | None",
})


class VersionReadyToPromoteEvent(TypedDict):
    """The staging checks of a version have ended, and none failed"""

    specversion: Literal["1.0"]
    id: str
    """The same for each delivery of an event. Use it to ignore repeated deliveries"""
    source: str
    """Stage and platform, such as `touchstone/prod/123456789012/eu-central-1/touchstone-prod-platform`. IDs are unique in a source only"""
    subject: str
    """Path of the resource, such as `backtests/bt-…`, `models/ema_crossover`, `challenges/ch-…`, `approvals/ap-…`"""
    time: str
    """Time of the change, ISO 8601, UTC"""
    actor: str
    """User who made the change; `platform` when it did itself"""
    datacontenttype: Literal["application/json"]
    sequence: int
    """Order of the events of a subject: later events have higher numbers. Numbers may be missing. Different subjects have no common order"""
    type: Literal["version.ready_to_promote"]
    data: VersionReadyToPromoteEventData


VersionReadyToPromoteEventData = TypedDict("VersionReadyToPromoteEventData", {
    "model_name": "str",
    "version": "str",
    "from": "Literal[\"None\", \"Staging\", \"Production\", \"Archived\"] | None",
    "to": "Literal[\"None\", \"Staging\", \"Production\", \"Archived\"]",
    "production": "str | None",
    "previous_production": "str | None",
    "reason": "str | None",
    "notes": "list[str]",
    "challenge_id": "str | None",
})


class VersionRefusedEvent(TypedDict):
    """The staging checks of a version failed"""

    specversion: Literal["1.0"]
    id: str
    """The same for each delivery of an event. Use it to ignore repeated deliveries"""
    source: str
    """Stage and platform, such as `touchstone/prod/123456789012/eu-central-1/touchstone-prod-platform`. IDs are unique in a source only"""
    subject: str
    """Path of the resource, such as `backtests/bt-…`, `models/ema_crossover`, `challenges/ch-…`, `approvals/ap-…`"""
    time: str
    """Time of the change, ISO 8601, UTC"""
    actor: str
    """User who made the change; `platform` when it did itself"""
    datacontenttype: Literal["application/json"]
    sequence: int
    """Order of the events of a subject: later events have higher numbers. Numbers may be missing. Different subjects have no common order"""
    type: Literal["version.refused"]
    data: VersionRefusedEventData


VersionRefusedEventData = TypedDict("VersionRefusedEventData", {
    "model_name": "str",
    "version": "str",
    "from": "Literal[\"None\", \"Staging\", \"Production\", \"Archived\"] | None",
    "to": "Literal[\"None\", \"Staging\", \"Production\", \"Archived\"]",
    "production": "str | None",
    "previous_production": "str | None",
    "reason": "str | None",
    "notes": "list[str]",
    "challenge_id": "str | None",
})


class VersionRegisteredEvent(TypedDict):
    """A version of a model was registered"""

    specversion: Literal["1.0"]
    id: str
    """The same for each delivery of an event. Use it to ignore repeated deliveries"""
    source: str
    """Stage and platform, such as `touchstone/prod/123456789012/eu-central-1/touchstone-prod-platform`. IDs are unique in a source only"""
    subject: str
    """Path of the resource, such as `backtests/bt-…`, `models/ema_crossover`, `challenges/ch-…`, `approvals/ap-…`"""
    time: str
    """Time of the change, ISO 8601, UTC"""
    actor: str
    """User who made the change; `platform` when it did itself"""
    datacontenttype: Literal["application/json"]
    sequence: int
    """Order of the events of a subject: later events have higher numbers. Numbers may be missing. Different subjects have no common order"""
    type: Literal["version.registered"]
    data: VersionRegisteredEventData


VersionRegisteredEventData = TypedDict("VersionRegisteredEventData", {
    "model_name": "str",
    "version": "str",
    "from": "Literal[\"None\", \"Staging\", \"Production\", \"Archived\"] | None",
    "to": "Literal[\"None\", \"Staging\", \"Production\", \"Archived\"]",
    "production": "str | None",
    "previous_production": "str | None",
    "reason": "str | None",
    "notes": "list[str]",
    "challenge_id": "str | None",
})


class VersionRolledBackEvent(TypedDict):
    """A rollback took a version out of Production"""

    specversion: Literal["1.0"]
    id: str
    """The same for each delivery of an event. Use it to ignore repeated deliveries"""
    source: str
    """Stage and platform, such as `touchstone/prod/123456789012/eu-central-1/touchstone-prod-platform`. IDs are unique in a source only"""
    subject: str
    """Path of the resource, such as `backtests/bt-…`, `models/ema_crossover`, `challenges/ch-…`, `approvals/ap-…`"""
    time: str
    """Time of the change, ISO 8601, UTC"""
    actor: str
    """User who made the change; `platform` when it did itself"""
    datacontenttype: Literal["application/json"]
    sequence: int
    """Order of the events of a subject: later events have higher numbers. Numbers may be missing. Different subjects have no common order"""
    type: Literal["version.rolled_back"]
    data: VersionRolledBackEventData


VersionRolledBackEventData = TypedDict("VersionRolledBackEventData", {
    "model_name": "str",
    "version": "str",
    "from": "Literal[\"None\", \"Staging\", \"Production\", \"Archived\"] | None",
    "to": "Literal[\"None\", \"Staging\", \"Production\", \"Archived\"]",
    "production": "str | None",
    "previous_production": "str | None",
    "reason": "str | None",
    "notes": "list[str]",
    "challenge_id": "str | None",
})


class VersionStagedEvent(TypedDict):
    """A version entered Staging"""

    specversion: Literal["1.0"]
    id: str
    """The same for each delivery of an event. Use it to ignore repeated deliveries"""
    source: str
    """Stage and platform, such as `touchstone/prod/123456789012/eu-central-1/touchstone-prod-platform`. IDs are unique in a source only"""
    subject: str
    """Path of the resource, such as `backtests/bt-…`, `models/ema_crossover`, `challenges/ch-…`, `approvals/ap-…`"""
    time: str
    """Time of the change, ISO 8601, UTC"""
    actor: str
    """User who made the change; `platform` when it did itself"""
    datacontenttype: Literal["application/json"]
    sequence: int
    """Order of the events of a subject: later events have higher numbers. Numbers may be missing. Different subjects have no common order"""
    type: Literal["version.staged"]
    data: VersionStagedEventData


VersionStagedEventData = TypedDict("VersionStagedEventData", {
    "model_name": "str",
    "version": "str",
    "from": "Literal[\"None\", \"Staging\", \"Production\", \"Archived\"] | None",
    "to": "Literal[\"None\", \"Staging\", \"Production\", \"Archived\"]",
    "production": "str | None",
    "previous_production": "str | None",
    "reason": "str | None",
    "notes": "list[str]",
    "challenge_id": "str | None",
})


class VersionStoppedEvent(TypedDict):
    """A stop took a version out of Production, without a successor"""

    specversion: Literal["1.0"]
    id: str
    """The same for each delivery of an event. Use it to ignore repeated deliveries"""
    source: str
    """Stage and platform, such as `touchstone/prod/123456789012/eu-central-1/touchstone-prod-platform`. IDs are unique in a source only"""
    subject: str
    """Path of the resource, such as `backtests/bt-…`, `models/ema_crossover`, `challenges/ch-…`, `approvals/ap-…`"""
    time: str
    """Time of the change, ISO 8601, UTC"""
    actor: str
    """User who made the change; `platform` when it did itself"""
    datacontenttype: Literal["application/json"]
    sequence: int
    """Order of the events of a subject: later events have higher numbers. Numbers may be missing. Different subjects have no common order"""
    type: Literal["version.stopped"]
    data: VersionStoppedEventData


VersionStoppedEventData = TypedDict("VersionStoppedEventData", {
    "model_name": "str",
    "version": "str",
    "from": "Literal[\"None\", \"Staging\", \"Production\", \"Archived\"] | None",
    "to": "Literal[\"None\", \"Staging\", \"Production\", \"Archived\"]",
    "production": "str | None",
    "previous_production": "str | None",
    "reason": "str | None",
    "notes": "list[str]",
    "challenge_id": "str | None",
})


class WaiveRequest(TypedDict):
    checks: NotRequired[list[Literal["min_trades", "min_days", "max_evidence_age_days", "min_sharpe", "min_profit_factor", "max_drawdown", "min_deflated_sharpe", "look_ahead"]] | None]
    """Checks that this transition may fail; required"""
    reason: NotRequired[str | None]
    """Recorded in the history and the catalog; required"""


class Waiver(TypedDict):
    action: Literal["register", "stage", "promote"]
    checks: list[str]
    reason: str
    actor: str
    at: str
    """ISO 8601, UTC"""


class Webhook(TypedDict):
    webhook_id: str
    owner: str
    groups: list[str]
    """Groups of the owner at its last request that changed them: the webhook receives what is shared with them"""
    groups_at: str | None
    """Time of that request; null before it"""
    url: str
    types: list[str]
    description: str | None
    all: bool
    """true: events of all resources"""
    status: Literal["active", "paused", "disabled"]
    """`disabled`: the platform has stopped it after days of failures"""
    disabled_reason: str | None
    created_at: str
    """ISO 8601, UTC"""
    updated_at: str
    """ISO 8601, UTC"""
    failing_since: str | None
    """First failure since the last success"""
    last_success_at: str | None
    previous_secret_expires_at: str | None
    """Until then the previous secret signs too; null without one"""


class WebhookAttempt(TypedDict):
    at: str
    """ISO 8601, UTC"""
    status: int | None
    """HTTP status; null without a response"""
    error: str | None
    """Reason of the failure; null after a success"""
    duration_ms: int


class WebhookChange(TypedDict):
    url: NotRequired[str | None]
    """Receiver of the POST requests: `https`, port 443 or 1024 and above, without user and password, at a public address"""
    types: NotRequired[list[str] | None]
    """Types of events: `backtest.completed`, `version.*` for all of a kind, `*` for all"""
    description: NotRequired[str | None]
    """Note for the people who read the list; an empty one removes it"""
    status: NotRequired[Literal["active", "paused"] | None]
    """`paused` stops deliveries. `active` continues, also after the platform has disabled it"""


class WebhookDelivery(TypedDict):
    webhook_id: str
    delivery_id: str
    message_id: str
    """Header `webhook-id`: the same for each delivery of an event"""
    event_id: str
    type: str
    subject: str
    sequence: int
    status: Literal["pending", "delivered", "failed"]
    created_at: str
    """ISO 8601, UTC"""
    next_attempt_at: str | None
    attempts: int
    """Number of attempts"""
    last_attempts: list[WebhookAttempt]
    """The last 20 attempts, oldest first"""


class WebhookDeliveryList(TypedDict):
    """Deliveries of the last 7 days"""

    items: list[WebhookDelivery]
    next_cursor: str | None
    """Opaque; send it as `cursor` with the same filters. null ends the iteration"""


class WebhookList(TypedDict):
    items: list[Webhook]


class WebhookReplay(TypedDict):
    replayed: int
    """Events that are delivered again"""
    next_since: str | None
    """Time at which the next call continues: one call replays up to 500 events. null: all were replayed"""


class WebhookReplayRequest(TypedDict):
    since: str
    """Replay the events since this time, ISO 8601, up to 7 days back"""
    until: NotRequired[str | None]
    """Default: now"""


class WebhookRequest(TypedDict):
    url: str
    """Receiver of the POST requests: `https`, port 443 or 1024 and above, without user and password, at a public address"""
    types: NotRequired[list[str] | None]
    """Default: all types"""
    description: NotRequired[str | None]
    """Note for the people who read the list; an empty one removes it"""
    all: NotRequired[bool | None]
    """Deliver the events of all resources, regardless of who owns them. Only for admins. By default only events of resources that its owner may read, by the groups of its last request. Default: false"""


class WebhookWithSecret(TypedDict):
    """After a rotation both secrets sign for 24 h."""

    webhook_id: str
    owner: str
    groups: list[str]
    """Groups of the owner at its last request that changed them: the webhook receives what is shared with them"""
    groups_at: str | None
    """Time of that request; null before it"""
    url: str
    types: list[str]
    description: str | None
    all: bool
    """true: events of all resources"""
    status: Literal["active", "paused", "disabled"]
    """`disabled`: the platform has stopped it after days of failures"""
    disabled_reason: str | None
    created_at: str
    """ISO 8601, UTC"""
    updated_at: str
    """ISO 8601, UTC"""
    failing_since: str | None
    """First failure since the last success"""
    last_success_at: str | None
    previous_secret_expires_at: str | None
    """Until then the previous secret signs too; null without one"""
    secret: str
    """Key of the signatures. No other response contains it: store it now"""


class WithdrawRequest(TypedDict):
    reason: NotRequired[str | None]
    """Why"""
