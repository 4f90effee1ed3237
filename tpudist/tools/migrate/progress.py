"""A long run on a terminal shows a progress bar on standard error."""

from __future__ import annotations

import sys
import time
from typing import Iterable, Iterator, TypeVar

_Item = TypeVar("_Item")

_WIDTH = 30
_PATIENCE = 1.0  # seconds before a bar appears


def bar(items: Iterable[_Item], count: int) -> Iterator[_Item]:
    """Yields items, and shows how many of `count` there were, on one line that is redrawn."""
    start, end = time.monotonic(), ""
    for done, item in enumerate(items, 1):
        yield item
        if sys.stderr.isatty() and time.monotonic() - start >= _PATIENCE:
            full = "#" * (_WIDTH * done // count)
            sys.stderr.write("\r[%s] %d/%d files" % (full.ljust(_WIDTH, "."), done, count))
            sys.stderr.flush()
            end = "\n"
    sys.stderr.write(end)
