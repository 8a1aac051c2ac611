"""Charts, against a transport that answers as the test says."""

import re
import sys
import tempfile
import unittest
from html.parser import HTMLParser
from pathlib import Path
from unittest import mock

import httpx

from touchstone_client import Touchstone
from touchstone_client.chart import Chart, ChartView

HOUR = 3600
#: Tries to end a text, an attribute, an element, and to turn the direction of the text.
HOSTILE = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>&\u202e"
TAGS = {"div", "b", "span", "p", "svg", "path", "rect", "text", "title"}
ATTRIBUTES = {
    *(
        "style",
        "xmlns",
        "viewbox",
        "width",
        "height",
        "role",
        "aria-label",
        "font-size",
        "overflow",
        "x",
        "y",
        "d",
    ),
    *(
        "fill",
        "fill-opacity",
        "stroke",
        "stroke-width",
        "stroke-opacity",
        "stroke-linecap",
        "stroke-dasharray",
    ),
}


def candles(count, **more):
    prices = [float(100 + at) for at in range(count)]
    columns = {
        "open": prices,
        "high": [each + 2 for each in prices],
        "low": [each - 2 for each in prices],
        "close": [each + 1 for each in prices],
    }
    return {**columns, **more}


def trades(**more):
    one = {
        "id": 7,
        "side": "long",
        "opened_at": HOUR,
        "closed_at": 3 * HOUR,
        "entry_price": 101.5,
        "exit_price": 103.25,
        "enter_tag": "dip",
        "exit_reason": "roi",
        "profit": 1.75,
    }
    return {name: [value] for name, value in {**one, **more}.items()}


def view(count=5, columns=None, plot=None, **more):
    times = [at * HOUR for at in range(count)]
    return ChartView("A/B", "1h", times, columns or candles(count), plot, more.pop("rows", count), **more)


def html(*args, **more):
    return Chart(view(*args, **more))._repr_html_()


class Markup(HTMLParser):
    """Elements, attributes and texts of a page, whose elements must be closed in order."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.texts, self.open = set(), [], [], []
        self.feed(page)
        self.close()
        assert self.open == [], self.open

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.tags.add(tag)
        self.attributes += attrs

    def handle_startendtag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


class Charts(unittest.TestCase):
    def test_candles_entries_and_exits_are_drawn(self):
        page = html(trades=trades(), trade_count=1)
        self.assertEqual(page.count("<rect"), 5)
        self.assertIn("<title>1970-01-01 02:00 102 104 100 103</title>", page)
        self.assertIn("<title>Trade 7: long entry at 101.5, dip</title>", page)
        self.assertIn("<title>Trade 7: long exit at 103.25, roi</title>", page)
        self.assertNotIn("are drawn", page)

    def test_a_mark_is_at_its_price_and_its_candle(self):
        page = html(trades=trades(entry_price=104, opened_at=2 * HOUR + 60), trade_count=1)
        # 104 is the high of the third candle: the wick begins where the entry's triangle has its tip.
        x, y = re.search(r'd="M([\d.]+) ([\d.]+)l-5 9h10Z"', page).groups()
        self.assertIn(f"M{x} {y}V", page)
        short = html(trades=trades(side="short"), trade_count=1)
        self.assertRegex(short, r'd="M[\d.]+ [\d.]+l-5 -9h10Z"')

    def test_fills_outside_of_the_candles_are_left_out(self):
        page = html(trades=trades(opened_at=-HOUR, closed_at=5 * HOUR), trade_count=1)
        self.assertNotIn("Trade 7", page)
        self.assertIn("Trade 7: long exit", html(trades=trades(opened_at=-HOUR), trade_count=1))

    def test_an_adjusted_trade_has_a_mark_for_each_order(self):
        orders = [
            {"side": side, "filled_at": f"1970-01-01T0{at}:00:00.000Z", "price": 100 + at, "tag": tag}
            for at, (side, tag) in enumerate([("entry", "dip"), ("entry", None), ("exit", "roi")])
        ]
        page = html(trades=trades(orders=orders), trade_count=1)
        self.assertEqual(len(re.findall("Trade 7: long entry", page)), 2)
        self.assertIn("Trade 7: long exit at 102, roi", page)

    def test_columns_of_the_plot_are_drawn_with_their_colors_levels_and_types(self):
        plot = {
            "main": {"fast": {"color": "orange", "fillTo": "slow"}, "slow": {}},
            "panels": {
                "RSI": {"rsi": {"color": "rgba(1, 2, 3, .5)", "type": "scatter"}, "levels": [30, 70]},
                "Volume": {"volume": {"type": "bar", "color": "#abc"}},
            },
        }
        values = {"fast": [100, None, 102, 103, 104], "slow": [99] * 5, "rsi": [50] * 5, "volume": [1] * 5}
        page = html(columns=candles(5, **values), plot=plot)
        # The gap parts the line, and the area, into a point and a line.
        self.assertRegex(page, r'd="M[\d.]+ [\d.]+h0M[\d.]+ [\d.]+L[^"hM]*" stroke="orange"')
        self.assertRegex(page, r'd="M[^"Z]*ZM[^"Z]*Z" fill="orange"')
        self.assertRegex(page, r'stroke="rgba\(1, 2, 3, .5\)" stroke-width="4"')
        self.assertRegex(page, r'd="(M[\d.]+ [\d.]+V[\d.]+){5}" stroke="#abc"')
        self.assertEqual(page.count('stroke-dasharray="4 4"'), 2)
        texts = Markup(page).texts
        for name in ("RSI", "Volume", " fast", " slow", " rsi", " volume"):
            self.assertIn(name, texts)

    def test_every_name_is_escaped(self):
        plot = {
            "main": {HOSTILE: {"color": HOSTILE, "type": HOSTILE, "fillTo": HOSTILE}, "gone" + HOSTILE: {}},
            "panels": {HOSTILE: {HOSTILE: {}, "levels": [1, HOSTILE]}},
        }
        hostile = view(
            columns=candles(5, **{HOSTILE: [1] * 5}),
            plot=plot,
            trades=trades(enter_tag=HOSTILE, exit_reason=HOSTILE, side=HOSTILE),
            trade_count=1,
        )
        hostile.pair = hostile.timeframe = HOSTILE
        chart = Chart(hostile)
        with tempfile.TemporaryDirectory() as folder:
            saved = chart.save(Path(folder, "chart.html")).read_text(encoding="utf-8")
        self.assertTrue(saved.endswith(chart._repr_html_()))
        markup = Markup(chart._repr_html_())
        self.assertLessEqual(markup.tags, TAGS)
        self.assertLessEqual({name for name, _ in markup.attributes}, ATTRIBUTES)
        self.assertNotIn("\u202e", saved)
        self.assertNotIn("<script", saved)

    def test_a_chart_needs_no_network(self):
        plot = {"main": {"fast": {"color": "url(//evil.example/x)"}, "slow": {"color": "red;x:url(//e)"}}}
        page = html(columns=candles(5, fast=[1] * 5, slow=[1] * 5), plot=plot)
        markup = Markup(page)
        self.assertLessEqual(markup.tags, TAGS)
        self.assertEqual(re.findall('https?:[^"]*|url|//|@import', page), ["http://www.w3.org/2000/svg"])

    def test_colors_are_those_that_the_service_accepts(self):
        for color, accepted in (
            ("orange", True),
            ("#a1b2c3d4", True),
            ("rgb(1,2,3)", True),
            ("orange\n", False),
            ("#12345", False),
            ("rgba(\u0661,2,3,1)", False),
            ("\u212aed", False),
            ("x" * 31, False),
            (7, False),
        ):
            page = html(columns=candles(5, fast=[1] * 5), plot={"main": {"fast": {"color": color}}})
            self.assertEqual(f'stroke="{color}"' in page, accepted, color)

    def test_what_is_left_out_is_said(self):
        many = {f"c{at}": {} for at in range(60)}
        columns = candles(5, **{name: [1] * 5 for name in many})
        page = html(
            columns=columns,
            plot={"main": {"gone": {}, **many}},
            rows=20_000,
            trades=trades(),
            trade_count=3_000,
            is_changed=True,
        )
        for note in (
            "5 of 20,000 candles are drawn",
            "40 of 61 columns of the plot are drawn",
            "lacks columns that the plot names: gone.",
            "1 of 3,000 trades are drawn",
            "Candles changed since the backtest",
        ):
            self.assertIn(note, page)
        self.assertNotIn(" c39<", page)

    def test_long_names_and_huge_numbers_are_drawn_shortly(self):
        name = "n" * 1_000_000
        huge = [1.7e308, -1.7e308, float("nan"), float("inf"), 10**400]
        plot = {"main": {name: {}}, "panels": {name: {"p": {"type": "bar"}, "levels": [1e308, 10**400]}}}
        far = [1e99, -1e99, 0, 1, 1e-99]
        for values in (huge, [0] * 5, [5e-324] * 5, [9e307, -9e307, 0, 0, 0], [None] * 5, ["dip"] * 5, far):
            page = html(columns=candles(5, **{name: values, "p": values}), plot=plot)
            self.assertLess(len(page), 10_000)
            self.assertNotRegex(page, r"\d{9}|nan|inf")
        prices = zip(candles(5), (huge, [0] * 5, huge, [None] * 5), strict=True)
        self.assertLess(len(html(columns=dict(prices))), 5_000)

    def test_a_plot_of_a_later_version_is_drawn_as_far_as_it_is_known(self):
        plot = {"main": {"fast": {"type": "steps", "width": 3}, "x": 3}, "panels": {"A": 1, "B": {}}, "z": []}
        self.assertIn(" fast<", html(columns=candles(5, fast=[1] * 5), plot=plot))
        self.assertIn("no candles", html(count=0))
        self.assertEqual(html(count=1).count("<rect"), 1)

    def test_a_run_is_drawn_without_pandas_from_its_last_candles(self):
        job = {"job_id": "bt-1", "status": "completed"}
        plot = {"main": {"fast": {}, "gone": {}}}
        page = {"pair": "A/B", "timeframe": "1h", "rows": 1000, "changed_candles": [], "plot": plot}
        head = {
            **page,
            "times": [0, HOUR],
            "columns": candles(2, fast=[1, 2], other=[0, 0]),
            "next_cursor": "c",
        }
        first = {**page, "times": [998 * HOUR], "columns": candles(1, fast=[1]), "next_cursor": "d"}
        second = {
            **page,
            "times": [999 * HOUR, 1000 * HOUR],
            "columns": candles(2, fast=[2, 3]),
            "next_cursor": None,
        }
        held = trades(opened_at=998 * HOUR, closed_at=999 * HOUR)
        requests, answers = (
            [],
            [
                httpx.Response(200, json=job),
                httpx.Response(202, json={"status": "running"}),
                *(httpx.Response(200, json=each) for each in (head, first, second)),
                httpx.Response(200, json={"columns": held, "total": 1}),
            ],
        )

        def send(request):
            requests.append(request.url.params)
            return answers.pop(0)

        ts = Touchstone("http://platform.example", transport=httpx.MockTransport(send))
        ts.connection.pause = lambda seconds: None
        run = ts.get_backtest("bt-1")
        with mock.patch.dict(sys.modules, {"pandas": None}):
            chart = run.chart(candles=2)
        self.assertEqual(repr(chart), "<Chart A/B 1h, 2 candles>")
        drawn = chart._repr_html_()
        self.assertIn("2 of 1,000 candles", drawn)
        self.assertIn("Trade 7: long exit", drawn)
        self.assertEqual(requests[3]["from"], "1970-02-11T14:00:00+00:00")
        self.assertEqual(requests[3].get_list("names"), ["open", "high", "low", "close", "fast"])
        self.assertEqual((requests[4]["cursor"], requests[4]["pair"]), ("d", "A/B"))
        self.assertEqual((requests[5]["time"], requests[5]["pair"]), ("held", "A/B"))
        for candles_ in (0, 2001):
            self.assertRaisesRegex(ValueError, "pass 1 to 2000", run.chart, candles=candles_)


if __name__ == "__main__":
    unittest.main()
