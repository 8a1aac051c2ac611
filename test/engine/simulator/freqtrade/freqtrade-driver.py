"""Runs scenarios by freqtrade, without a network, and prints what each gave.

Reads a line of JSON for each scenario, its own keys and those that scenarios share, and answers with a line of JSON: `trades`,
`counters`, `final_balance` and `locks`, or `error`. With `compare_released` also `as_released`: the program without any of the rules
that are changed here replies the same.
"""

import json
import logging
import os
import sys
import tempfile
from pathlib import Path
from types import ModuleType

import pandas as pd
from freqtrade.commands import Arguments  # noqa: F401  Loads the modules in the order that freqtrade needs.
from freqtrade.data.btanalysis import get_tick_size_over_time
from freqtrade.data.converter import ohlcv_fill_up_missing_data, trim_dataframes
from freqtrade.data.history import get_timerange
from freqtrade.enums import CandleType, ExitCheckTuple, ExitType, MarginMode, RunMode, TradingMode
from freqtrade.exchange import Binance, Exchange, timeframe_to_minutes
from freqtrade.leverage.liquidation_price import update_liquidation_prices
from freqtrade.optimize import backtesting as backtesting_module
from freqtrade.optimize.backtesting import Backtesting
from freqtrade.persistence import LocalTrade, Order
from freqtrade.strategy import IStrategy

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(FOLDER, "../../../../bench/support/freqtrade"))
from offline_markets import set_markets  # noqa: E402

MINUTE = 60_000
TIERS = [{"minNotional": 0, "maxNotional": 1e12, "maintenanceMarginRate": 0.005, "maxLeverage": 125, "maintAmt": 0.0}]


def frame_of(candles):
    step = timeframe_to_minutes(candles["timeframe"]) * MINUTE
    frame = pd.DataFrame(candles["rows"], columns=["open", "high", "low", "close"], dtype="float64")
    times = [candles["start_ms"] + row * step for row in range(len(frame))]
    frame.insert(0, "date", pd.to_datetime(times, unit="ms", utc=True))
    frame["volume"] = 1000.0
    stored = frame.drop(candles.get("missing", []))
    return ohlcv_fill_up_missing_data(stored, candles["timeframe"], "")


def funding_of(rows):
    dates = pd.to_datetime([time for time, _, _ in rows], unit="ms", utc=True)
    rates = pd.DataFrame({"date": dates, "open": pd.Series([rate for _, rate, _ in rows], dtype="float64")})
    marks = pd.DataFrame({"date": dates, "open": pd.Series([mark for _, _, mark in rows], dtype="float64")})
    return Exchange.combine_funding_and_mark(rates, marks)


def config_of(scenario, folder):
    settings = {**scenario["default_settings"], **scenario["settings"]}
    settings = {name: value for name, value in settings.items() if value is not None}
    futures = settings.get("trading_mode", "futures") == "futures"
    return {
        "max_open_trades": len(scenario["pairs"]),
        **settings,
        "dry_run": True,
        "runmode": RunMode.BACKTEST,
        "candle_type_def": CandleType.FUTURES if futures else CandleType.SPOT,
        "trading_mode": TradingMode.FUTURES if futures else TradingMode.SPOT,
        "margin_mode": MarginMode(settings.get("margin_mode", "isolated" if futures else "")),
        "exchange": {
            "name": "binance",
            "pair_whitelist": list(scenario["pairs"]),
            "enable_ws": False,
            "ccxt_config": {},
            "ccxt_async_config": {},
        },
        "pairlists": [{"method": "StaticPairList"}],
        # Not used by a backtest; market orders require them.
        "entry_pricing": {"price_side": "other", "use_order_book": True, "order_book_top": 1},
        "exit_pricing": {"price_side": "other", "use_order_book": True, "order_book_top": 1},
        "dataformat_ohlcv": "feather",
        "strategy": "TableStrategy",
        "strategy_path": FOLDER,
        "user_data_dir": Path(folder),
        "datadir": Path(folder),
        "internals": {},
        "original_config": {},
        "order_time_in_force": {"entry": "GTC", "exit": "GTC"},
    }


def run(scenario, folder):
    pairs = scenario["pairs"]
    sets = scenario["candle_sets"]
    frames = {pair: frame_of(sets[own["candles"]]) for pair, own in pairs.items()}
    first = {pair: frame["date"].iloc[0].timestamp() for pair, frame in frames.items()}
    current = {"answers": {}, "protections": [], "signals": {}, **scenario, "first": first}
    sys.modules["scenario"] = ModuleType("scenario")
    sys.modules["scenario"].CURRENT = current
    shared_tiers = scenario.get("leverage_tiers", TIERS)
    set_markets({pair: own.get("market", {}) for pair, own in pairs.items()})
    Binance.load_leverage_tiers = lambda self: {
        pair: [{**tier, "info": {"cum": tier["maintAmt"]}} for tier in own.get("leverage_tiers", shared_tiers)]
        for pair, own in pairs.items()
    }
    # Asks the exchange for its position mode, which a backtest does not use.
    Binance.additional_exchange_init = lambda self: None
    backtesting = Backtesting(config_of(scenario, folder))
    backtesting.progress = None
    if backtesting.trading_mode == TradingMode.FUTURES:
        backtesting.funding_fee_timeframe_secs = 3600
        for pair, own in pairs.items():
            backtesting.futures_data[pair] = funding_of(scenario["funding_sets"].get(own.get("funding"), []))
    last = {pair: frame["date"].iloc[-1] for pair, frame in frames.items()}
    for pair, own in pairs.items():
        if own.get("detail"):
            detail = frame_of(sets[own["detail"]])
            backtesting.detail_data[pair] = detail[detail["date"] <= last[pair]].reset_index(drop=True)
    for pair, frame in frames.items():
        backtesting.price_pair_prec[pair] = get_tick_size_over_time(frame)
        backtesting.available_pairs.append(pair)
    OwnLosses.backtesting = backtesting
    [strategy] = backtesting.strategylist
    backtesting._set_strategy(strategy)
    backtesting.required_startup = scenario.get("startup_candles", 0)
    traded = trim_dataframes(frames, backtesting.timerange, backtesting.required_startup)
    begin, end = get_timerange(traded)
    found = backtesting.backtest(processed=dict(frames), start_date=begin, end_date=end)
    return result_of(backtesting, found, get_timerange(frames)[0], scenario["trade_columns"])


class OwnMargin:
    """freqtrade with the margin of the simulator (docs/decisions/081); its formulas stay."""

    price = Binance.dry_run_liquidation_price
    process_exit = Backtesting._process_exit_order

    def nearest_price(self, *, pair, is_short, open_trades, **position):
        """The nearest of the prices of all tiers: the tier is that of the position's value, not of its stake."""
        values = {trade.pair: trade.amount * trade.open_rate for trade in open_trades}

        def price_of(own):
            def ratio_and_amount(other, stake):
                tiers = [(tier["maintenanceMarginRate"], tier["maintAmt"]) for tier in self._leverage_tiers[other]]
                return own if other == pair else max(tiers, key=lambda tier: values[other] * tier[0] - tier[1])

            self.get_maintenance_ratio_and_amt = ratio_and_amount
            return OwnMargin.price(self, pair=pair, is_short=is_short, open_trades=open_trades, **position)

        tiers = self._leverage_tiers[pair]
        prices = [price_of((tier["maintenanceMarginRate"], tier["maintAmt"])) for tier in tiers]
        return min(prices) if is_short else max(prices)

    def update(trade, **rest):
        """No price is renewed at the end of the run."""
        if trade.exit_reason != "force_exit":
            update_liquidation_prices(trade, **rest)

    def renew(self, order, trade, *rest):
        """Prices are renewed after an exit: with the amount that is left, and in cross margin with the balance after it."""
        OwnMargin.process_exit(self, order, trade, *rest)
        if not order.ft_is_open and (trade.is_open or self.margin_mode == MarginMode.CROSS):
            wallet = {"wallets": self.wallets, "stake_currency": self.config["stake_currency"]}
            OwnMargin.update(trade, exchange=self.exchange, dry_run=True, **wallet)


class OwnLosses:
    """freqtrade with the losses of the simulator (docs/decisions/094): by rule, for every scenario."""

    backtesting = None
    stoploss_reached = IStrategy.ft_stoploss_reached
    should_exit = IStrategy.should_exit
    close_rate = Backtesting._get_close_rate_for_stoploss
    adjust_trade = Backtesting._check_adjust_trade_for_candle
    try_fill = Backtesting._try_close_open_order
    close_order = Order.close_bt_order

    def is_isolated(trade):
        has_margin = trade.leverage > 1 or trade.is_short
        return OwnLosses.backtesting.margin_mode == MarginMode.ISOLATED and has_margin

    def is_bankrupt(trade, rate, time):
        """The candle opens beyond the price at which the stake is lost, and the position was open before."""
        if not OwnLosses.is_isolated(trade) or trade.date_last_filled_utc >= time:
            return False
        side = -1 if trade.is_short else 1
        bankruptcy = trade.open_rate - side * (trade.stake_amount / trade.amount)
        return side * rate <= side * bankruptcy

    def nearer(self, *, trade, low, high, **rest):
        """Of stop and liquidation the nearer one, in isolated margin."""
        found = OwnLosses.stoploss_reached(self, trade=trade, low=low, high=high, **rest)
        if found.exit_type not in (ExitType.STOP_LOSS, ExitType.TRAILING_STOP_LOSS):
            return found
        liquidation = trade.liquidation_price
        if not liquidation or not OwnLosses.is_isolated(trade):
            return found
        reached = liquidation <= high if trade.is_short else liquidation >= low
        nearer = liquidation < trade.stop_loss if trade.is_short else liquidation > trade.stop_loss
        return ExitCheckTuple(exit_type=ExitType.LIQUIDATION) if reached and nearer else found

    def exits(self, trade, rate, current_time, *, low, high, **rest):
        if not OwnLosses.is_bankrupt(trade, rate, current_time):
            return OwnLosses.should_exit(self, trade, rate, current_time, low=low, high=high, **rest)
        trade.adjust_min_max_rates(high, low)
        return [ExitCheckTuple(exit_type=ExitType.LIQUIDATION)]

    def rate(self, row, trade, *rest):
        if OwnLosses.is_bankrupt(trade, row[backtesting_module.OPEN_IDX], row[backtesting_module.DATE_IDX]):
            return row[backtesting_module.OPEN_IDX]
        return OwnLosses.close_rate(self, row, trade, *rest)

    def fill(self, order, trade, current_date, row):
        """An addition that waits is not filled in such a candle."""
        is_addition = order and order.ft_order_side == trade.entry_side and trade.has_open_position
        if is_addition and OwnLosses.is_bankrupt(trade, row[backtesting_module.OPEN_IDX], current_date):
            return False
        return OwnLosses.try_fill(self, order, trade, current_date, row)

    def adjust(self, trade, row, current_time):
        if OwnLosses.is_bankrupt(trade, row[backtesting_module.OPEN_IDX], current_time):
            return trade
        return OwnLosses.adjust_trade(self, trade, row, current_time)

    def close(self, close_date, trade):
        """An exit loses at most the collateral of what it closes, or the account in cross margin."""
        cross = OwnLosses.backtesting.margin_mode == MarginMode.CROSS
        if self.ft_order_side == trade.exit_side and (cross or OwnLosses.is_isolated(trade)):
            side = -1 if trade.is_short else 1
            part = self.amount / trade.amount
            entries = trade.select_filled_orders(trade.entry_side)
            average = trade.stake_amount * trade.leverage / trade.amount
            rate = entries[0].safe_price if len(entries) == 1 else average
            paid = part * trade._calc_open_trade_value(trade.amount, rate)
            open_funding, held_funding = OwnLosses.funding_of(trade)
            least = (
                OwnLosses.balance() + open_funding
                if cross
                else part * (trade.stake_amount + held_funding)
            )
            worst = (paid - side * least) / (self.amount * (1 - side * trade.fee_close))
            if side * worst > side * self.ft_price:
                self.ft_price = self.price = worst
                if self.average:
                    self.average = worst
        OwnLosses.close_order(self, close_date, trade)

    def funding_of(trade):
        """Funding that no exit has realized, and that of the amount held, with what partial exits have realized of it."""
        since_exit, of_held, amount = 0.0, 0.0, 0.0
        for order in trade.orders:
            if order.ft_is_open or not order.filled:
                continue
            since_exit += order.funding_fee or 0.0
            of_held += order.funding_fee or 0.0
            if order.ft_order_side == trade.exit_side:
                of_held *= 1 - order.amount / amount
                amount -= order.amount
                since_exit = 0.0
            else:
                amount += order.amount
        return since_exit + trade.funding_fee_running, of_held + trade.funding_fee_running

    def balance():
        realized = sum(trade.realized_profit for trade in LocalTrade.bt_trades_open)
        return OwnLosses.backtesting.config["dry_run_wallet"] + LocalTrade.bt_total_profit + realized


OWN_RULES = [
    (IStrategy, "ft_stoploss_reached", OwnLosses.nearer),
    (IStrategy, "should_exit", OwnLosses.exits),
    (Backtesting, "_get_close_rate_for_stoploss", OwnLosses.rate),
    (Backtesting, "_check_adjust_trade_for_candle", OwnLosses.adjust),
    (Backtesting, "_try_close_open_order", OwnLosses.fill),
    (Order, "close_bt_order", OwnLosses.close),
    (Binance, "dry_run_liquidation_price", OwnMargin.nearest_price),
    (Backtesting, "_process_exit_order", OwnMargin.renew),
    (backtesting_module, "update_liquidation_prices", OwnMargin.update),
]
OWN_RULES = [(place, name, own, getattr(place, name)) for place, name, own in OWN_RULES]


def use_rules(own):
    """Those of the simulator, or those of the program as it was released."""
    for place, name, changed, released in OWN_RULES:
        setattr(place, name, changed if own else released)


def result_of(backtesting, found, begin, columns):
    def minute(date):
        return round((date - begin).total_seconds() / 60)

    def order_of(order):
        return [
            1 if order.ft_order_side == trade.entry_side else 0,
            order.safe_price,
            order.safe_filled,
            minute(order.order_date_utc),
            minute(order.order_filled_utc),
            order.safe_filled * order.safe_price * backtesting.fee,
            order.funding_fee or 0,
            order.ft_order_tag or None,
        ]

    trades = []
    for trade in LocalTrade.bt_trades:
        row = {
            "pair": trade.pair,
            "side": "short" if trade.is_short else "long",
            "open": minute(trade.open_date_utc),
            "close": minute(trade.close_date_utc),
            "open_rate": trade.open_rate,
            "close_rate": trade.close_rate,
            "amount": trade.amount,
            "stake_amount": trade.stake_amount,
            "leverage": trade.leverage,
            "profit_abs": trade.close_profit_abs,
            "profit_ratio": trade.close_profit,
            "exit_reason": trade.exit_reason,
            "enter_tag": trade.enter_tag or None,
            "initial_stop": trade.initial_stop_loss,
            "stop": trade.stop_loss,
            "stop_moved": trade.is_stop_loss_trailing,
            "min_rate": trade.min_rate,
            "max_rate": trade.max_rate,
            "liquidation_price": trade.liquidation_price,
            "funding_fees": trade.funding_fees or 0,
            "price_tick": trade.price_precision,
            "orders": [order_of(order) for order in trade.orders if order.ft_order_side and order.safe_filled > 0],
        }
        trades.append([row[name] for name in columns])
    counters = {
        "rejected_signals": found["rejected_signals"],
        "timedout_entry_orders": found["timedout_entry_orders"],
        "timedout_exit_orders": found["timedout_exit_orders"],
        "canceled_trade_entries": found["canceled_trade_entries"],
        "canceled_entry_orders": found["canceled_entry_orders"],
        "replaced_entry_orders": found["replaced_entry_orders"],
        "canceled_exit_orders": backtesting.canceled_exit_orders,
        "replaced_exit_orders": backtesting.replaced_exit_orders,
    }
    return {
        "trades": trades,
        "counters": {name: count for name, count in counters.items() if count},
        "final_balance": found["final_balance"],
        "locks": [
            [lock.pair, lock.side, minute(utc(lock.lock_time)), minute(utc(lock.lock_end_time)), lock.reason or ""]
            for lock in found["locks"]
        ],
    }


def utc(date):
    return pd.Timestamp(date).tz_localize("UTC") if date.tzinfo is None else pd.Timestamp(date)


def is_as_released(scenario, folder, reply):
    use_rules(own=False)
    try:
        return run(scenario, folder) == reply
    except Exception:
        return False


logging.disable(logging.ERROR)
replies = sys.stdout
# freqtrade may print.
sys.stdout = sys.stderr
with tempfile.TemporaryDirectory() as folder:
    for line in sys.stdin:
        scenario = json.loads(line)
        try:
            use_rules(own=True)
            reply = run(scenario, folder)
            if scenario.get("compare_released"):
                reply["as_released"] = is_as_released(scenario, folder, reply)
        except Exception as error:
            reply = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply), file=replies, flush=True)
