"""Repetition, errors, tokens and streams, against a transport that answers as the test says."""

import json
import sys
import unittest
from importlib.util import find_spec
from itertools import chain, repeat
from unittest import mock

import httpx

from touchstone_client import (
    AuthenticationError,
    Backtest,
    Challenge,
    Hyperopt,
    JobError,
    RateLimitError,
    Touchstone,
    TouchstoneError,
    UnavailableError,
    WaitTimeout,
)
from touchstone_client.connection import MAX_FAILURES
from touchstone_client.frames import by_day, trades_frame

JOB = {"job_id": "bt-1", "status": "pending", "created_at": "2026-01-01T00:00:00Z", "warnings": []}


def failure(status, code, **headers):
    detail = {"code": code, "message": "No", "field": "", "context": {"value": 1}}
    return httpx.Response(status, json={"detail": detail}, headers={"X-Correlation-ID": "c-1", **headers})


def broken(request):
    raise httpx.ReadError("reset", request=request)


def unreachable(request):
    raise httpx.ConnectError("refused", request=request)


class Calls(unittest.TestCase):
    def platform(self, *answers, address="http://platform.example/", **options):
        self.requests, self.pauses = [], []
        queue = chain(answers, repeat(AssertionError("one call too many")))

        def send(request):
            request.read()
            self.requests.append((request.method, request.url, dict(request.headers), request.content))
            answer = next(queue)
            if isinstance(answer, Exception):
                raise answer
            return answer(request) if callable(answer) else answer

        ts = Touchstone(address, transport=httpx.MockTransport(send), **options)
        ts.connection.pause = self.pauses.append
        return ts

    def test_values_by_name_are_parameters_of_their_own(self):
        ts = self.platform(httpx.Response(200, json={"items": [], "next_cursor": None}))
        self.assertEqual(list(ts.backtests(params={"fast": 10, "on": True}, session=None)), [])
        self.assertEqual(self.requests[0][1].query, b"params.fast=10&params.on=true")

    def headers(self, name):
        return [headers.get(name) for _, _, headers, _ in self.requests]

    def test_a_call_is_repeated_after_retry_after_with_the_same_key(self):
        ts = self.platform(
            failure(429, "HTTP429", **{"Retry-After": "7"}), broken, httpx.Response(201, json=JOB)
        )
        self.assertEqual(ts.backtest("ema_crossover").id, "bt-1")
        self.assertEqual(self.pauses[0], 7)
        self.assertTrue(0.75 <= self.pauses[1] <= 1.25)
        keys = self.headers("idempotency-key")
        self.assertEqual((len(keys), len(set(keys)), None in keys), (3, 1, False))

    def test_a_given_key_is_sent(self):
        self.platform(httpx.Response(201, json=JOB)).backtest("ema_crossover", idempotency_key="nightly")
        self.assertEqual(self.headers("idempotency-key"), ["nightly"])

    def test_the_last_failure_is_raised_with_its_code(self):
        ts = self.platform(*repeat(failure(429, "HTTP429"), 3))
        with self.assertRaises(RateLimitError) as caught:
            ts.get_backtest("bt-1")
        error = caught.exception
        self.assertEqual((error.code, error.status, error.context), ("HTTP429", 429, {"value": 1}))
        self.assertEqual(error.correlation_id, "c-1")
        self.assertEqual(len(self.pauses), 2)

    def test_a_pause_that_is_too_long_is_an_error_at_once(self):
        ts = self.platform(failure(503, "SVC003", **{"Retry-After": "90"}))
        with self.assertRaises(UnavailableError):
            ts.get_backtest("bt-1")
        self.assertEqual(self.pauses, [])

    def test_a_call_that_may_have_been_carried_out_is_not_repeated_without_a_key(self):
        ts = self.platform(broken)
        with self.assertRaises(UnavailableError) as caught:
            ts.backend.cancel_backtest("bt-1")
        self.assertEqual(caught.exception.code, "NO_RESPONSE")
        ts = self.platform(unreachable, httpx.Response(200, json={**JOB, "status": "cancelled"}))
        self.assertEqual(ts.backend.cancel_backtest("bt-1")["status"], "cancelled")

    def test_an_expired_token_is_renewed_once(self):
        tokens = iter(["old", "new"])
        ok = httpx.Response(200, json=JOB)
        ts = self.platform(failure(401, "AUTH001"), ok, ok, token=lambda: next(tokens))
        ts.get_backtest("bt-1")
        ts.get_backtest("bt-1")
        self.assertEqual(self.headers("authorization"), ["Bearer old", "Bearer new", "Bearer new"])
        ts = self.platform(failure(401, "AUTH001"), token="old")
        self.assertRaises(AuthenticationError, ts.get_backtest, "bt-1")

    def test_paths_and_queries_are_encoded(self):
        ts = self.platform(httpx.Response(200, json={}), httpx.Response(200, json={}))
        ts.backend.get_version("a/b", "1")
        ts.backend.list_backtest_trades("bt-1", pair=["A/B:B", "C/B:B"], from_="2024-01-01")
        urls = [url for _, url, _, _ in self.requests]
        self.assertEqual(urls[0].raw_path, b"/services/backend/api/v1/models/a%2Fb/versions/1")
        self.assertEqual(urls[1].params.get_list("pair"), ["A/B:B", "C/B:B"])
        self.assertEqual(urls[1].params["from"], "2024-01-01")
        for name in ("", ".", ".."):
            self.assertRaisesRegex(ValueError, "Pass a name", ts.backend.get_version, name, "1")

    def test_a_trading_mode_is_a_setting_of_the_run(self):
        ts = self.platform(httpx.Response(201, json=JOB))
        ts.backtest("ema_crossover", pairs=["ETH/BTC"], trading_mode="spot")
        config = json.loads(self.requests[0][3])["config"]
        self.assertEqual((config["trading_mode"], config.get("params")), ("spot", None))

    @unittest.skipUnless(find_spec("pandas"), "pandas is not installed")
    def test_candles_of_spot_pairs_are_read_by_their_names(self):
        names = ("open", "high", "low", "close", "volume")
        page = {"times": [], "next_from": None, **{name: [] for name in names}}
        ts = self.platform(httpx.Response(200, json=page), httpx.Response(200, json=page))
        ts.candles("ETH/BTC", "1h")
        ts.candles("ETH/BTC:BTC", "1h")
        modes = [url.params.get("trading_mode") for _, url, _, _ in self.requests]
        self.assertEqual(modes, ["spot", None])

    def test_each_service_may_have_an_address(self):
        ts = self.platform(httpx.Response(200, json={}), address={"strategy": "http://other.example/v2/"})
        ts.strategy.get_hyperopt("ho-1")
        self.assertEqual(str(self.requests[0][1]), "http://other.example/v2/api/v1/hyperopt/ho-1")
        self.assertRaisesRegex(ValueError, "backend", ts.get_backtest, "bt-1")

    def test_a_stored_file_is_read_without_the_token(self):
        link = {"url": "https://files.example/x", "file_name": "x", "expires_at": "2026-01-01T00:00:00Z"}
        ts = self.platform(
            httpx.Response(201, json=link), broken, httpx.Response(200, content=b"rows"), token="secret"
        )
        self.assertEqual(ts.backend.export_backtest("bt-1"), b"rows")
        self.assertEqual(self.headers("authorization"), ["Bearer secret", None, None])

    def test_without_pandas_values_are_still_read(self):
        equity = {"dates": ["2024-01-01"], "equity": [1], "drawdown": [0], "monthly_returns": {}}
        ts = self.platform(httpx.Response(200, json=JOB), *repeat(httpx.Response(200, json=equity), 2))
        run = ts.get_backtest("bt-1")
        with mock.patch.dict(sys.modules, {"pandas": None}):
            self.assertRaisesRegex(ImportError, "need pandas", lambda: run.equity)
        self.assertEqual(ts.backend.get_backtest_equity("bt-1")["equity"], [1])

    def test_a_search_with_look_ahead_bias_warns_of_its_best(self):
        found = {"state": "found", "findings": ["look_ahead: close"]}
        job = {"job_id": "ho-1", "status": "completed", "look_ahead": found}
        result = {"best_trial": 3, "best_value": 9, "best_params": {}, "look_ahead": found}
        ts = self.platform(httpx.Response(200, json=job), httpx.Response(200, json=result))
        search = ts.get_hyperopt("ho-1")
        self.assertEqual(search.look_ahead["state"], "found")
        self.assertEqual(repr(search), "<Hyperopt ho-1 completed, look-ahead found>")
        with self.assertWarnsRegex(UserWarning, "ho-1: its values cannot be earned"):
            self.assertEqual(search.best.number, 3)

    @unittest.skipUnless(find_spec("pandas"), "pandas is not installed")
    def test_frames_without_rows_have_the_types_of_others(self):
        columns = {"opened_at": [0], "closed_at": [60], "stake": [100], "id": [1]}
        full, empty = trades_frame([columns]), trades_frame([{name: [] for name in columns}])
        self.assertEqual(str(full.index[0]), "1970-01-01 00:01:00+00:00")
        self.assertEqual((empty["stake"].dtype, str(empty.index.tz)), (full["stake"].dtype, "UTC"))
        days = [by_day({"equity": values}, dates) for values, dates in ([[1], ["2024-01-01"]], [[], []])]
        self.assertEqual(days[0].dtypes.tolist(), days[1].dtypes.tolist())
        self.assertEqual(days[0].index.dtype, days[1].index.dtype)

    @unittest.skipUnless(find_spec("pandas"), "pandas is not installed")
    def test_trades_of_pages_with_and_without_orders_are_one_frame(self):
        plain = {"opened_at": [0], "closed_at": [60], "id": [1]}
        adjusted = {"opened_at": [60], "closed_at": [120], "id": [2], "orders": [[{"side": "entry"}]]}
        self.assertEqual(trades_frame([plain, adjusted])["orders"].tolist(), [None, [{"side": "entry"}]])
        self.assertEqual(trades_frame([adjusted, plain])["orders"].tolist(), [[{"side": "entry"}], None])
        self.assertNotIn("orders", trades_frame([plain, plain]))

    @unittest.skipUnless(find_spec("pandas"), "pandas is not installed")
    def test_columns_wait_for_their_task_and_are_read_to_their_last_page(self):
        page = {"pair": "A/B", "timeframe": "1h", "rows": 3, "changed_candles": [{"pair": "A/B"}], "plot": None}
        first = {"times": [0, 3600], "columns": {"close": [1, None], "signal:enter_tag": [None, "dip"]}}
        second = {"times": [7200], "columns": {"close": [3.5], "signal:enter_tag": [None]}}
        ts = self.platform(
            httpx.Response(200, json=JOB),
            httpx.Response(202, json={"status": "running"}),
            httpx.Response(200, json={**page, **first, "next_cursor": "c"}),
            httpx.Response(200, json={**page, **second, "next_cursor": None}),
        )
        frame = ts.get_backtest("bt-1").columns("A/B", names=["close", "signal:enter_tag"])
        self.assertEqual(frame["close"].dropna().tolist(), [1, 3.5])
        self.assertEqual(frame["signal:enter_tag"].tolist(), [None, "dip", None])
        self.assertEqual(str(frame.index[2]), "1970-01-01 02:00:00+00:00")
        self.assertEqual(frame.attrs["changed_candles"], [{"pair": "A/B"}])
        self.assertEqual(self.requests[-1][1].params["cursor"], "c")
        self.assertEqual(len(self.pauses), 1)

    def test_wait_raises_for_a_failed_job_and_after_its_timeout(self):
        failed = {**JOB, "status": "failed", "error": "no candles", "error_code": "DATA001"}
        ts = self.platform(httpx.Response(201, json=JOB), *repeat(httpx.Response(200, json=failed), 1))
        with self.assertRaises(JobError) as caught:
            ts.backtest("ema_crossover").wait()
        self.assertEqual((caught.exception.code, caught.exception.job["status"]), ("DATA001", "failed"))
        ts = self.platform(*repeat(httpx.Response(200, json=JOB), 2))
        self.assertRaises(WaitTimeout, ts.get_backtest("bt-1").wait, 0)

    def test_wait_outlasts_a_restart_of_the_platform(self):
        down = [failure(503, "SVC001"), *repeat(unreachable, 8)]
        running, done = ({**JOB, "status": status} for status in ("running", "completed"))
        ts = self.platform(
            httpx.Response(200, json=running),
            httpx.Response(200, json={**JOB, "status": "a later one"}),
            *down,
            httpx.Response(200, json=done),
        )
        self.assertEqual(ts.get_backtest("bt-1").wait().status, "completed")
        ts = self.platform(*repeat(unreachable, 3 * MAX_FAILURES))
        self.assertRaises(UnavailableError, Backtest(ts, "bt-1").wait)
        ts = self.platform(*repeat(unreachable, 3))
        self.assertRaisesRegex(WaitTimeout, "cannot be read .*NO_RESPONSE", Backtest(ts, "bt-1").wait, 0)
        ts = self.platform(failure(404, "RES001"))
        self.assertRaisesRegex(TouchstoneError, "RES001", Backtest(ts, "bt-1").wait)

    def test_misspelled_keywords_send_nothing(self):
        ts = self.platform()
        model, challenge = ts.model("m"), Challenge(ts, "ch-1")
        for call, hint in (
            (lambda: ts.hyperopt("m", n_trails=5), "n_trails is no field .* did you mean n_trials"),
            (lambda: model.promote(2, expected_prodution="1"), "did you mean expected_production"),
            (lambda: model.stage(2, coment="x"), "did you mean comment"),
            (lambda: model.rollback(1, "x", expected="2"), "RollbackRequest"),
            (lambda: model.challenge(2, min_trade=1), "did you mean min_trades"),
            (lambda: Backtest(ts, "bt-1").register("image", descripton="x"), "did you mean description"),
            (lambda: challenge.log_trade("t", 1, varient="champion"), "did you mean variant"),
            (lambda: challenge.promote(coment="x"), "did you mean comment"),
        ):
            self.assertRaisesRegex(TypeError, hint, call)
        self.assertEqual(self.requests, [])

    @unittest.skipUnless(find_spec("pandas"), "pandas is not installed")
    def test_values_of_numpy_and_pandas_are_sent(self):
        import numpy
        import pandas

        row = pandas.DataFrame({"fast": [10], "slow": [30.5]}).iloc[0]
        ts = self.platform(httpx.Response(201, json=JOB))
        ts.backtest(
            "m",
            fast=numpy.int64(10),
            slow=row["slow"],
            shorts=numpy.bool_(True),
            at=numpy.datetime64("2024-01-01"),
            pairs=pandas.Series(["A/B:B"]),
            start=pandas.Timestamp("2024-01-01", tz="Europe/Berlin"),
        )
        config = json.loads(self.requests[0][3])["config"]
        self.assertEqual(config["params"], {"fast": 10, "slow": 30.5, "shorts": True, "at": "2024-01-01"})
        self.assertEqual(
            (config["pairs"], config["date_range"]["start"]), (["A/B:B"], "2024-01-01T00:00:00+01:00")
        )
        self.assertEqual(self.headers("content-type"), ["application/json"])
        self.assertRaises(ValueError, ts.backtest, "m", fee=float("nan"))
        self.assertRaisesRegex(TypeError, "pass a number or a text", ts.backtest, "m", fast={1, 2})

    @unittest.skipUnless(find_spec("pandas"), "pandas is not installed")
    def test_signals_without_times_or_pairs_send_nothing(self):
        import pandas

        frame = pandas.DataFrame({"enter_long": [True, False]})
        paired = frame.assign(pair="BTC/USDT:USDT")
        ts = self.platform()
        for call in (ts.upload_signals, lambda signals: ts.backtest(signals=signals)):
            self.assertRaisesRegex(ValueError, 'has no column "pair"', call, frame)
            self.assertRaisesRegex(ValueError, "has no times", call, paired)
        self.assertEqual(self.requests, [])

    def test_addresses_and_tokens_are_checked_before_they_are_sent(self):
        for address in ("localhost:8000", {"backend": "127.0.0.1:8000"}):
            self.assertRaisesRegex(ValueError, "begin it with http://", Touchstone, address)
        # The last line of a file.
        for token in ("secret\n", lambda: "secret\n"):
            self.platform(httpx.Response(200, json=JOB), token=token).get_backtest("bt-1")
            self.assertEqual(self.headers("authorization"), ["Bearer secret"])
        self.platform(httpx.Response(200, json=JOB), token=lambda: None).get_backtest("bt-1")
        self.assertEqual(self.headers("authorization"), [None])

    def test_a_resumed_job_has_another_result(self):
        job = {**JOB, "job_id": "ho-1", "status": "cancelled"}
        ts = self.platform(
            *(
                httpx.Response(200, json=each)
                for each in ({"best_value": 1}, job, {**job, "status": "pending"}, {"best_value": 2})
            )
        )
        search = Hyperopt(ts, "ho-1")
        self.assertEqual(search.result["best_value"], 1)
        self.assertEqual(search.resume().status, "pending")
        self.assertEqual(search.result["best_value"], 2)

    def test_lists_are_read_to_their_last_page(self):
        pages = [
            {"items": [1, 2], "next_cursor": "a"},
            {"items": [], "next_cursor": "b"},
            {"items": [3], "next_cursor": None},
        ]
        ts = self.platform(*(httpx.Response(200, json=page) for page in pages))
        self.assertEqual(list(ts.backtests(status="completed")), [1, 2, 3])
        self.assertEqual([url.params.get("cursor") for _, url, _, _ in self.requests], [None, "a", "b"])

    def test_message_without_an_answer_has_no_password(self):
        ts = self.platform(*[unreachable] * 3, address="http://ann:secret@platform.example")
        with self.assertRaises(UnavailableError) as raised:
            ts.backend.get_me()
        self.assertIn("No response from http://platform.example/", str(raised.exception))
        self.assertNotIn("secret", str(raised.exception))

    def test_versions_of_a_model_are_read_to_their_last_page(self):
        pages = [{"versions": [2], "next_cursor": "a"}, {"versions": [1], "next_cursor": None}]
        ts = self.platform(*(httpx.Response(200, json=page) for page in pages))
        self.assertEqual(ts.model("ema_crossover").versions(include_archived=False), [2, 1])
        self.assertEqual([url.params.get("cursor") for _, url, _, _ in self.requests], [None, "a"])

    def test_lists_with_numbered_pages_are_read_to_the_last_one(self):
        ts = self.platform(
            *(
                httpx.Response(200, json={"items": [page], "page": page, "pages": 3, "total": 3})
                for page in (1, 2, 3)
            )
        )
        self.assertEqual(list(ts.items(ts.backend.list_backtest_trades, "bt-1", limit=1)), [1, 2, 3])
        self.assertEqual([url.params.get("page") for _, url, _, _ in self.requests], [None, "2", "3"])

    def test_a_stream_continues_after_the_last_event(self):
        def events(*lines):
            text = "".join(
                f"event: {name}\nid: {id}\ndata: {json.dumps(data)}\n\n" for name, id, data in lines
            )
            return httpx.Response(200, text=text, headers={"Content-Type": "text/event-stream"})

        ts = self.platform(
            events(("job", "1", {"a": 1})),
            broken,
            events(("job", "2", {}), ("reconnect", "2", {})),
            httpx.Response(204),
        )
        self.assertEqual([(name, id) for name, id, _ in ts.events("version.*")], [("job", "1"), ("job", "2")])
        self.assertEqual(self.headers("last-event-id"), [None, "1", "1", "2"])
        self.assertEqual(self.requests[0][1].params["types"], "version.*")

    def test_a_stream_that_does_not_return_ends_with_the_error(self):
        ts = self.platform(*repeat(unreachable, 3 * MAX_FAILURES))
        self.assertRaises(UnavailableError, list, ts.events())
        ts = self.platform(failure(403, "AUTH004"))
        self.assertRaisesRegex(Exception, "AUTH004", list, ts.events())


if __name__ == "__main__":
    unittest.main()
