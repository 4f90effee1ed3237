"""Asks the TPU API until it answers, and until the TPU is healthy; both end in time."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from tpudist.cloud import deadlines, failures, nodes, states
from tpudist.errors import TPUAccessError

if TYPE_CHECKING:
    from typing import Any, Callable, TypeVar

    Result = TypeVar("Result")

    #: Asks once: the reply, decoded.
    Fetch = Callable[[], Any]

#: Seconds between two looks at a TPU that is not healthy yet; less where there is little time.
_INTERVAL = 5.0


def look(fetch: Fetch, asked: failures.Asked, limit: float | None = None) -> nodes.Node:
    """What the TPU API says of a TPU; what may pass is asked again.

    Args:
      fetch: asks once.
      asked: which TPU that is.
      limit: seconds; what TPUDIST_TPU_TIMEOUT allows if None.

    Raises:
      TPUAccessError, TPUNameError: it does not say anything in time.
    """
    return answered(lambda: nodes.parse(fetch(), *asked), asked, limit)


def answered(
    ask: Callable[[], Result], asked: failures.Asked, limit: float | None = None
) -> Result:
    """What one of Google's services answers; it is asked again where that may help.

    Args, raises: as for :func:`look`; `ask` asks once, and returns what was answered.
    """
    end = time.monotonic() + (deadlines.seconds() if limit is None else limit)
    pause, before = 0.25, None
    while True:
        try:
            return deadlines.call(ask, max(0.1, end - time.monotonic()))
        except deadlines.TooLate as error:
            raise (before or failures.explain(error, asked)).error from error
        except Exception as error:  # of any of the clients
            before = failures.explain(error, asked)
            if not before.passes or time.monotonic() + pause > end:
                raise before.error from error
        time.sleep(pause)
        pause *= 2


def healthy(fetch: Fetch, asked: failures.Asked, waits: bool = True) -> nodes.Node:
    """The TPU, once it can be used; a line on standard error tells what is waited for.

    Args:
      fetch, asked: as for :func:`look`.
      waits: False raises at once where waiting might help.

    Raises:
      TPUStateError: it cannot be used, and does not become usable in time.
      TPUAccessError, TPUNameError: the API cannot be asked.
    """
    start, allowed = time.monotonic(), deadlines.seconds()
    interval, said, before = min(_INTERVAL, allowed / 10), "", None
    while True:
        try:
            node = look(fetch, asked, max(0.1, start + allowed - time.monotonic()))
        except TPUAccessError:
            if before is None or time.monotonic() - start < allowed:
                raise
            node = before  # the time ended in a question: what was seen before it is told
        before = node
        trouble, spent = states.trouble(node), time.monotonic() - start
        if trouble is None:
            if said:
                say("%s is ready after %.0f s" % (node.place, spent))
            return node
        if not waits or not trouble.passes or spent + interval > allowed:
            error = states.error(node, spent if said else 0)
            assert error is not None
            raise error
        line = " ".join(filter(None, (node.state, node.health)))
        if line != said or interval == _INTERVAL:
            say("%s is %s; waiting (%.0f s of %.3g s)" % (node.place, line, spent, allowed))
        said = line
        time.sleep(interval)


def say(line: str) -> None:
    """Prints a line on what is waited for."""
    print("tpudist: " + line, file=sys.stderr)
    sys.stderr.flush()
