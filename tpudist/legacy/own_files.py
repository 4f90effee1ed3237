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
    import tensorflow as tf

    said: list[str] = []
    opened = _reporting(builtins.open, said)
    yield builtins, "open", opened
    yield io, "open", opened
    # TensorFlow's own code opens files too, of which the chief's alone are kept.
    file, records = tf.io.gfile.GFile, tf.io.TFRecordWriter
    yield file, "__init__", _reporting(file.__init__, said, is_of_tensorflow=True)
    yield records, "__init__", _reporting(records.__init__, said, "w", is_of_tensorflow=True)


def _reporting(
    native: Fn, said: list[str], always: str = "", *, is_of_tensorflow: bool = False
) -> Fn:
    """A function that opens a file, and reports that it is opened to be written.

    Args:
      native: the function, or the constructor of a class of TensorFlow.
      said: what has been reported, once.
      always: the mode, if `native` has no parameter for it.
      is_of_tensorflow: whether the program itself has to call it.
    """

    @functools.wraps(native)
    def report(*args: Any, **kwargs: Any) -> Any:
        if not said:
            own = args[1:] if is_of_tensorflow else args  # without the object itself
            asked = dict(zip(("file", "mode"), own), **kwargs)
            name: Any = asked.get("file", asked.get("name", asked.get("path")))
            with contextlib.suppress(OSError, ValueError):  # the working folder is gone
                if _is_result(name, always or asked.get("mode", "r")):
                    place = machine.line_of_the_program(1 if is_of_tensorflow else None)
                    said.extend([place] if place else ())
            for line in said:
                console.note(
                    "tpudist run: %s: every worker writes %s. Instead: "
                    "if strategy.extended.should_checkpoint: before it" % (line, os.fsdecode(name))
                )
        return native(*args, **kwargs)

    return report


def _is_result(file: object, mode: object) -> bool:
    if not isinstance(file, (str, bytes, os.PathLike)) or set("wax").isdisjoint(str(mode)):
        return False
    path, temporary = os.path.abspath(os.fsdecode(file)), tempfile.gettempdir()
    if os.path.commonpath([temporary, os.getcwd()]) != temporary and path.startswith(temporary):
        return False
    return not path.startswith(_UNSHARED)
