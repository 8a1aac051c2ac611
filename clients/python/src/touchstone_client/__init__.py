"""Client of the Touchstone platform.

from touchstone_client import Touchstone

ts = Touchstone("http://127.0.0.1:8000")
run = ts.backtest("ema_crossover", fast=10).wait()
run.metrics, run.equity, run.trades
"""

from .client import Touchstone
from .connection import Event
from .errors import (
    AccessError,
    AuthenticationError,
    ConflictError,
    DataError,
    ExpiredError,
    JobError,
    NotFoundError,
    RateLimitError,
    TouchstoneError,
    UnavailableError,
    ValidationError,
    WaitTimeout,
)
from .jobs import Backtest, Best, Hyperopt
from .registry import Challenge, Model, Version

__all__ = [
    "AccessError",
    "AuthenticationError",
    "Backtest",
    "Best",
    "Challenge",
    "ConflictError",
    "DataError",
    "Event",
    "ExpiredError",
    "Hyperopt",
    "JobError",
    "Model",
    "NotFoundError",
    "RateLimitError",
    "Touchstone",
    "TouchstoneError",
    "UnavailableError",
    "ValidationError",
    "Version",
    "WaitTimeout",
]
