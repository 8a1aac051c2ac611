"""What schemathesis calls while it fuzzes a platform: callers, values that exist, broken requests, and checks of leaks, logs and memory.

FUZZ_CONTEXT names a JSON file with what the run knows of the platform. See fuzz.ts.
"""

import json
import os
import re
import urllib.request
from collections import Counter, defaultdict
from pathlib import Path
from random import Random

import requests
import schemathesis
from schemathesis.core.parameters import ParameterLocation

CONTEXT = json.loads(Path(os.environ["FUZZ_CONTEXT"]).read_text())
ROLES = ["guest", "viewer", "researcher", "approver", "admin"]
TOKENS = CONTEXT["tokens"]

# ---- Requests ----

ALIASES = {
    "name": "model_name",
    "strategy": "model_name",
    "run_id": "job_id",
    "backtest_run_id": "job_id",
    "symbols": "symbol",
    "pairs": "symbol",
    "cursor": "next_cursor",
}
# A search or a run of years would last longer than the fuzzing. Only the first and each sixth may run to its end.
DAYS = {"start": "2024-01-01T00:00:00Z", "end": "2024-01-04T00:00:00Z"}
LIGHT = {
    "/api/v1/backtests": lambda body: as_object(body.get("config")).update(date_range=DAYS, timeframe="1h"),
    "/api/v1/hyperopt": lambda body: body.update(date_range=DAYS, timeframe="1h", n_trials=2, workers=1),
    "/api/v1/collections": lambda body: body.update(DAYS),
}
LEFT_AT_FIRST, LEFT_TO_RUN = 3, 6
# Bodies and headers that a generator of JSON never makes.
BROKEN = [
    b"[1,2",
    b"\0",
    b" ",
    b"\xff\xfe{",
    b'{"a":"\xed\xa0\x80"}',
    b'\xef\xbb\xbf{}',
    b"{}{}",
    b"{'config':1}",
    b'{"priority":NaN,"config":{}}',
    b'{"priority":1e400}',
    b'{"config":{"a":1,"a":2,"__proto__":{"x":1}}}',
    b'{"constructor":{"prototype":{"polluted":true}},"toString":1}',
    b"9" * 400,
    b'"' + b"x" * (1024 * 1024 - 2) + b'"',
    b'"' + b"x" * 2_000_000 + b'"',
    json.dumps([None] * 20_000).encode(),
    *(b"[" * depth + b"1" + b"]" * depth for depth in (64, 65, 5000, 100_000)),
    *(b'{"config":' * depth + b"1" + b"}" * depth for depth in (64, 65, 5000)),
    b'{"config":' * 5000,
]
HEADERS = [
    {"X-Correlation-ID": 'a b"<script>'},
    {"X-Correlation-ID": "x" * 129},
    {"Idempotency-Key": "__proto__"},
    {"Idempotency-Key": "k" * 256},
    {"Touchstone-Session": "#trials#../x"},
    {"Content-Type": "application/json; charset=utf-16"},
    {"Content-Type": "application/" + "x" * 2000},
    {"Content-Encoding": "gzip"},
    {"X-HTTP-Method-Override": "DELETE"},
    {"X-Forwarded-Host": "evil.example"},
    {"Host": "evil.example:1"},
    {"Expect": "the-unexpected"},
    {"Range": "bytes=0-0,1-1"},
    {"Origin": "null"},
    {"__proto__": "x"},
    {"X-Big": "x" * 20_000},
]
SEGMENTS = ["..", ".", "%", "a/b", "../../etc/passwd", "\0", ";a=b", "__proto__", "constructor", "-1", " ", "*", "x" * 5000]

pool = defaultdict(list, {name: list(values) for name, values in CONTEXT["known"].items()})
started = Counter()
counts = defaultdict(Counter)
# Case -> the user who sends it and the only statuses that are right, or None.
callers = {}
broken = set()


def is_negative(case, location):
    return case.meta is not None and case.meta.is_negative_at(location)


def as_object(value):
    return value if isinstance(value, dict) else {}


def learn(value):
    """Keeps names and values of a response for later requests, except of what is secret."""
    if isinstance(value, list):
        for each in value[:20]:
            learn(each)
    elif isinstance(value, dict) and "openapi" not in value and CONTEXT["secret"]["name"] not in value.values():
        for name, each in value.items():
            if isinstance(each, (dict, list)):
                learn(each)
            elif isinstance(each, (str, int)) and name in pool and each not in pool[name]:
                pool[name] = pool[name][:4] + pool[name][4:][-16:] + [each]


def known(name, current, ends, random):
    """A value of that name that exists. What ends is never the first of its kind, which others need."""
    kind = re.match(r"[a-z]{2}-|", str(current)).group()
    last = name.rsplit("_", 1)[-1]
    for candidate in (name, ALIASES.get(name), last):
        values = [each for each in pool.get(candidate, ()) if str(each).startswith(kind)][1 if ends else 0 :]
        if values:
            return random.choice(values)
    return current


def fill(container, ends, random):
    for name, value in list(container.items()):
        if isinstance(value, dict):
            fill(value, ends, random)
        elif random.random() < 0.8:
            if isinstance(value, list) and value and isinstance(value[0], str):
                container[name] = [known(name, value[0], ends, random)]
            elif isinstance(value, str):
                container[name] = str(known(name, value, ends, random))


def least_role(case):
    schemes = case.operation.definition.raw.get("security") or []
    return next((roles[0] for scheme in schemes for roles in scheme.values() if roles), None)


def authorize(case, random):
    """Sends the call as one of two users, or as somebody whom the service must refuse."""
    role = least_role(case)
    secured = bool(case.operation.definition.raw.get("security"))
    chance = random.random()
    user = "bob" if random.random() < 0.25 else "ann"
    only = None
    token = random.choice(ROLES[ROLES.index(role or "viewer") :])
    if secured and chance < 0.05:
        only, header = 401, None
    elif secured and chance < 0.1:
        only, header = 401, random.choice(TOKENS["bad"])
    else:
        if role and chance < 0.18:
            only, token = 403, random.choice(ROLES[: ROLES.index(role)])
        header = f"Bearer {TOKENS['users'][user][token]}"
    case.headers.pop("Authorization", None)
    if header:
        case.headers["Authorization"] = header
    callers[case.id] = (user, token, only)


@schemathesis.hook
def before_init_operation(context, operation):
    operation.base_url = operation.definition.raw["x-server"]


@schemathesis.hook
def before_call(context, case, kwargs):
    random = Random(f"{CONTEXT['seed']} {case.operation.label} {sum(counts[case.operation.label].values())}")
    ends = case.method == "DELETE" or case.path.endswith("/cancel")
    optional = {each.name for each in case.operation.query if not each.is_required}
    for name in sorted(optional & set(case.query)) if not is_negative(case, ParameterLocation.QUERY) else ():
        # Many filters at once find nothing.
        if random.random() < 0.6:
            del case.query[name]
    for location, container in (
        (ParameterLocation.PATH, case.path_parameters),
        (ParameterLocation.QUERY, case.query),
        (ParameterLocation.BODY, case.body),
    ):
        if isinstance(container, dict) and not is_negative(case, location):
            fill(container, ends, random)
    if case.method == "POST" and isinstance(case.body, dict):
        LIGHT.get(case.path, lambda body: None)(case.body)
    if TOKENS:
        authorize(case, random)
        if callers[case.id][0] == "bob" and "job_id" in case.path_parameters and random.random() < 0.5:
            case.path_parameters["job_id"] = CONTEXT["secret"]["job_id"]
    if isinstance(case.body, dict) and random.random() < 0.08:
        kwargs["data"] = random.choice(BROKEN)
        broken.add(case.id)
    elif random.random() < 0.04:
        case.headers.update(random.choice(HEADERS))
    elif case.path_parameters and random.random() < 0.04:
        case.path_parameters[random.choice(sorted(case.path_parameters))] = random.choice(SEGMENTS)
    if isinstance(case.body, dict) and case.media_type and "Content-Type" not in case.headers:
        case.headers["Content-Type"] = case.media_type


@schemathesis.hook
def after_call(context, case, response):
    counts[case.operation.label][response.status_code] += 1
    if response.status_code >= 300 or len(response.content) > 200_000:
        return
    body = json_of(response)
    learn(body)
    cancel_most(case, body)


def cancel_most(case, body):
    """Bounds the load: most of the work that requests start is cancelled."""
    pattern = re.compile(re.escape(case.path) + r"/\{(\w+)\}/cancel")
    found = next(filter(None, map(pattern.fullmatch, case.operation.schema.raw_schema["paths"])), None)
    if case.method != "POST" or found is None:
        return
    started[case.path] += 1
    if started[case.path] <= LEFT_AT_FIRST or started[case.path] % LEFT_TO_RUN == 0:
        return
    headers = {"Authorization": f"Bearer {TOKENS['users']['ann']['admin']}"} if TOKENS else {}
    requests.post(f"{case.operation.base_url}{case.path}/{body[found.group(1)]}/cancel", headers=headers, timeout=35)


# ---- Checks ----

LEAKS = [
    r"\\n\s+at ",
    r"\b(?:Type|Reference|Syntax|Range|Zod|Conformance|Assertion|Aggregate)Error\b",
    r"\b\w+Exception\b",
    r"node_modules|node:internal|\.[tj]s:\d+",
    r"-----BEGIN|AWS_SECRET|\"stack\"",
    r"\bSELECT .+ FROM\b|\bSQLITE_\w+|" + re.escape(CONTEXT["home"]),
]
# Codes for requests without an operation and for malformed HTTP, as documented at the top of every document.
GENERAL = {400: "HTTP400", 403: "HTTP403", 404: "HTTP404", 405: "HTTP405", 431: "HTTP431"}
# Errors of a body that no schema can express: invalid JSON, and integers beyond a double.
BEYOND_SCHEMAS = {"json_invalid", "int_parsing_size"}


def json_of(response):
    try:
        return json.loads(response.content)
    except ValueError:
        return None


def detail_of(response):
    return as_object(json_of(response)).get("detail")


def code_of(response):
    body = as_object(json_of(response))
    if "error_code" in body:
        found = re.search(r"\((\w+)\)$", body.get("message", ""))
        return found.group(1) if found else GENERAL[404]
    return as_object(body.get("detail") or body.get("error")).get("code")


def header(response, name):
    return (response.headers.get(name.lower()) or [None])[0]


@schemathesis.hook
def filter_failure(context, failure, case, response):
    code = code_of(response)
    # The exchange of a job is down here, and a call with its own deadline may miss it.
    if response.status_code == 503 and (code == "DATA004" or code == "SVC004" and "deadline_ms" in as_object(case.body)):
        return type(failure).__name__ != "ServerError"
    # A broken request may address no operation.
    return code is None or GENERAL.get(response.status_code) != code


@schemathesis.check
def no_internals(ctx, response, case):
    """No stack, path, exception or query of the platform is in a response."""
    if "json" in (header(response, "Content-Type") or ""):
        found = [match.group() for match in (re.search(leak, response.text) for leak in LEAKS) if match]
        assert not found, f"the body exposes internals: {found}"


@schemathesis.check
def no_secrets(ctx, response, case):
    """Nobody but its owner and admins sees a private resource."""
    user, role, _ = callers.get(case.id, ("ann", "admin", None))
    if user == "bob" and role != "admin":
        assert CONTEXT["secret"]["name"] not in response.text, "the body shows a private resource of another user"


@schemathesis.check
def documented_code(ctx, response, case):
    """The code of an error is one that the operation documents for the status."""
    documented = case.operation.responses.find_by_status_code(response.status_code)
    code = code_of(response)
    if documented and code and GENERAL.get(response.status_code) != code:
        codes = documented.definition.get("content", {}).get("application/json", {}).get("x-codes")
        assert codes is None or code in codes, f"the code {code} is not documented for status {response.status_code}"


@schemathesis.check
def due_headers(ctx, response, case):
    status = response.status_code
    due = {401: "WWW-Authenticate", 405: "Allow", 429: "Retry-After", 503: "Retry-After"}.get(status)
    assert not due or header(response, due), f"{status} without {due}"
    answered = header(response, "X-Correlation-ID")
    assert answered, "X-Correlation-ID is missing"
    sent = case.headers.get("X-Correlation-ID")
    kept = isinstance(sent, str) and re.fullmatch(r"[A-Za-z0-9._:-]{1,128}", sent)
    if kept and code_of(response) not in ("HTTP400", "HTTP403", "HTTP431"):
        assert answered == sent, f"X-Correlation-ID {sent} came back as {answered}"


@schemathesis.check
def accepts_what_fits(ctx, response, case):
    """A body that fits its schema is not rejected for a missing field or a type. Its values may still be wrong."""
    detail = detail_of(response)
    if isinstance(detail, list) and not is_negative(case, ParameterLocation.BODY) and case.id not in broken:
        wrong = [issue for issue in detail if issue.get("type") not in BEYOND_SCHEMAS]
        assert not wrong, f"the body fits its schema, and is rejected: {wrong[:1]}"


@schemathesis.check
def access(ctx, response, case):
    """Who must be refused is refused, and nobody else is asked for a token."""
    # Too much is refused before the caller is known.
    if case.id not in callers or response.status_code in (413, 414) or code_of(response) in GENERAL.values():
        return
    only = callers[case.id][2]
    assert only is None or response.status_code == only, f"{only} was due, not {response.status_code}"
    assert only == 401 or response.status_code != 401, "401 with a token that holds"


@schemathesis.check
class PlatformState:
    """The platform logs no error, keeps its memory bounded, and is healthy at the end."""

    def __init__(self):
        self.log = Path(CONTEXT["log"])
        self.read = self.log.stat().st_size
        self.before = memory_mb()

    def faults(self):
        with self.log.open("rb") as file:
            file.seek(self.read)
            lines = file.read().splitlines(keepends=True)
        whole = [line for line in lines if line.endswith(b"\n")]
        self.read += sum(map(len, whole))
        return [line.decode("utf8", "replace").strip()[:1000] for line in whole if is_fault(line)]

    def after_response(self, ctx, response, case):
        faults = self.faults()
        assert not faults, "the platform logged an error:\n" + "\n".join(faults)

    def after_run(self, ctx):
        Path(CONTEXT["counts"]).write_text(json.dumps(counts))
        faults = self.faults()
        assert not faults, "the platform logged an error:\n" + "\n".join(faults)
        for base in CONTEXT["bases"]:
            with urllib.request.urlopen(f"{base}/api/v1/health", timeout=35) as response:
                status = json.load(response)["status"]
            assert status == "healthy", f"{base} is {status}"
        after = memory_mb()
        print(f"memory {self.before} MB before, {after} MB after")
        assert after - self.before <= CONTEXT["memory_mb"], f"memory grew from {self.before} to {after} MB"


def is_fault(line):
    """A line of level ERROR, or one outside the log: a stack, a warning of Node."""
    try:
        return json.loads(line).get("level") in ("ERROR", "CRITICAL")
    except ValueError:
        return bool(line.strip())


def memory_mb():
    return int(os.popen(f"ps -o rss= -p {CONTEXT['pid']}").read()) // 1024
