"""Jobs: backtests and hyperopt jobs that run on the platform."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timezone
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from . import types
from .chart import CANDLE_NAMES, MAX_CANDLES, MAX_TRADES, Chart, ChartView, plotted_names
from .connection import MAX_FAILURES, Event, back_off, may_pass
from .errors import JobError, TouchstoneError, WaitTimeout
from .frames import by_day, by_time, columns_frame, records_frame, trades_frame
from .values import Moment, body_of, iso

if TYPE_CHECKING:
    import pandas as pd
    from typing_extensions import Self

    from .client import Touchstone
    from .registry import Version

#: Most trades on a page.
_TRADES_PER_PAGE = 5000
_ENDED = ("completed", "failed", "cancelled")
#: Between two reads of a job, s: the first pause, and the longest.
_FIRST_INTERVAL = 0.2
_LONGEST_INTERVAL = 5.0

Progress = Callable[[Mapping[str, Any]], None]


class _Job:
    """A job that is read until it has ended."""

    def __init__(self, platform: Touchstone, job_id: str, job: Mapping[str, Any] | None = None) -> None:
        self._platform = platform
        self.id = job_id
        self._job: Any = job

    def _read(self) -> Mapping[str, Any]:
        raise NotImplementedError

    def refresh(self) -> Self:
        """Reads the job again."""
        self._job = self._read()
        return self

    @property
    def status(self) -> str:
        """`pending`, `running`, `completed`, `failed` or `cancelled`, as it was read last."""
        return str(self._current["status"])

    @property
    def _current(self) -> Any:
        if self._job is None:
            self.refresh()
        return self._job

    def wait(self, timeout: float | None = None, *, progress: bool | Progress = False) -> Self:
        """Waits until the job has completed, also while the platform restarts: some ten minutes.

        :param timeout: Longest wait, s; None waits without a limit
        :param progress: True prints a line to stderr; a function is called with each state of the job
        :raises JobError: when it failed or was cancelled
        :raises WaitTimeout: when it has not ended in time; it continues to run
        """
        report = _progress_line() if progress is True else progress
        interval = _FIRST_INTERVAL
        deadline = None if timeout is None else time.monotonic() + timeout
        failures = 0
        while True:
            failure: TouchstoneError | None = None
            try:
                job = self.refresh()._job
            except TouchstoneError as error:
                failures += 1
                if not may_pass(error) or failures >= MAX_FAILURES:
                    raise
                failure, pause = error, max(back_off(failures), error.retry_after or 0)
            else:
                failures = 0
                if report:
                    report(job)
                if job["status"] in _ENDED:
                    break
                pause, interval = interval, min(_LONGEST_INTERVAL, interval * 1.5)
            left = float("inf") if deadline is None else deadline - time.monotonic()
            if left <= 0:
                state = f"cannot be read ({failure})" if failure else f"is {job['status']}"
                raise WaitTimeout(
                    f"{self.id} {state} after {timeout} s. Call wait() again to continue"
                ) from failure
            self._platform.connection.pause(min(pause, left))
        if job["status"] != "completed":
            raise JobError(job)
        return self

    @property
    def look_ahead(self) -> types.LookAhead | None:
        """The look-ahead bias check; None until the job has completed. With the state `found` no metric can be earned."""
        return self._current["look_ahead"]

    @property
    def _is_found(self) -> bool:
        found = self._job.get("look_ahead") if self._job else None
        return found is not None and found["state"] == "found"

    def __repr__(self) -> str:
        status = self._job["status"] if self._job else "not read"
        return f"<{type(self).__name__} {self.id} {status}{', look-ahead found' if self._is_found else ''}>"


class Backtest(_Job):
    """A backtest: `run = ts.backtest("ema_crossover", fast=10).wait()`."""

    def _read(self) -> types.BacktestJob:
        return self._platform.backend.get_backtest(self.id)

    @property
    def job(self) -> types.BacktestJob:
        """The job as it was read last: status, settings, warnings and result."""
        job: types.BacktestJob = self._current
        return job

    @property
    def config(self) -> types.BacktestJobConfig:
        """Every setting of the run, with the defaults."""
        return self.job["config"]

    @property
    def metrics(self) -> types.BacktestResult:
        """Metrics of the completed run."""
        if (result := self.job["result"]) is None:
            raise JobError(self.job)
        return result

    @property
    def trial_record(self) -> types.TrialRecord | None:
        """Trials on overlapping assets and dates when the run completed, and the Sharpe ratio deflated by them."""
        return self.job["trials"]

    @cached_property
    def report(self) -> types.BacktestReportData:
        """The report: all metrics with their definitions, periods, costs and overfitting diagnostics. Without its trades."""
        return self._platform.backend.get_backtest_report(self.id, trades=False)

    @cached_property
    def equity(self) -> pd.DataFrame:
        """Equity and drawdown at the end of each UTC day."""
        data = self._platform.backend.get_backtest_equity(self.id)
        return by_day({"equity": data["equity"], "drawdown": data["drawdown"]}, data["dates"])

    def curve(
        self,
        resolution: Literal["day", "candle"] = "candle",
        *,
        start: Moment | None = None,
        end: Moment | None = None,
        points: int | None = None,
    ) -> pd.DataFrame:
        """Equity, drawdown and market at each candle; decimated to `points`, see `attrs["decimated"]`."""
        data = self._platform.backend.get_backtest_curve(
            self.id, resolution=resolution, from_=iso(start), to=iso(end), points=points
        )
        columns = {"equity": data["equity"], "drawdown": data["drawdown"]}
        if data["market"] is not None:
            columns["market"] = data["market"]
        frame = by_time(columns, data["times"])
        frame.attrs["decimated"] = data["decimated"]
        return frame

    def columns(
        self,
        pair: str | None = None,
        *,
        start: Moment | None = None,
        end: Moment | None = None,
        names: Sequence[str] | None = None,
    ) -> pd.DataFrame:
        """Candles, indicators and signals of a pair at each candle. The first call waits until a task has computed them.

        `attrs["changed_candles"]` lists the candles that changed since the backtest.

        :param pair: Required where the backtest has several
        :param names: Default: all columns
        """
        wanted = None if names is None else list(names)
        pages = list(self._columns_pages(pair=pair, from_=iso(start), to=iso(end), names=wanted))
        return columns_frame(pages)

    def _columns_pages(self, **query: Any) -> Iterator[Any]:
        """Pages of columns. The first one waits until a task has computed them."""
        cursor = None
        while True:
            page: Any = self._platform.backend.get_backtest_columns(self.id, cursor=cursor, **query)
            if "times" not in page:
                self._platform.connection.pause(_FIRST_INTERVAL)
                continue
            yield page
            cursor = page["next_cursor"]
            if cursor is None:
                return

    def chart(
        self,
        pair: str | None = None,
        *,
        start: Moment | None = None,
        end: Moment | None = None,
        candles: int = 500,
    ) -> Chart:
        """Draws candles, the columns that the strategy's `plot` names, entries and exits. A notebook shows it, also
        without a network. `chart(…).save("chart.html")` saves it.

        The first call waits until a task has computed the columns.

        :param pair: Required where the backtest has several
        :param candles: Most candles that are drawn, up to 2,000: the first ones from `start`, without it the last ones
        :raises ValueError: when `candles` is out of range
        """
        if not 1 <= candles <= MAX_CANDLES:
            raise ValueError(f"candles is {candles}: pass 1 to {MAX_CANDLES}")
        first, until = iso(start), iso(end)
        head = next(self._columns_pages(pair=pair, from_=first, to=until, limit=2))
        if start is None and head["rows"] > candles:
            # Rows have no gaps: the first two tell the time of any other.
            opened, second = head["times"]
            first = _iso_time(opened + (head["rows"] - candles) * (second - opened))
        known = head["columns"]
        names = list(
            dict.fromkeys((*CANDLE_NAMES, *(name for name in plotted_names(head["plot"]) if name in known)))
        )
        # A list of names is separated by commas, and is part of an address.
        wanted = None if any("," in name for name in names) or sum(map(len, names)) > 2000 else names
        times: list[int] = []
        columns: dict[str, list[Any]] = {name: [] for name in names}
        for page in self._columns_pages(
            pair=head["pair"], from_=first, to=until, names=wanted, limit=candles
        ):
            left = candles - len(times)
            times += page["times"][:left]
            for name in names:
                columns[name] += page["columns"][name][:left]
            if len(times) >= candles:
                break
        view = ChartView(head["pair"], head["timeframe"], times, columns, head["plot"], head["rows"])
        view.is_changed = len(head["changed_candles"]) > 0
        if times:
            found: Any = self._platform.backend.list_backtest_trades(
                self.id,
                format="columns",
                limit=MAX_TRADES,
                pair=[view.pair],
                time="held",
                from_=_iso_time(times[0]),
                to=_iso_time(times[-1] + 1),
            )
            view.trades, view.trade_count = found["columns"], found["total"]
        return Chart(view)

    @cached_property
    def trades(self) -> pd.DataFrame:
        """All trades, by the time at which they were closed."""
        pages: list[Mapping[str, Sequence[Any]]] = []
        while True:
            page: Any = self._platform.backend.list_backtest_trades(
                self.id, format="columns", limit=_TRADES_PER_PAGE, page=len(pages) + 1
            )
            pages.append(page["columns"])
            if len(pages) >= page["pages"]:
                return trades_frame(pages)

    def plot(self, **options: Any) -> Any:
        """Draws equity above drawdown with matplotlib. `options` are those of `DataFrame.plot`. Returns both axes."""
        frame = self.equity
        return frame.plot(
            **{
                "subplots": True,
                "title": ["Equity", "Drawdown, %"],
                "legend": False,
                "grid": True,
                **options,
            }
        )

    def export(
        self, path: str | Path, format: Literal["csv", "json", "parquet", "orders", "html"] | None = None
    ) -> Path:
        """Saves trades (`csv`, `parquet`), orders of adjusted trades (`orders`), or the report (`json`, `html`).

        :param format: Default: the suffix of `path`
        """
        target = Path(path)
        wanted: Any = format or target.suffix.removeprefix(".")
        target.write_bytes(self._platform.backend.export_backtest(self.id, format=wanted))
        return target

    def cancel(self) -> Self:
        self._job = self._platform.backend.cancel_backtest(self.id)
        return self

    def annotate(
        self, *, notes: str | None = None, tags: Sequence[str] | None = None, pinned: bool | None = None
    ) -> Self:
        """Changes what is given, and leaves the rest."""
        body: types.AnnotationRequest = {}
        if notes is not None:
            body["notes"] = notes
        if tags is not None:
            body["tags"] = list(tags)
        if pinned is not None:
            body["pinned"] = pinned
        self._job = self._platform.backend.update_backtest(self.id, body)
        return self

    def delete(self) -> None:
        self._platform.backend.delete_backtest(self.id)

    def register(
        self, image: str, *, thresholds: types.RegisterRequestThresholds | None = None, **more: Any
    ) -> Version:
        """Registers the strategy, as it ran here, as a new version of its model.

        :param image: Address of the container image that runs the version
        :param more: Further fields of `RegisterRequest`, such as `description` and `tags`. A run with look-ahead bias needs
            `waive={"checks": ["look_ahead"], "reason": …}` of an admin
        """
        key = more.pop("idempotency_key", None)
        fields = {"backtest_run_id": self.id, "container_image_uri": image, **more}
        if thresholds is not None:
            fields["thresholds"] = thresholds
        body = body_of(types.RegisterRequest, fields)
        name = self.job["strategy"]
        reply = self._platform.strategy.register_strategy(name, body, idempotency_key=key)
        return self._platform.model(reply["model_name"]).version(reply["version"])


class Best(NamedTuple):
    """The best trial of a hyperopt job."""

    number: int
    value: float
    params: types.HyperoptTrialParams


class Hyperopt(_Job):
    """A hyperopt job: `best = ts.hyperopt("ema_crossover", n_trials=50).wait().best`."""

    def _read(self) -> types.HyperoptJob:
        return self._platform.strategy.get_hyperopt(self.id)

    @property
    def job(self) -> types.HyperoptJob:
        """The job as it was read last: status, progress and settings."""
        job: types.HyperoptJob = self._current
        return job

    @cached_property
    def result(self) -> types.HyperoptResult:
        """Best trials, overfitting diagnostics and warnings of the completed job."""
        return self._platform.strategy.get_hyperopt_result(self.id)

    @property
    def best(self) -> Best:
        """The best trial. Warns of a search with look-ahead bias: its values cannot be earned, and rank nothing."""
        result = self.result
        if result["look_ahead"]["state"] == "found":
            warnings.warn(
                f"Look-ahead bias was found in {self.id}: its values cannot be earned", stacklevel=2
            )
        return Best(result["best_trial"], result["best_value"], result["best_params"])

    @property
    def overfitting(self) -> types.OverfittingReport:
        """Overfitting diagnostics of the search, such as the deflated Sharpe ratio."""
        return self.result["overfitting"]

    @cached_property
    def equity(self) -> pd.DataFrame:
        """Equity and drawdown of the best trial over its out-of-sample windows, at the end of each UTC day."""
        data = self.result["out_of_sample"]
        return by_day({"equity": data["equity"], "drawdown": data["drawdown"]}, data["dates"])

    @property
    def trials(self) -> pd.DataFrame:
        """A row for each trial, with a column `params.<name>` for each parameter."""
        items = self._platform.items(self._platform.strategy.list_hyperopt_trials, self.id)
        rows = [
            {
                **{name: value for name, value in trial.items() if name not in ("params", "windows")},
                **{f"params.{name}": value for name, value in trial["params"].items()},
            }
            for trial in items
        ]
        frame = records_frame(rows, ("started_at", "finished_at"))
        return frame.set_index("number") if rows else frame

    def events(self) -> Iterator[Event]:
        """Trials and progress as they happen, until the job has ended."""
        return self._platform.strategy.watch_hyperopt(self.id)

    def backtest(self, **options: Any) -> Backtest:
        """Runs the best parameters as a backtest. `options` are those of `Touchstone.backtest`."""
        return self._platform.backtest(self.job["strategy"], hyperopt_job_id=self.id, **options)

    def cancel(self) -> Self:
        self._job = self._platform.strategy.cancel_hyperopt(self.id)
        return self

    def resume(self) -> Self:
        self._platform.strategy.resume_hyperopt(self.id, session=self._platform.session)
        # Both are other ones after further trials.
        for name in ("result", "equity"):
            self.__dict__.pop(name, None)
        return self.refresh()


def _iso_time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, timezone.utc).isoformat()


def _progress_line() -> Progress:
    """Prints each change: in a terminal over the line before."""
    terminal = sys.stderr.isatty()
    last = ""

    def report(job: Mapping[str, Any]) -> None:
        nonlocal last
        share = job.get("progress")
        # A backtest has a share, a hyperopt job a percentage.
        percent = None if share is None else share if "total_trials" in job else share * 100
        text = f"{job['job_id']} {job['status']}{'' if percent is None else f' {percent:.0f} %'}"
        if text == last:
            return
        last = text
        is_over = job["status"] in _ENDED
        print(
            f"\r\x1b[K{text}" if terminal else text,
            end="\n" if is_over or not terminal else "",
            file=sys.stderr,
            flush=True,
        )

    return report
