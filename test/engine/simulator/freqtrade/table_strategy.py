"""The strategy of every scenario: its signals and callbacks are the tables of `scenario`."""

from datetime import datetime

from freqtrade.exchange import timeframe_to_minutes
from freqtrade.strategy import IStrategy
from scenario import CURRENT

ANSWERS = CURRENT["answers"]
STEP = timeframe_to_minutes(CURRENT["settings"]["timeframe"])


def answer(callback, pair, time: datetime, default):
    """The table's value for the candle that is simulated, which is the row of its open time, or `row+minutes`."""
    table = ANSWERS[callback].get(pair) or ANSWERS[callback].get("*") or {}
    row, minutes = divmod(round(time.timestamp() - CURRENT["first"][pair]) // 60, STEP)
    key = f"{row}+{minutes}" if minutes else f"{row}"
    return table.get(key, table.get("*", default))


class TableStrategy(IStrategy):
    INTERFACE_VERSION = 3
    timeframe = CURRENT["settings"]["timeframe"]
    can_short = CURRENT["can_short"]
    process_only_new_candles = True
    startup_candle_count = 0
    stoploss = -0.1
    minimal_roi = {}
    use_custom_roi = "custom_roi" in ANSWERS

    @property
    def protections(self):
        return CURRENT["protections"]

    def populate_indicators(self, dataframe, metadata):
        return dataframe

    def populate_entry_trend(self, dataframe, metadata):
        for row, column, *tag in CURRENT["signals"].get(metadata["pair"], []):
            if column == "exit_tag":
                continue
            dataframe.loc[row, column] = 1
            if tag and column.startswith("enter"):
                dataframe.loc[row, "enter_tag"] = tag[0]
        return dataframe

    def populate_exit_trend(self, dataframe, metadata):
        for row, column, *tag in CURRENT["signals"].get(metadata["pair"], []):
            if column == "exit_tag":
                dataframe.loc[row, column] = tag[0]
        return dataframe


def leverage(self, pair, current_time, current_rate, proposed_leverage, **kwargs):
    return answer("leverage", pair, current_time, 1.0)


def custom_entry_price(self, pair, trade, current_time, proposed_rate, **kwargs):
    return answer("custom_entry_price", pair, current_time, proposed_rate)


def custom_exit_price(self, pair, trade, current_time, proposed_rate, **kwargs):
    return answer("custom_exit_price", pair, current_time, proposed_rate)


def custom_stake_amount(self, pair, current_time, current_rate, proposed_stake, **kwargs):
    return answer("custom_stake_amount", pair, current_time, proposed_stake)


def custom_roi(self, pair, trade, current_time, **kwargs):
    return answer("custom_roi", pair, current_time, None)


def custom_exit(self, pair, trade, current_time, **kwargs):
    return answer("custom_exit", pair, current_time, None)


def adjust_trade_position(self, trade, current_time, **kwargs):
    given = answer("adjust_trade_position", trade.pair, current_time, None)
    if isinstance(given, dict):
        return given["share"] * trade.stake_amount
    return tuple(given) if isinstance(given, list) else given


def adjust_entry_price(self, trade, order, pair, current_time, proposed_rate, current_order_rate, **kwargs):
    return answer("adjust_entry_price", pair, current_time, current_order_rate)


def adjust_exit_price(self, trade, order, pair, current_time, proposed_rate, current_order_rate, **kwargs):
    return answer("adjust_exit_price", pair, current_time, current_order_rate)


def check_entry_timeout(self, pair, trade, order, current_time, **kwargs):
    return answer("check_entry_timeout", pair, current_time, False)


def check_exit_timeout(self, pair, trade, order, current_time, **kwargs):
    return answer("check_exit_timeout", pair, current_time, False)


def confirm_trade_entry(self, pair, order_type, amount, rate, time_in_force, current_time, **kwargs):
    return answer("confirm_trade_entry", pair, current_time, True)


def confirm_trade_exit(self, pair, trade, order_type, amount, rate, time_in_force, exit_reason, current_time, **kwargs):
    return exit_reason not in answer("confirm_trade_exit_refused_reasons", pair, current_time, [])


def custom_stoploss(self, pair, trade, current_time, current_rate, current_profit, after_fill=False, **kwargs):
    name = "custom_stoploss_after_fill" if after_fill else "custom_stoploss"
    return answer(name, pair, current_time, None) if name in ANSWERS else None


def custom_stoploss_plain(self, pair, trade, current_time, current_rate, current_profit, **kwargs):
    return answer("custom_stoploss", pair, current_time, None)


# A callback that the strategy has not is not called.
for name in ANSWERS:
    if name == "confirm_trade_exit_refused_reasons":
        TableStrategy.confirm_trade_exit = confirm_trade_exit
    elif name == "custom_stoploss_after_fill":
        TableStrategy.custom_stoploss = custom_stoploss
    elif name == "custom_stoploss":
        if "custom_stoploss_after_fill" not in ANSWERS:
            TableStrategy.custom_stoploss = custom_stoploss_plain
    else:
        setattr(TableStrategy, name, globals()[name])
