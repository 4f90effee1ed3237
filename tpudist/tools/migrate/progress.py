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

    On a terminal one line is redrawn; elsewhere a line appears at each tenth.

    Args:
      items: an iterable.
      count: how many there will be.
      stream: where to; ``sys.stderr`` by default.
      clock: seconds, for tests.
    """
    stream = stream or sys.stderr
    terminal, start, shown = stream.isatty(), clock(), False
    for done, item in enumerate(items, 1):
        yield item
        if clock() - start < _PATIENCE:
            continue
        if terminal or done * 10 // count != (done - 1) * 10 // count:
            full = _WIDTH * done // count
            line = "[%s%s] %d/%d files" % ("#" * full, "." * (_WIDTH - full), done, count)
            stream.write("\r" + line if terminal else line + "\n")
            stream.flush()
            shown = True
    if shown and terminal:
        stream.write("\n")
