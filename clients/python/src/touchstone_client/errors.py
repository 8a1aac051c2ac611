"""Failures of calls and jobs. The class says of which kind the code is; `code` is the exact one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any

import httpx


class TouchstoneError(Exception):
    """A call that failed.

    `code` is one of the platform's catalogue, `INVALID_BODY` (see `issues`), or `NO_RESPONSE` if the service did not respond,
    or not with JSON. The operator finds the request in the logs by `correlation_id`.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str,
        status: int = 0,
        field: str = "",
        context: Mapping[str, Any] | None = None,
        issues: Sequence[Mapping[str, Any]] = (),
        correlation_id: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        #: HTTP status; 0 without a response.
        self.status = status
        #: Dotted path of the invalid field; empty without one.
        self.field = field
        #: Values that explain the error.
        self.context = dict(context or {})
        #: Problems of a body that does not fit its schema.
        self.issues = list(issues)
        self.correlation_id = correlation_id
        #: Pause after which the call may be repeated, s; None if the response does not say.
        self.retry_after = retry_after

    def __str__(self) -> str:
        return f"{self.code}: {self.message}" if self.code else self.message


class ValidationError(TouchstoneError):
    """VAL codes, or a body that does not fit its schema: fix the request."""


class AuthenticationError(TouchstoneError):
    """AUTH001 to AUTH003: the token is expired, invalid or missing."""


class AccessError(TouchstoneError):
    """AUTH004 and AUTH005: the caller's role or grant does not allow the call."""


class NotFoundError(TouchstoneError):
    """No such job, strategy, version, challenge, collection, symbol or path."""


class ConflictError(TouchstoneError):
    """RES005: the state does not allow the call, for example of a job that has ended."""


class ExpiredError(TouchstoneError):
    """RES006: archived or deleted."""


class DataError(TouchstoneError):
    """DATA001, DATA002, OPT002: the candles or trials do not suffice."""


class RateLimitError(TouchstoneError):
    """HTTP429: more calls than allowed, still after the repetitions."""


class UnavailableError(TouchstoneError):
    """A service or dependency failed or did not respond, still after the repetitions."""


#: Class by code: the first pattern that matches applies. Other codes are a plain `TouchstoneError`.
_CLASSES: tuple[tuple[str, type[TouchstoneError]], ...] = (
    (r"VAL|INVALID_BODY", ValidationError),
    (r"AUTH00[123]", AuthenticationError),
    (r"AUTH", AccessError),
    (r"RES00[1-4]|(OPT|CHL|COL)001|DATA003|HTTP404", NotFoundError),
    (r"RES005", ConflictError),
    (r"RES006", ExpiredError),
    (r"DATA00[12]|OPT002", DataError),
    (r"HTTP429", RateLimitError),
    (r"SVC|DATA|HTTP5|NO_RESPONSE", UnavailableError),
)


class JobError(TouchstoneError):
    """A job without a result. `code` is that of its failure; empty without one."""

    def __init__(self, job: Mapping[str, Any]) -> None:
        is_open = job["status"] in ("pending", "running")
        reason = job.get("error") or f"the job is {job['status']}{': call wait() first' if is_open else ''}"
        super().__init__(f"{job['job_id']}: {reason}", code=job.get("error_code") or "")
        #: The job as it was read last.
        self.job = dict(job)


class WaitTimeout(TimeoutError):
    """A job that has not ended in the time that `wait` was given. It continues to run."""


def class_of(code: str) -> type[TouchstoneError]:
    return next((each for pattern, each in _CLASSES if re.match(pattern, code)), TouchstoneError)


def no_response(message: str) -> UnavailableError:
    return UnavailableError(message, code="NO_RESPONSE")


def error_of(response: httpx.Response) -> TouchstoneError:
    """Error of a response in either documented shape, or in none. Its body must have been read."""
    try:
        body = response.json()
    except ValueError:
        body = None
    detail = body.get("detail") if isinstance(body, dict) else None
    code = f"HTTP{response.status_code}"
    message = f"The service responded with status {response.status_code}"
    field, context, issues = "", {}, []
    if isinstance(detail, list):
        code, issues = "INVALID_BODY", detail
        message = "; ".join(
            f"{'.'.join(map(str, each.get('loc', ())))}: {each.get('msg')}" for each in issues
        )
    elif isinstance(detail, dict):
        code, message = detail.get("code", code), detail.get("message", message)
        field, context = detail.get("field", ""), detail.get("context", {})
    elif isinstance(body, dict) and "error_code" in body:
        # Errors of the paths that MLflow's client calls.
        message = body.get("message", message)
    return class_of(code)(
        message,
        code=code,
        status=response.status_code,
        field=field,
        context=context,
        issues=issues,
        correlation_id=response.headers.get("X-Correlation-ID"),
        retry_after=_retry_after(response.headers.get("Retry-After")),
    )


def _retry_after(value: str | None) -> float | None:
    """Seconds of a `Retry-After`, which is a number of seconds or a date."""
    if not value:
        return None
    if value.isdecimal():
        return float(value)
    try:
        at = parsedate_to_datetime(value)
    except ValueError:
        return None
    return max(0.0, (at - datetime.now(timezone.utc)).total_seconds())
