"""Models, their versions and challenges."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from . import types
from .frames import records_frame
from .values import Moment, body_of, iso

if TYPE_CHECKING:
    import pandas as pd
    from typing_extensions import Self

    from .client import Touchstone

#: Most trades in one call.
_TRADES_PER_CALL = 100

VersionName = str | int


class Model:
    """A model of the registry: the versions of a strategy. `ts.model("ema_crossover")`."""

    def __init__(self, platform: Touchstone, name: str) -> None:
        self._platform = platform
        self.name = name

    def versions(self, *, include_archived: bool | None = None) -> list[types.ModelVersion]:
        """All versions, newest first."""
        pages = self._platform.pages(
            self._platform.backend.list_versions, self.name, include_archived=include_archived
        )
        return [version for page in pages for version in page["versions"]]

    def version(self, version: VersionName) -> Version:
        """A version by its number, `latest` or `champion`."""
        return Version(self._platform, self.name, self._platform.backend.get_version(self.name, str(version)))

    @property
    def champion(self) -> Version:
        """The version in Production."""
        return self.version("champion")

    def production(self, at: Moment | None = None) -> types.ProductionAt:
        """The version that is, or at a time was, in Production."""
        return cast("types.ProductionAt", self._platform.backend.get_production(self.name, at=iso(at)))

    def production_periods(
        self, start: Moment | None = None, end: Moment | None = None
    ) -> list[types.ProductionPeriod]:
        """The versions in Production over a range, oldest first. Default: from the first registration until now."""
        start = "2000-01-01" if start is None and end is None else start
        found = self._platform.backend.get_production(self.name, from_=iso(start), to=iso(end))
        return cast("types.ProductionPeriods", found)["periods"]

    def history(self) -> Iterator[types.ModelEvent]:
        """Every transition, newest first."""
        return self._platform.items(self._platform.backend.get_history, self.name)

    def stage(self, version: VersionName, **more: Any) -> types.StageReply:
        """Moves a version to Staging. `more`: further fields of `StageRequest`, such as `comment`."""
        key = more.pop("idempotency_key", None)
        body = body_of(types.StageRequest, {"version": version, **more})
        return self._platform.backend.stage_version(self.name, body, idempotency_key=key)

    def promote(self, version: VersionName, **more: Any) -> types.PromoteReply:
        """Moves a staged version to Production. `more`: further fields of `PromoteRequest`, such as `expected_production`."""
        key = more.pop("idempotency_key", None)
        body = body_of(types.PromoteRequest, {"version": version, **more})
        return self._platform.backend.promote_version(self.name, body, idempotency_key=key)

    def rollback(
        self, version: VersionName | None = None, reason: str | None = None, **more: Any
    ) -> types.RollbackReply:
        """Returns a version to Production; without `version` the one before, and `expected_production` is required."""
        key = more.pop("idempotency_key", None)
        given = {name: value for name, value in (("version", version), ("reason", reason)) if value is not None}
        body = body_of(types.RollbackRequest, {**given, **more})
        return self._platform.backend.rollback_model(self.name, body, idempotency_key=key)

    def stop(self, reason: str, **more: Any) -> types.StopReply:
        """Takes the version in Production out of it, without a successor. `more`: `expected_production`."""
        key = more.pop("idempotency_key", None)
        body = body_of(types.StopRequest, {"reason": reason, **more})
        return self._platform.backend.stop_model(self.name, body, idempotency_key=key)

    def route(self, key: str) -> types.Route:
        """The version that decides for a key now: Production, or a variant of the active challenge."""
        return self._platform.strategy.route_key(self.name, key=key)

    def challenge(
        self, challenger: VersionName, champion: VersionName = "champion", **more: Any
    ) -> Challenge:
        """Starts a challenge of the champion. `more`: further fields of `ChallengeRequest`, such as `min_trades`."""
        key = more.pop("idempotency_key", None)
        pair = {"champion_version": champion, "challenger_version": challenger}
        body = body_of(types.ChallengeRequest, {**pair, **more})
        created = self._platform.strategy.create_challenge(self.name, body, idempotency_key=key)
        return Challenge(self._platform, created["challenge_id"], created)

    def challenges(self, **filters: Any) -> Iterator[types.Challenge]:
        """Challenges of the model, newest first. `filters`: `status`."""
        return self._platform.items(self._platform.strategy.list_challenges, self.name, **filters)

    def __repr__(self) -> str:
        return f"<Model {self.name}>"


class Version:
    """A registered version."""

    def __init__(self, platform: Touchstone, model: str, detail: types.ModelVersionDetail) -> None:
        self._platform = platform
        self.model = model
        #: The version as it was read last.
        self.detail = detail

    @property
    def number(self) -> str:
        return self.detail["version"]

    @property
    def is_current(self) -> bool:
        """True while it is in Production."""
        return self.detail["stage"] == "Production"

    def refresh(self) -> Self:
        self.detail = self._platform.backend.get_version(self.model, self.number)
        return self

    def stage(self, **more: Any) -> Self:
        """Moves the version to Staging; see `Model.stage`."""
        self._platform.model(self.model).stage(self.number, **more)
        return self.refresh()

    def promote(self, **more: Any) -> Self:
        """Moves the version to Production; see `Model.promote`."""
        self._platform.model(self.model).promote(self.number, **more)
        return self.refresh()

    def label(self, *, aliases: Iterable[str] | None = None, tags: Iterable[str] | None = None) -> Self:
        """Replaces the aliases or the tags; what is not given stays. Another version of the model loses the aliases."""
        body: types.LabelRequest = {}
        if aliases is not None:
            body["aliases"] = list(aliases)
        if tags is not None:
            body["tags"] = list(tags)
        self.detail = self._platform.backend.label_version(self.model, self.number, body)
        return self

    def __repr__(self) -> str:
        return f"<Version {self.model} {self.number} {self.detail['stage']}>"


class Challenge:
    """A champion/challenger test: `ts.model("ema_crossover").challenge(2)`."""

    def __init__(self, platform: Touchstone, challenge_id: str, state: types.Challenge | None = None) -> None:
        self._platform = platform
        self.id = challenge_id
        self._state = state

    @property
    def state(self) -> types.Challenge:
        """The challenge as it was read last."""
        return self._state if self._state is not None else self.refresh().state

    @property
    def status(self) -> str:
        """`active`, `completed`, `rolled_back` or `expired`, as it was read last."""
        return self.state["status"]

    def refresh(self) -> Self:
        self._state = self._platform.strategy.get_challenge(self.id)
        return self

    def assign(self, key: str) -> types.Assignment:
        """Variant that decides for a key. It is decided once: ask at the entry."""
        return self._platform.strategy.assign_key(self.id, {"assignment_key": key})

    def log_trade(
        self, trade_id: str, profit_pct: float, **more: Any
    ) -> types.LoggedTrade | types.LoggedTrades:
        """Logs a closed trade. `more`: `variant` or `version`, and further fields of `ChallengeTradesRequest`."""
        body = body_of(types.ChallengeTradesRequest, {"trade_id": trade_id, "profit_pct": profit_pct, **more})
        return self._platform.strategy.log_trades(self.id, body)

    def log_trades(self, trades: Iterable[Mapping[str, Any]] | pd.DataFrame) -> int:
        """Logs trades, a hundred per call, and returns their number. A trade that was logged before counts once.

        :param trades: Rows with `trade_id`, `variant` or `version`, and `profit_pct`; NaN and None are left out
        """
        rows = trades.to_dict("records") if hasattr(trades, "to_dict") else list(trades)
        items: Any = [_plain(row) for row in rows]
        for first in range(0, len(items), _TRADES_PER_CALL):
            self._platform.strategy.log_trades(self.id, {"trades": items[first : first + _TRADES_PER_CALL]})
        return len(items)

    @property
    def trades(self) -> pd.DataFrame:
        """The logged trades."""
        items = self._platform.items(self._platform.strategy.list_challenge_trades, self.id)
        return records_frame(list(items), ("opened_at", "closed_at", "created_at", "updated_at"))

    def evaluate(self) -> types.ChallengeEvaluation:
        """Recommendation, means, p-value and confidence sequence. It may be looked at after every trade."""
        return self._platform.strategy.evaluate_challenge(self.id)

    def events(self) -> Iterator[Mapping[str, Any]]:
        """What happened to the challenge."""
        return self._platform.items(self._platform.strategy.list_challenge_events, self.id)

    def advance(self, **more: Any) -> Self:
        body = body_of(types.AdvanceRequest, more)
        return self._changed(self._platform.strategy.advance_challenge(self.id, body))

    def hold(self, **more: Any) -> Self:
        body = body_of(types.HoldRequest, more)
        return self._changed(self._platform.strategy.hold_challenge(self.id, body))

    def resume(self, **more: Any) -> Self:
        body = body_of(types.ResumeRequest, more)
        return self._changed(self._platform.strategy.resume_challenge(self.id, body))

    def promote(self, **more: Any) -> Self:
        """Promotes the challenger that has won."""
        body = body_of(types.ChallengePromoteRequest, more)
        return self._changed(self._platform.strategy.promote_challenge(self.id, body))

    def rollback(self, **more: Any) -> Self:
        """Ends the challenge: the champion stays."""
        body = body_of(types.ChallengeRollbackRequest, more)
        return self._changed(self._platform.strategy.roll_back_challenge(self.id, body))

    def _changed(self, state: types.Challenge) -> Self:
        self._state = state
        return self

    def __repr__(self) -> str:
        status = self._state["status"] if self._state is not None else "not read"
        return f"<Challenge {self.id} {status}>"


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    """Values of a row, with times as text. Data frames have NaN or NaT where a value is missing."""
    texts = {name: value.isoformat() if hasattr(value, "isoformat") else value for name, value in row.items()}
    return {
        name: value
        for name, value in texts.items()
        if value is not None and value != "NaT" and not (isinstance(value, float) and math.isnan(value))
    }
