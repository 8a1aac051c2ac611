"""The strategies of this folder for freqtrade: the same rules, indicators and numbers."""

import talib.abstract as ta
from freqtrade.strategy import IStrategy, merge_informative_pair


class Common(IStrategy):
    INTERFACE_VERSION = 3
    timeframe = "5m"
    can_short = False
    process_only_new_candles = True
    startup_candle_count = 250
    minimal_roi = {}
    stoploss = -0.08

    def populate_indicators(self, dataframe, metadata):
        dataframe["fast"] = ta.EMA(dataframe, timeperiod=20)
        dataframe["slow"] = ta.EMA(dataframe, timeperiod=50)
        return dataframe

    def populate_entry_trend(self, dataframe, metadata):
        crossed = (dataframe["fast"] > dataframe["slow"]) & (
            dataframe["fast"].shift(1) <= dataframe["slow"].shift(1)
        )
        dataframe.loc[crossed, "enter_long"] = 1
        return dataframe

    def populate_exit_trend(self, dataframe, metadata):
        crossed = (dataframe["fast"] < dataframe["slow"]) & (
            dataframe["fast"].shift(1) >= dataframe["slow"].shift(1)
        )
        dataframe.loc[crossed, "exit_long"] = 1
        return dataframe


class BenchCross(Common):
    pass


class BenchTrend(Common):
    startup_candle_count = 3000
    minimal_roi = {"0": 0.03, "120": 0.02, "480": 0.01}
    stoploss = -0.04
    trailing_stop = True
    trailing_stop_positive = 0.005
    trailing_stop_positive_offset = 0.01
    trailing_only_offset_is_reached = True

    @property
    def protections(self):
        return [
            {"method": "CooldownPeriod", "stop_duration_candles": 3},
            {
                "method": "StoplossGuard",
                "lookback_period_candles": 288,
                "trade_limit": 3,
                "stop_duration_candles": 72,
            },
        ]

    def informative_pairs(self):
        return [(pair, "1h") for pair in self.dp.current_whitelist()]

    def populate_indicators(self, dataframe, metadata):
        dataframe["rsi"] = ta.RSI(dataframe, timeperiod=14)
        hourly = self.dp.get_pair_dataframe(pair=metadata["pair"], timeframe="1h")
        hourly["fast"] = ta.EMA(hourly, timeperiod=20)
        hourly["slow"] = ta.EMA(hourly, timeperiod=50)
        return merge_informative_pair(dataframe, hourly, self.timeframe, "1h", ffill=True)

    def populate_entry_trend(self, dataframe, metadata):
        dataframe.loc[
            (dataframe["rsi"] > 35)
            & (dataframe["rsi"].shift(1) <= 35)
            & (dataframe["fast_1h"] > dataframe["slow_1h"]),
            "enter_long",
        ] = 1
        return dataframe

    def populate_exit_trend(self, dataframe, metadata):
        dataframe.loc[dataframe["rsi"] > 75, "exit_long"] = 1
        return dataframe


class BenchCallbacks(Common):
    stoploss = -0.1
    use_custom_stoploss = True
    position_adjustment_enable = True
    max_entry_position_adjustment = 2

    def custom_stoploss(self, pair, trade, current_time, current_rate, current_profit, **kwargs):
        if current_profit > 0.04:
            return -0.01
        if current_profit > 0.02:
            return -0.02
        return None

    def custom_exit(self, pair, trade, current_time, current_rate, current_profit, **kwargs):
        if (current_time - trade.open_date_utc).total_seconds() >= 2 * 86_400:
            return "too_old"
        return None

    def adjust_trade_position(self, trade, current_time, current_rate, current_profit, *args, **kwargs):
        if current_profit < -0.015 * trade.nr_of_successful_entries:
            return 500
        return None
