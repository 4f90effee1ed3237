"""A long run shows a progress bar on standard error."""

from __future__ import annotations

import sys
import time
from typing import Callable, Iterable, Iterator, TextIO, TypeVar

_Item = TypeVar("_Item")

_WIDTH = 30
_PATIENCE = 1.0  # seconds before a bar appears


def bar(
    items: Iterable[_Item],
    count: int,
    stream: TextIO | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[_Item]:
    """Yields items, and shows how many there were.

    On a terminal, where one line is redrawn.

    Args:
      items: an iterable.
      count: how many there will be.
      stream: where to; ``sys.stderr`` by default.
      clock: seconds, for tests.
    """
    stream = stream or sys.stderr
    start, end = clock(), ""
    for done, item in enumerate(items, 1):
        yield item
        if stream.isatty() and clock() - start >= _PATIENCE:
            full = _WIDTH * done // count
            bar_ = "#" * full + "." * (_WIDTH - full)
            stream.write("\r[%s] %d/%d files" % (bar_, done, count))
            stream.flush()
            end = "\n"
    stream.write(end)
