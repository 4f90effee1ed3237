"""Says where a program on a cluster writes a file without TensorFlow: each worker does.

What TensorFlow and Keras write the chief alone keeps (:mod:`workers`); ``open`` knows no workers.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import io
import os
import tempfile
from typing import TYPE_CHECKING, Any, Iterator

from tpudist import console, machine
from tpudist.legacy import quirks

if TYPE_CHECKING:
    from tpudist.annotations import Fn

#: Below these files are no results of the program.
_UNSHARED = ("/dev/", "/proc/")


def reported() -> Iterator[quirks.Patch]:
    """Yields what opens files, and says once, with the program's line, that every worker writes."""
    said: list[str] = []
    opened = _reporting(builtins.open, said)
    yield builtins, "open", opened
    yield io, "open", opened


def _reporting(native: Fn, said: list[str]) -> Fn:
    """A function that opens a file, and reports, once, that it is opened to be written."""

    @functools.wraps(native)
    def report(*args: Any, **kwargs: Any) -> Any:
        if not said:
            asked = dict(zip(("file", "mode"), args), **kwargs)
            name: Any = asked.get("file")
            with contextlib.suppress(OSError, ValueError):  # the working folder is gone
                if is_result(name, asked.get("mode", "r")):
                    place = machine.line_of_the_program()
                    said.extend([place] if place else ())
            for line in said:
                console.note(
                    "tpudist run: %s: every worker writes %s. Instead: "
                    "if strategy.extended.should_checkpoint: before it" % (line, os.fsdecode(name))
                )
        return native(*args, **kwargs)

    return report


def is_result(file: object, mode: object) -> bool:
    """Whether a file is opened to be written, where others may look for it."""
    if not isinstance(file, (str, bytes, os.PathLike)) or set("wax").isdisjoint(str(mode)):
        return False
    if os.path.isdir(file):  # in which Python's tempfile makes one without a name
        return False
    path, temporary = os.path.abspath(os.fsdecode(file)), tempfile.gettempdir()
    if os.path.commonpath([temporary, os.getcwd()]) != temporary and path.startswith(temporary):
        return False
    return not path.startswith(_UNSHARED)
