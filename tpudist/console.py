"""Messages of commands beside their results: notes, progress and colours. No TensorFlow.

The command line says how loud a command is (``-q``, ``-v``), once; whoever has something to say
asks here. Progress is one line of a terminal that is drawn again and removed at the end.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from typing import Iterable, Iterator, TextIO, TypeVar

_Item = TypeVar("_Item")

QUIET, NORMAL, VERBOSE = -1, 0, 1

#: Seconds after which a command shows that it is still at work, and between two drawings.
PATIENCE, _TICK = 2.0, 0.2

_WIDTH = 30
_COLOURS = {"red": 31, "green": 32, "bold": 1}

_loudness = NORMAL


@contextlib.contextmanager
def loudness(level: int) -> Iterator[None]:
    """Context manager: inside, commands are QUIET, NORMAL or VERBOSE."""
    global _loudness
    before, _loudness = _loudness, level
    try:
        yield
    finally:
        _loudness = before


def is_verbose() -> bool:
    """Whether a command was asked to say more."""
    return _loudness >= VERBOSE


def note(line: str, file: TextIO | None = None) -> None:
    """Prints what is good to know and no result, on standard error; nothing if quiet."""
    if _loudness > QUIET:
        print(line, file=file or sys.stderr, flush=True)


def painted(text: str, colour: str, stream: TextIO) -> str:
    """A text in a colour, if a stream is a terminal and nobody set NO_COLOR.

    https://no-color.org
    """
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    if plain or not stream.isatty():
        return text
    return "\x1b[%dm%s\x1b[0m" % (_COLOURS[colour], text)


def bar(items: Iterable[_Item], count: int) -> Iterator[_Item]:
    """Yields items, and shows how many of `count` files there were so far."""
    with _Line() as line:
        for done, item in enumerate(items, 1):
            yield item
            full = "#" * (_WIDTH * done // count)
            line.draw("[%s] %d/%d files" % (full.ljust(_WIDTH, "."), done, count))


@contextlib.contextmanager
def working(what: str) -> Iterator[None]:
    """Context manager: shows what is done, and the seconds so far, until the block ends."""
    ended = threading.Event()
    with _Line() as line:

        def tick() -> None:
            while not ended.wait(_TICK):
                line.draw("%s  %d s" % (what, line.seconds()))

        thread = threading.Thread(target=tick, daemon=True)
        if line.is_shown:
            thread.start()
        try:
            yield
        finally:
            ended.set()
            if line.is_shown:
                thread.join()


class _Line:
    """Context manager: a line of the terminal on standard error, which is removed on leaving.

    Attributes:
      is_shown: whether there is a terminal, and the command is not quiet.
    """

    def __enter__(self) -> _Line:
        self._start, self._drawn = time.monotonic(), 0
        self.is_shown = _loudness > QUIET and sys.stderr.isatty()
        return self

    def __exit__(self, *exception: object) -> None:
        if self._drawn:
            self._write("\r%s\r" % (" " * self._drawn))

    def seconds(self) -> float:
        """The seconds since it began."""
        return time.monotonic() - self._start

    def draw(self, text: str) -> None:
        """Shows a text in place of the one before, once the command has taken PATIENCE."""
        if self.is_shown and self.seconds() >= PATIENCE:
            self._write("\r" + text.ljust(self._drawn))
            self._drawn = max(self._drawn, len(text))

    def _write(self, text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()
