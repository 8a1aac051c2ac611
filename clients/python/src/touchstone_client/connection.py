"""Calls of the services: addresses, tokens, repetition, errors and streams."""

from __future__ import annotations

import random
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import quote, urljoin

import httpx
import httpx_sse

from .errors import TouchstoneError, error_of, no_response
from .values import as_json

#: Prefix of each service at the one address of a platform.
PREFIXES = {
    "backend": "/services/backend",
    "strategy": "/services/strategy",
    "data_collection": "/services/data-collection",
}
#: Services send a comment every 15 s: a stream that is silent for three of them is dead.
SILENCE_SECONDS = 45.0
#: Failures in a row, after which a stream or a wait ends with the error: some ten minutes.
MAX_FAILURES = 24


class Event(NamedTuple):
    """An event of a stream."""

    name: str
    id: str
    data: Any


class Connection:
    """A platform and how it is called. Threads may share it."""

    def __init__(
        self,
        address: str | Mapping[str, str],
        *,
        token: str | Callable[[], str | None] | None = None,
        attempts: int = 3,
        timeout: float = 30.0,
        longest_pause: float = 60.0,
        transport: httpx.BaseTransport | None = None,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._address = address
        for each in [address] if isinstance(address, str) else address.values():
            if not each.startswith(("http://", "https://")):
                raise ValueError(f"{each!r} is no address: begin it with http:// or https://")
        self._token = token
        self._current = token.strip() if isinstance(token, str) else None
        self._attempts = attempts
        self._longest_pause = longest_pause
        self.pause = pause
        # A redirect would send the token to another address.
        self._http = httpx.Client(timeout=timeout, transport=transport, follow_redirects=False)

    def close(self) -> None:
        self._http.close()

    def url(self, service: str, path: str) -> str:
        if isinstance(self._address, str):
            return self._address.rstrip("/") + PREFIXES[service] + path
        if service not in self._address:
            raise ValueError(f"Pass the address of {service!r} to Touchstone()")
        return self._address[service].rstrip("/") + path

    def json(self, service: str, method: str, path: str, **parts: Any) -> Any:
        response = self._send(service, method, path, **parts)
        try:
            return response.json()
        except ValueError as error:
            raise no_response(f"{response.url} responded with something other than JSON") from error

    def text(self, service: str, method: str, path: str, **parts: Any) -> str:
        return self._send(service, method, path, **parts).text

    def empty(self, service: str, method: str, path: str, **parts: Any) -> None:
        self._send(service, method, path, **parts)

    def file(self, service: str, method: str, path: str, **parts: Any) -> bytes:
        """A file, wherever it is kept: its address elsewhere needs no token and must not get it."""
        response = self._send(service, method, path, **parts)
        if response.status_code == 200:
            return response.content
        target = response.headers["Location"] if response.is_redirect else response.json()["url"]
        request = self._http.build_request("GET", urljoin(str(response.url), target))
        return self._repeat(request, repeatable=True, authorized=False).content

    def upload(self, service: str, url: str, headers: Mapping[str, str], content: bytes) -> None:
        """Sends a file to an address that is a permission of its own: it must not get the token."""
        target = urljoin(self.url(service, "/"), url)
        request = self._http.build_request("PUT", target, content=content, headers=dict(headers))
        self._repeat(request, repeatable=True, authorized=False)

    def stream(
        self, service: str, method: str, path: str, *, query: Mapping[str, Any] | None = None, **parts: Any
    ) -> Iterator[Event]:
        """Events until the stream ends. After a break it continues after the last event."""
        last = (query or {}).get("after")
        failures = 0
        while True:
            request = self._request(service, method, path, query=query, **parts)
            request.headers["Accept"] = "text/event-stream"
            request.extensions["timeout"] = {**request.extensions["timeout"], "read": SILENCE_SECONDS}
            if last is not None:
                request.headers["Last-Event-ID"] = str(last)
            try:
                response = self._repeat(request, repeatable=True, stream=True)
                try:
                    # 204: the stream has no further events.
                    if response.status_code == 204:
                        return
                    for event in httpx_sse.EventSource(response).iter_sse():
                        # A service that dies after each snapshot makes no progress: the pauses keep growing.
                        if event.id and event.id != last:
                            failures, last = 0, event.id
                        # `reconnect` ends this connection; the next one continues. One without data only moves the position.
                        if event.data and event.event != "reconnect":
                            yield Event(event.event, event.id, event.json())
                finally:
                    response.close()
            except httpx.RequestError as error:
                if failures + 1 >= MAX_FAILURES:
                    raise no_response(f"The stream of {request.url} broke off: {error}") from error
            except TouchstoneError as error:
                if not may_pass(error) or failures + 1 >= MAX_FAILURES:
                    raise
            failures += 1
            self.pause(back_off(failures))

    def _send(
        self,
        service: str,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        key: str | None = None,
        keyed: bool = False,
        session: str | None = None,
        **parts: Any,
    ) -> httpx.Response:
        request = self._request(service, method, path, query=query, **parts)
        if keyed:
            request.headers["Idempotency-Key"] = key or str(uuid.uuid4())
        if session is not None:
            request.headers["Touchstone-Session"] = session
        # A second DELETE, or a second POST without a key, would report a conflict with the first one.
        return self._repeat(request, repeatable=keyed or method in ("GET", "PUT", "PATCH"))

    def _request(
        self,
        service: str,
        method: str,
        path: str,
        *,
        path_values: Mapping[str, Any] | None = None,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
    ) -> httpx.Request:
        values = {name: _segment(name, str(value)) for name, value in (path_values or {}).items()}
        return self._http.build_request(
            method,
            self.url(service, path.format(**values)),
            params=_flat(query or {}),
            content=None if body is None else as_json(body),
            headers=None if body is None else {"Content-Type": "application/json"},
        )

    def _repeat(
        self, request: httpx.Request, *, repeatable: bool, stream: bool = False, authorized: bool = True
    ) -> httpx.Response:
        """Sends a request until it succeeds: first after `Retry-After`, else after a pause that doubles."""
        attempt = 0
        renewed = False
        while True:
            attempt += 1
            try:
                if authorized:
                    self._authorize(request)
                response = self._http.send(request, stream=stream)
                if response.is_success or response.is_redirect:
                    return response
                response.read()
                response.close()
                error = error_of(response)
            except httpx.RequestError as cause:
                # Without a user and password, which messages must not have.
                shown = request.url.copy_with(userinfo=b"")
                error = no_response(f"No response from {shown}: {cause or type(cause).__name__}")
                error.__cause__ = cause
            if error.code == "AUTH001" and callable(self._token) and not renewed:
                renewed, self._current = True, None
                attempt -= 1
                continue
            pause = back_off(attempt) if error.retry_after is None else error.retry_after
            never_sent = isinstance(
                error.__cause__, (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
            )
            may_repeat = repeatable or never_sent or error.status == 429
            if (
                not (may_pass(error) and may_repeat)
                or attempt >= self._attempts
                or pause > self._longest_pause
            ):
                raise error
            self.pause(pause)

    def _authorize(self, request: httpx.Request) -> None:
        if callable(self._token) and self._current is None:
            self._current = (self._token() or "").strip()
        if self._current:
            request.headers["Authorization"] = f"Bearer {self._current}"


def _flat(query: Mapping[str, Any]) -> dict[str, Any]:
    """The given parameters; the values of a mapping by their names, such as `params.fast`."""
    flat: dict[str, Any] = {}
    for name, value in query.items():
        if isinstance(value, Mapping):
            flat.update({f"{name}.{key}": each for key, each in value.items()})
        elif value is not None:
            flat[name] = value
    return flat


def _segment(name: str, value: str) -> str:
    # These would be the address of something else.
    if value in ("", ".", ".."):
        raise ValueError(f"{name} is {value!r}. Pass a name or an ID")
    return quote(value, safe="")


def may_pass(error: TouchstoneError) -> bool:
    """True if the same call may succeed later."""
    return error.status in (0, 408, 429) or error.status >= 500


def back_off(failures: int) -> float:
    """Doubles from 0.5 s up to 30 s, with jitter: clients of a service that restarts do not come back in one wave."""
    return min(30.0, 0.5 * 2 ** (failures - 1)) * random.uniform(0.75, 1.25)
