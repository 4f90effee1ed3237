"""Limits the time that Google's services may take to answer: TPUDIST_TPU_TIMEOUT."""

from __future__ import annotations

import math
import os
import threading
from typing import TYPE_CHECKING, Callable, TypeVar

from tpudist.errors import ArgumentError

if TYPE_CHECKING:
    Result = TypeVar("Result")

#: Environment variable: seconds until a question, or a wait, is given up.
TIMEOUT = "TPUDIST_TPU_TIMEOUT"

_DEFAULT = 30.0


class TooLate(Exception):
    """No answer in time."""


def seconds() -> float:
    """The seconds that TPUDIST_TPU_TIMEOUT allows, 30 where it is not set.

    Raises:
      ArgumentError: it is not a positive number.
    """
    text = os.environ.get(TIMEOUT) or str(_DEFAULT)
    try:
        allowed = float(text)
    except ValueError:
        allowed = 0.0
    if not allowed > 0 or not math.isfinite(allowed):
        raise ArgumentError(
            "%s=%s" % (TIMEOUT, text), "it is not a positive number of seconds", TIMEOUT + "=30"
        )
    return allowed


def call(function: Callable[[], Result], limit: float) -> Result:
    """Calls `function`; raises `TooLate` if it takes more than `limit` seconds.

    The clients have no deadline of their own (a name that does not resolve, a server
    that accepts and says nothing), so the function runs in a thread that is left behind.
    """
    outcome: list[Result] = []
    failure: list[BaseException] = []

    def run() -> None:
        try:
            outcome.append(function())
        except BaseException as error:  # raised again where it belongs  # noqa: BLE001
            failure.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(limit)
    if failure:
        raise failure[0]
    if not outcome:
        raise TooLate("no answer within %.3g s" % limit)
    return outcome[0]
