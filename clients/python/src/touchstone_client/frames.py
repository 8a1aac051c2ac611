"""Data frames of responses. Times are a `DatetimeIndex` or columns in UTC."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union, get_type_hints

from . import types
from .values import Moment

if TYPE_CHECKING:
    import pandas as pd

#: A data frame, the path of a file, or the bytes of a file.
SignalsSource = Union["pd.DataFrame", str, os.PathLike[str], bytes]

#: Columns of a run that are texts.
_TAGS = frozenset(("signal:enter_tag", "signal:exit_tag"))

#: Columns of trades that are numbers with a fraction.
_FLOATS = frozenset(name for name, hint in get_type_hints(types.TradeColumns).items() if "float" in str(hint))


def require_pandas() -> Any:
    try:
        import pandas
    except ImportError as error:
        raise ImportError(
            "Data frames need pandas: install it, "
            "or read the values with the methods of ts.backend, ts.strategy and ts.data_collection"
        ) from error
    return pandas


def by_day(columns: Mapping[str, Sequence[float]], dates: Sequence[str]) -> pd.DataFrame:
    pandas = require_pandas()
    # Without a unit an index of no dates has another one.
    index = pandas.DatetimeIndex(pandas.to_datetime(list(dates), utc=True), name="date").as_unit("s")
    return pandas.DataFrame(
        {name: list(values) for name, values in columns.items()}, index=index, dtype="float64"
    )


def by_time(columns: Mapping[str, Sequence[float]], times: Sequence[int]) -> pd.DataFrame:
    """A row for each of the times, Unix seconds."""
    pandas = require_pandas()
    index = pandas.DatetimeIndex(pandas.to_datetime(list(times), unit="s", utc=True), name="time").as_unit(
        "s"
    )
    return pandas.DataFrame(
        {name: list(values) for name, values in columns.items()}, index=index, dtype="float64"
    )


def columns_frame(pages: Sequence[Any]) -> pd.DataFrame:
    """A row for each candle of the pages of a run's columns. Tags are texts, other columns numbers."""
    pandas = require_pandas()
    times = [time for page in pages for time in page["times"]]
    index = pandas.DatetimeIndex(pandas.to_datetime(times, unit="s", utc=True), name="time").as_unit("s")
    frame = pandas.DataFrame(
        {
            name: pandas.Series(
                [value for page in pages for value in page["columns"][name]],
                index=index,
                dtype="object" if name in _TAGS else "float64",
            )
            for name in pages[0]["columns"]
        },
        index=index,
    )
    frame.attrs["changed_candles"] = pages[0]["changed_candles"]
    return frame


def trades_frame(pages: Sequence[Mapping[str, Sequence[Any]]]) -> pd.DataFrame:
    """A row for each trade. The index is the time at which it was closed."""
    pandas = require_pandas()
    # A page without adjusted trades has no column of orders.
    names = list(dict.fromkeys(name for page in pages for name in page))
    frame = pandas.DataFrame(
        {
            name: [value for page in pages for value in page.get(name, [None] * len(page["id"]))]
            for name in names
        }
    )
    # JSON has no mark for a float: columns of whole numbers, or of none, would have another type.
    frame = frame.astype({name: "float64" for name in names if name in _FLOATS})
    for name in ("opened_at", "closed_at"):
        frame[name] = pandas.to_datetime(frame[name], unit="s", utc=True).dt.as_unit("s")
    return frame.set_index("closed_at")


def records_frame(records: Sequence[Mapping[str, Any]], times: Sequence[str] = ()) -> pd.DataFrame:
    """A row for each record, with the columns named by `times` parsed."""
    pandas = require_pandas()
    frame = pandas.DataFrame(list(records))
    for name in times:
        if name in frame:
            frame[name] = pandas.to_datetime(frame[name], utc=True)
    return frame


def signals_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with its index of times as the column `timestamp`.

    :raises ValueError: Without times or pairs.
    """
    if "pair" not in frame:
        raise ValueError(
            'The data frame of signals has no column "pair": add it, such as frame.assign(pair="BTC/USDT:USDT")'
        )
    if "timestamp" in frame:
        return frame
    # Numbers of rows, which pandas gives a frame without an index.
    if type(frame.index).__name__ == "RangeIndex":
        raise ValueError(
            'The data frame of signals has no times: give it an index of times, or a column "timestamp"'
        )
    return frame.rename_axis("timestamp").reset_index()


def first_time(frame: pd.DataFrame) -> Moment:
    """Time of the first row of signals: texts and times as they are, numbers as Unix ms or seconds."""
    first = frame["timestamp"].min()
    if isinstance(first, (str, date)):
        return first
    # As the service reads them: a smaller number of ms is before 1973.
    seconds = float(first) / 1000 if abs(first) >= 1e11 else float(first)
    return datetime.fromtimestamp(seconds, timezone.utc)


def signals_file(signals: SignalsSource, name: str | None) -> tuple[bytes, str | None]:
    """Bytes of a file of signals, and its name."""
    if isinstance(signals, bytes):
        return signals, name
    if isinstance(signals, (str, os.PathLike)):
        path = Path(signals)
        return path.read_bytes(), name or path.name
    return signals_frame(signals).to_csv(index=False).encode(), name
