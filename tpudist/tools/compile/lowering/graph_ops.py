"""Finds the user's lines of the ops of a graph and of the functions it calls.

Also reads the collectives of a traced step off them.
"""

from __future__ import annotations

import functools
import os
import re
import sysconfig
import tempfile
import traceback
from typing import Any, Iterable

import tensorflow as tf

from tpudist import machine
from tpudist.tfcompat import graphs
from tpudist.tools.compile import program
from tpudist.virtual.trace import all_ops
from tpudist.virtual.trace import collectives as kinds
from tpudist.virtual.variables import stored_once

#: Files of AutoGraph, whose lines TensorFlow 1.14 and tracebacks show in place of the user's.
_GENERATED = re.compile(
    re.escape(os.path.join(tempfile.gettempdir(), ""))
    + r"(tmp|__autograph_generated_file)\w{8}\.py$"
)

#: A line of the user's in AutoGraph's messages: ``File "f", line 1, in step  *``; until 2.5
#: ``f:1 step  *``.
_AUTOGRAPH_LINE = re.compile(r'^ *(?:File ")?(.+?)(?:", line |:)(\d+),? .*  \*$', re.M)

_LIBRARIES = tuple(
    os.path.join(path, "")
    for path in (
        sysconfig.get_path("stdlib"),
        sysconfig.get_path("purelib"),
        sysconfig.get_path("platlib"),
        os.path.dirname(os.path.dirname(tf.__file__)),
        machine.PACKAGE,
    )
)


def location(graph: tf.Graph, path: str, op: tf.Operation) -> str:
    """Returns "file:line" of the user's code that created an op, "" if no such code did.

    It is the innermost frame outside of Python, its installed packages and tpudist. The op
    is one of the step's `graph`, with its path, as :func:`all_ops.ops` yields them.
    """
    return _users_line(reversed(graphs.frames(op)))


def creation_line(handle: tf.Tensor) -> str:
    """Returns "file:line" of the user's code that created a variable, "" if unknown.

    Its handle is the resource tensor, eager or of a graph.
    """
    frames = stored_once.creation_frames(handle)
    if frames or graphs.is_eager(handle):
        return _users_line(frames)
    return _users_line(reversed(graphs.frames(handle.op)))


def error_line(error: BaseException) -> str:
    """Returns "file:line" of the user's code that raised an exception, "" if none did.

    If AutoGraph converted the code, its lines are in the message, each marked with a star.
    """
    frames: list[Any] = _AUTOGRAPH_LINE.findall(str(error)) or [
        (frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)
    ]
    return _users_line(reversed(frames))


def _users_line(frames: Iterable[tuple[str, Any]]) -> str:
    """Returns "file:line" of the first of the frames that is the user's, "" if none is."""
    return next(
        ("%s:%s" % (os.path.abspath(file), line) for file, line in frames if _is_users(file)), ""
    )


@functools.lru_cache(maxsize=None)
def _is_users(file: str) -> bool:
    path = os.path.abspath(file)
    return not (
        file.startswith("<")
        or path.startswith(_LIBRARIES)
        or machine.is_installed(path)
        or _GENERATED.match(path)
    )


def collectives(graph: tf.Graph) -> tuple[program.Collective, ...]:
    """Returns a `program.Collective` for each collective of a graph.

    A collective in a loop counts once, one in a function once for each call.
    """
    return tuple(
        program.Collective(
            kinds.OPS[op.type].replace("_", "-"),
            op.inputs[0].dtype.name,
            shape(op.inputs[0]),
            location(graph, path, op),
        )
        for path, op in all_ops.ops(graph)
        if op.type in kinds.OPS
    )


def shape(tensor: tf.Tensor) -> tuple[int, ...]:
    """Returns a tensor's shape, with -1 for unknown dimensions; () for an unknown rank."""
    if tensor.shape.rank is None:
        return ()
    return tuple(-1 if size is None else size for size in tensor.shape.as_list())
