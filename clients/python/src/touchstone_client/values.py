"""Values that are sent: bodies of requests as JSON, and times as text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date
from difflib import get_close_matches
from typing import Any

#: ISO 8601, date or datetime (a `pandas.Timestamp` too). Without an offset it is UTC.
Moment = str | date


def iso(moment: Moment | None) -> str | None:
    """ISO 8601. A date or time without an offset is UTC."""
    return moment if moment is None or isinstance(moment, str) else moment.isoformat()


def body_of(kind: type, fields: Mapping[str, Any]) -> Any:
    """Body of a request from keywords. The service would ignore a misspelled one.

    :raises TypeError: when a keyword is no field of `kind`
    """
    known = kind.__annotations__
    for name in fields:
        if name not in known:
            near = get_close_matches(name, known, 1)
            hint = f"did you mean {near[0]}?" if near else f"one of {', '.join(sorted(known))}"
            raise TypeError(f"{name} is no field of {kind.__name__}; {hint}")
    return dict(fields)


def as_json(body: Any) -> bytes:
    """JSON of a body, also with values of numpy and pandas.

    :raises TypeError: when a value has no form in JSON
    :raises ValueError: when a number is NaN or infinite
    """
    return json.dumps(body, default=_plain, allow_nan=False).encode()


def _plain(value: Any) -> Any:
    if isinstance(value, date):
        return value.isoformat()
    # Scalars, arrays and columns of numpy and pandas.
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{value!r} of type {type(value).__name__} has no form in JSON: pass a number or a text")
