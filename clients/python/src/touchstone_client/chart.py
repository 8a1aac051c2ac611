"""Chart of a backtest as HTML with inline SVG: no script, no address, every name escaped."""

from __future__ import annotations

import math
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

#: Bounds of what a chart draws.
MAX_CANDLES = 2000
MAX_COLUMNS = 40
MAX_TRADES = 1000
#: Longest name that is shown, characters.
_MAX_TEXT = 64
CANDLE_NAMES = ("open", "high", "low", "close")

#: Colors that the service accepts: a name, `#hex`, `rgb()` and `rgba()` of plain numbers.
_COLOR = re.compile(
    r"[a-z]{3,30}|#([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})"
    r"|rgba?\( ?\d{1,3} ?(, ?\d{1,3} ?){2}(, ?(0|1|0?\.\d{1,4}) ?)?\)",
    re.ASCII | re.IGNORECASE,
)
_PALETTE = ("#2563eb", "#d97706", "#7c3aed", "#0891b2", "#be185d", "#65a30d", "#9333ea", "#a16207")
_UP, _DOWN, _ENTRY = "#16a34a", "#dc2626", "#2563eb"

#: Sizes in units of the drawing, which is as wide as its cell.
_WIDTH, _SCALE_WIDTH = 1000.0, 76.0
_MAIN_HEIGHT, _PANEL_HEIGHT, _TITLE_HEIGHT, _TIMES_HEIGHT = 340.0, 110.0, 18.0, 20.0

Values = list["float | None"]


class Chart:
    """Chart of a backtest: notebooks show it. It needs no network."""

    def __init__(self, view: ChartView) -> None:
        self._title = _text(f"{view.pair} {view.timeframe}")
        self._candles = len(view.times)
        self._html = _chart_html(view)

    def _repr_html_(self) -> str:
        return self._html

    def __repr__(self) -> str:
        return f"<Chart {self._title}, {self._candles} candles>"

    def save(self, path: str | Path) -> Path:
        """Saves the chart as an HTML page."""
        target = Path(path)
        head = f'<!doctype html><meta charset="utf-8"><title>{escape(self._title)}</title>'
        target.write_text(head + self._html, encoding="utf-8")
        return target


@dataclass
class ChartView:
    """What a chart shows, as the service returns it."""

    pair: str
    timeframe: str
    #: Open times of the candles, Unix seconds, ascending
    times: Sequence[int]
    #: Values of each column by name, one for each time
    columns: Mapping[str, Sequence[Any]]
    plot: Mapping[str, Any] | None
    #: Candles of the range, with those that are left out
    rows: int
    #: Trades as columns; times are Unix seconds
    trades: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    #: Trades of the range, with those that are left out
    trade_count: int = 0
    #: Whether candles changed since the backtest
    is_changed: bool = False


class _Column(NamedTuple):
    name: str
    color: str
    type: str
    fill_to: str | None


class _Panel(NamedTuple):
    #: None: the candles
    name: str | None
    columns: list[_Column]
    levels: list[float]


class _Scale(NamedTuple):
    """Values of a panel as heights. Those far outside end shortly beyond its edges, which clip them."""

    low: float
    high: float
    height: float

    def y(self, value: float) -> float:
        share = (self.high - value) / (self.high - self.low)
        return min(2.0, max(-1.0, share)) * self.height


def plotted_names(plot: Mapping[str, Any] | None) -> list[str]:
    """Names of the columns that a plot draws or fills to, each once."""
    drawn = [column for panel in _panels(plot) for column in panel.columns]
    names = (name for column in drawn for name in (column.name, column.fill_to) if name is not None)
    return list(dict.fromkeys(names))


def _panels(plot: Mapping[str, Any] | None) -> list[_Panel]:
    """Panels of a plot; the first one is that of the candles. What later versions add is passed over."""
    groups: list[tuple[str | None, Mapping[str, Any]]] = [(None, _mapping((plot or {}).get("main")))]
    groups += [(name, _mapping(panel)) for name, panel in _mapping((plot or {}).get("panels")).items()]
    panels, left = [], MAX_COLUMNS
    for name, group in groups:
        given = group.get("levels") if name is not None else None
        levels = [
            level
            for each in (given if isinstance(given, list) else [])
            if (level := _number(each)) is not None
        ]
        # A list is the levels of a panel; over the candles `levels` may be a column.
        described = [(key, each) for key, each in group.items() if isinstance(each, Mapping)][:left]
        columns = [
            _column(key, each, _PALETTE[(MAX_COLUMNS - left + at) % len(_PALETTE)])
            for at, (key, each) in enumerate(described)
        ]
        left -= len(columns)
        if columns or levels or name is None:
            panels.append(_Panel(name, columns, levels))
    return panels


def _column(name: str, drawn: Mapping[str, Any], otherwise: str) -> _Column:
    color, fill_to = drawn.get("color"), drawn.get("fillTo")
    is_valid = isinstance(color, str) and _COLOR.fullmatch(color) is not None
    return _Column(
        name,
        str(color) if is_valid else otherwise,
        str(drawn.get("type", "line")),
        fill_to if isinstance(fill_to, str) else None,
    )


def _column_count(plot: Mapping[str, Any] | None) -> int:
    groups = [_mapping((plot or {}).get("main")), *_mapping((plot or {}).get("panels")).values()]
    return sum(isinstance(each, Mapping) for group in groups for each in _mapping(group).values())


def _chart_html(view: ChartView) -> str:
    panels = _panels(view.plot)
    title = f"{_text(view.pair)} {_text(view.timeframe)}"
    if view.times:
        title += f", {_time(view.times[0])} to {_time(view.times[-1])} UTC"
    drawing = _drawing(view, panels, title) if view.times else "<p>The range has no candles.</p>"
    legend = "".join(
        '<span style="margin-right:14px"><span style="display:inline-block;width:9px;height:9px;'
        f'background-color:{column.color}"></span> '
        f"{escape(_text(column.name))}</span>"
        for panel in panels
        for column in panel.columns
        if column.name in view.columns
    )
    notes = "".join(f"<div>{escape(note)}</div>" for note in _notes(view, panels))
    return (
        '<div style="font:12px sans-serif;max-width:1400px">'
        f"<div><b>{escape(title)}</b></div><div>{legend}</div>{drawing}"
        f'<div style="opacity:.75">{notes}</div></div>'
    )


def _notes(view: ChartView, panels: Sequence[_Panel]) -> Iterator[str]:
    """What the chart leaves out, and what the reader must know."""
    drawn = len(view.times)
    if drawn < view.rows:
        yield (
            f"{drawn:,} of {view.rows:,} candles are drawn: pass start, end, "
            f"or candles up to {MAX_CANDLES:,} for others."
        )
    if (columns := _column_count(view.plot)) > MAX_COLUMNS:
        yield f"{MAX_COLUMNS} of {columns:,} columns of the plot are drawn."
    named = dict.fromkeys(column.name for panel in panels for column in panel.columns)
    if absent := [_text(name) for name in named if name not in view.columns]:
        yield f"The run lacks columns that the plot names: {', '.join(absent)}."
    if (trades := len(view.trades.get("id", ()))) < view.trade_count:
        yield f"{trades:,} of {view.trade_count:,} trades are drawn."
    if view.is_changed:
        yield "Candles changed since the backtest."


def _drawing(view: ChartView, panels: Sequence[_Panel], title: str) -> str:
    values = {name: [_number(value) for value in column] for name, column in view.columns.items()}
    parts, top = [], 0.0
    for panel in panels:
        height = _MAIN_HEIGHT if panel.name is None else _PANEL_HEIGHT
        if panel.name is not None:
            top += _TITLE_HEIGHT
            parts.append(_label(0, top - 5, panel.name))
        scale = _scale_of(panel, values, height)
        content = [_level(scale.y(level)) for level in panel.levels]
        if panel.name is None:
            content += [_candles(values, scale), *_hover(view.times, values)]
        content += [_shape(column, values, scale) for column in panel.columns if column.name in values]
        if panel.name is None:
            content += _trades(view, scale)
        # A nested svg clips to its edges without an ID, which the charts of a notebook would share.
        parts.append(
            f'<svg x="0" y="{top:.1f}" width="{_WIDTH - _SCALE_WIDTH:.1f}" height="{height:.1f}" overflow="hidden">'
            f"{''.join(content)}</svg>"
        )
        parts += [
            _label(_WIDTH - _SCALE_WIDTH + 4, top + min(height, max(9.0, scale.y(tick) + 4)), f"{tick:.8g}")
            for tick in _ticks(scale.low, scale.high)
        ]
        top += height
    parts += _time_labels(view.times, top + 14)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH:.0f} {top + _TIMES_HEIGHT:.0f}" width="100%" '
        f'role="img" aria-label="{escape(title)}" font-size="11" fill="none">{"".join(parts)}</svg>'
    )


def _scale_of(panel: _Panel, values: Mapping[str, Values], height: float) -> _Scale:
    names = [name for column in panel.columns for name in (column.name, column.fill_to) if name is not None]
    known = [value for name in names for value in values.get(name, ()) if value is not None]
    if panel.name is None:
        candles = [value for name in CANDLE_NAMES for value in values.get(name, ()) if value is not None]
        if candles:
            # A column far from the prices, such as one of zeros, would flatten the candles.
            low, high = min(candles), max(candles)
            span = high - low
            known = candles + [value for value in known if low - span <= value <= high + span]
    known += panel.levels
    if any(column.type == "bar" for column in panel.columns) and panel.name is not None:
        known.append(0.0)
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    pad = (high - low) * 0.04
    if high - low <= 1e-9 * max(abs(low), abs(high)):
        pad = abs(high) * 0.01 or 1.0
    return _Scale(low - pad, high + pad, height)


def _x(at: float, count: int) -> float:
    """Middle of the candle with an index."""
    return (at + 0.5) * (_WIDTH - _SCALE_WIDTH) / count


def _candles(values: Mapping[str, Values], scale: _Scale) -> str:
    rows = list(zip(*(values[name] for name in CANDLE_NAMES)))
    half = min(6.0, max(0.3, 0.35 * (_WIDTH - _SCALE_WIDTH) / len(rows)))
    paths: dict[str, list[str]] = {_UP: [], _DOWN: []}
    for at, (open_, high, low, close) in enumerate(rows):
        if open_ is None or high is None or low is None or close is None:
            continue
        x = _x(at, len(rows))
        top, bottom = sorted((scale.y(open_), scale.y(close)))
        paths[_UP if close >= open_ else _DOWN].append(
            f"M{x:.1f} {scale.y(high):.1f}V{scale.y(low):.1f}"
            f"M{x - half:.1f} {top:.1f}H{x + half:.1f}V{bottom:.1f}H{x - half:.1f}Z"
        )
    return "".join(
        f'<path d="{"".join(path)}" stroke="{color}" fill="{color}" stroke-width=".8"/>'
        for color, path in paths.items()
        if path
    )


def _hover(times: Sequence[int], values: Mapping[str, Values]) -> Iterator[str]:
    """An invisible area for each candle, with its prices as its tip."""
    width = (_WIDTH - _SCALE_WIDTH) / len(times)
    for at, time in enumerate(times):
        prices = (values[name][at] for name in CANDLE_NAMES)
        tip = " ".join("-" if price is None else f"{price:.8g}" for price in prices)
        yield (
            f'<rect x="{at * width:.1f}" width="{width:.2f}" height="{_MAIN_HEIGHT:.0f}" fill="transparent">'
            f"<title>{_time(time)} {tip}</title></rect>"
        )


def _shape(column: _Column, values: Mapping[str, Values], scale: _Scale) -> str:
    own = values[column.name]
    count = len(own)
    points = [(_x(at, count), scale.y(value)) for at, value in enumerate(own) if value is not None]
    if column.type == "bar":
        path = "".join(f"M{x:.1f} {scale.y(0.0):.1f}V{y:.1f}" for x, y in points)
        width = min(12.0, max(0.5, 0.6 * (_WIDTH - _SCALE_WIDTH) / count))
        return f'<path d="{path}" stroke="{column.color}" stroke-width="{width:.2f}"/>'
    if column.type == "scatter":
        path = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in points)
        return f'<path d="{path}" stroke="{column.color}" stroke-width="4" stroke-linecap="round"/>'
    line = "".join(_line([(_x(at, count), scale.y(own[at] or 0.0)) for at in run]) for run in _runs(own))
    filled = ""
    if column.fill_to is not None and column.fill_to in values:
        filled = _area(own, values[column.fill_to], scale)
        filled = f'<path d="{filled}" fill="{column.color}" fill-opacity=".12"/>'
    return f'{filled}<path d="{line}" stroke="{column.color}" stroke-width="1.3" stroke-linecap="round"/>'


def _runs(*columns: Values) -> Iterator[list[int]]:
    """Indices of candles in a row at which every column has a value."""
    run: list[int] = []
    for at, each in enumerate(zip(*columns)):
        if None not in each:
            run.append(at)
        elif run:
            yield run
            run = []
    if run:
        yield run


def _line(points: Sequence[tuple[float, float]]) -> str:
    # A single point has a length of 0: its round ends show it.
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points) + ("h0" if len(points) == 1 else "")


def _area(first: Values, second: Values, scale: _Scale) -> str:
    count = len(first)
    edges = (
        [(_x(at, count), scale.y(first[at] or 0.0)) for at in run]
        + [(_x(at, count), scale.y(second[at] or 0.0)) for at in reversed(run)]
        for run in _runs(first, second)
    )
    return "".join(f"{_line(edge)}Z" for edge in edges)


def _level(y: float) -> str:
    return f'<path d="M0 {y:.1f}H{_WIDTH:.0f}" stroke="currentColor" stroke-opacity=".5" stroke-dasharray="4 4"/>'


class _Fill(NamedTuple):
    side: str
    #: Unix seconds
    time: float
    price: float
    tag: str | None


def _trades(view: ChartView, scale: _Scale) -> Iterator[str]:
    """Entries as triangles in the direction of the trade, exits as diamonds, with a line between them."""
    trades = view.trades
    for at in range(len(trades.get("id", ()))):
        trade = {name: column[at] for name, column in trades.items()}
        fills = [fill for fill in _fills(trade) if view.times[0] <= fill.time < _end(view.times)]
        color = _UP if trade["profit"] > 0 else _DOWN
        points = [
            (_x(bisect_right(view.times, fill.time) - 1, len(view.times)), scale.y(fill.price))
            for fill in fills
        ]
        if len(points) > 1:
            yield f'<path d="{_line(points)}" stroke="{color}" stroke-width="1.2" stroke-dasharray="3 3"/>'
        for fill, (x, y) in zip(fills, points):
            is_entry = fill.side == "entry"
            way = 1 if trade["side"] == "long" else -1
            shape = f"l-5 {9 * way}h10Z" if is_entry else "m0 -5l5 5l-5 5l-5 -5Z"
            tip = f"Trade {trade['id']}: {_text(trade['side'])} {_text(fill.side)} at {fill.price:.8g}"
            if fill.tag is not None:
                tip += f", {_text(fill.tag)}"
            yield (
                f'<path d="M{x:.1f} {y:.1f}{shape}" fill="{_ENTRY if is_entry else color}" stroke="white" '
                f'stroke-width=".7"><title>{escape(tip)}</title></path>'
            )


def _fills(trade: Mapping[str, Any]) -> list[_Fill]:
    """Orders of an adjusted trade; of any other its entry and its exit."""
    if orders := trade.get("orders"):
        return [
            _Fill(order["side"], _seconds(order["filled_at"]), order["price"], order["tag"])
            for order in orders
        ]
    return [
        _Fill("entry", trade["opened_at"], trade["entry_price"], trade["enter_tag"]),
        _Fill("exit", trade["closed_at"], trade["exit_price"], trade["exit_reason"]),
    ]


def _end(times: Sequence[int]) -> float:
    """End of the last candle."""
    return times[-1] + (times[-1] - times[-2]) if len(times) > 1 else math.inf


def _ticks(low: float, high: float) -> list[float]:
    """About five round values of a scale."""
    raw = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(each * power for each in (1, 2, 5, 10) if each * power >= raw * 0.999)
    first = math.ceil(low / step)
    return [(first + at) * step for at in range(7) if (first + at) * step <= high]


def _time_labels(times: Sequence[int], y: float) -> Iterator[str]:
    count = min(6, len(times))
    for at in range(count):
        index = at * len(times) // count
        yield _label(max(0.0, _x(index, len(times)) - 2), y, _time(times[index]))


def _label(x: float, y: float, text: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="currentColor" fill-opacity=".8">{escape(_text(text))}</text>'


def _text(value: object) -> str:
    """A name as it is shown: shortened, without control characters, which could turn the direction of the text."""
    text = str(value)
    shown = text if len(text) <= _MAX_TEXT else text[: _MAX_TEXT - 1] + "…"
    return "".join("\ufffd" if unicodedata.category(each)[0] == "C" else each for each in shown)


def _number(value: object) -> float | None:
    """A value that can be drawn: no tag, and nothing whose square would be infinite."""
    if not isinstance(value, (int, float)) or not -1e100 < value < 1e100:
        return None
    return float(value) if abs(value) > 1e-100 else 0.0


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _time(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, timezone.utc):%Y-%m-%d %H:%M}"


def _seconds(moment: str) -> float:
    # Python 3.10 reads no Z.
    return datetime.fromisoformat(moment.replace("Z", "+00:00")).timestamp()
