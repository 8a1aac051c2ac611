"""Gives freqtrade the markets that it otherwise reads from the exchange, with what a backtest reads of them."""

from freqtrade.exchange import Exchange


def set_markets(markets):
    """`markets`: for each pair `amount_step`, `price_tick`, `amount_min`, `amount_max`, `cost_min`, `cost_max` and `contract_size`.

    Absent: no step, no limit, size 1.
    """
    known = {symbol: market_of(symbol, market) for symbol, market in markets.items()}

    async def load(self, reload=False):
        self._api_async.set_markets(known)

    Exchange._api_reload_markets = load


def market_of(symbol, market):
    base, rest = symbol.split("/")
    quote, _, settle = rest.partition(":")
    swap = settle != ""
    return {
        "id": base + quote,
        "symbol": symbol,
        "base": base,
        "quote": quote,
        "settle": settle or None,
        "baseId": base,
        "quoteId": quote,
        "settleId": settle or None,
        "type": "swap" if swap else "spot",
        "spot": not swap,
        "margin": False,
        "swap": swap,
        "future": False,
        "option": False,
        "contract": swap,
        "linear": True if swap else None,
        "inverse": False if swap else None,
        "active": True,
        "taker": 0.001,
        "maker": 0.001,
        "contractSize": market.get("contract_size", 1) if swap else None,
        "precision": {"amount": market.get("amount_step"), "price": market.get("price_tick")},
        "limits": {
            "amount": {"min": market.get("amount_min"), "max": market.get("amount_max")},
            "price": {"min": None, "max": None},
            "cost": {"min": market.get("cost_min"), "max": market.get("cost_max")},
            "leverage": {"min": None, "max": None},
        },
        "info": {},
    }
