"""Says where a program on a cluster writes a file without TensorFlow: each worker does.

What TensorFlow and Keras write the chief alone keeps (:mod:`workers`); ``open`` knows no workers.
"""

from __future__ import annotations

import builtins
import functools
import io
import os
import sys
import sysconfig
import tempfile
import types
from typing import Any, Iterator

from tpudist import console
from tpudist.legacy import quirks

#: Folders whose code is not the program's.
_OTHERS = tuple(
    os.path.join(folder, "")
    for folder in {
        *sysconfig.get_paths().values(),
        os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
    }
)

#: Below these files are no results of the program.
_UNSHARED = ("/dev/", "/proc/")


def reported() -> Iterator[quirks.Patch]:
    """Yields an ``open`` that says once, with the program's line, that every worker writes."""
    native = builtins.open
    lines: list[str] = []

    @functools.wraps(native)
    def report(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        if not lines and _is_result(file, mode):
            lines.extend(_line_of_the_program())
            for line in lines:
                console.note(
                    "tpudist run: %s: every worker writes %s. Instead: "
                    "if strategy.extended.should_checkpoint: before it" % (line, os.fsdecode(file))
                )
        return native(file, mode, *args, **kwargs)

    yield builtins, "open", report
    yield io, "open", report


def _is_result(file: object, mode: object) -> bool:
    if not isinstance(file, (str, bytes, os.PathLike)) or set("wax").isdisjoint(str(mode)):
        return False
    path, temporary = os.path.abspath(os.fsdecode(file)), tempfile.gettempdir()
    if os.path.commonpath([temporary, os.getcwd()]) != temporary and path.startswith(temporary):
        return False
    return not path.startswith(_UNSHARED)


def _line_of_the_program() -> list[str]:
    """["FILE:LINE"] of the call; [] where a package calls, and no line of the program."""
    frame: types.FrameType | None = sys._getframe(2)
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith((*_OTHERS, "<frozen")):
            return ["%s:%d" % (os.path.relpath(file), frame.f_lineno)]
        frame = frame.f_back
    return []
