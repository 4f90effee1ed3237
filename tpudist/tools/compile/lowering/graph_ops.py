"""Finds the user's lines of the ops of a graph and of the functions it calls.

Also reads the collectives of a traced step off them.
"""

from __future__ import annotations

import re
import traceback
from typing import Any

import tensorflow as tf

from tpudist.tfcompat import graphs
from tpudist.tools.compile.report import Collective
from tpudist.virtual import explanations
from tpudist.virtual.trace import collectives as kinds
from tpudist.virtual.trace import dependencies
from tpudist.virtual.variables import stored_once

#: A line of the user's in AutoGraph's messages: ``File "f", line 1, in step  *``.
_AUTOGRAPH_LINE = re.compile(r'^ *File "(.+?)", line (\d+), .*  \*$', re.M)


def location(op: tf.Operation) -> str:
    """Returns "file:line" of the user's code that created an op, "" if no such code did."""
    return _users_line(graphs.frames(op))


def creation_line(handle: tf.Tensor) -> str:
    """Returns "file:line" of the user's code that created a variable, "" if unknown."""
    frames = list(reversed(stored_once.creation_frames(handle)))
    if frames or graphs.is_eager(handle):
        return _users_line(frames)
    return _users_line(graphs.frames(handle.op))


def error_line(error: BaseException) -> str:
    """Returns "file:line" of the user's code that raised an exception, "" if none did."""
    converted = _AUTOGRAPH_LINE.findall(str(error))
    frames: Any = [(file, int(line)) for file, line in converted]
    return _users_line(frames or traceback.extract_tb(error.__traceback__))


def _users_line(frames: Any) -> str:
    """Returns "file:line" of the innermost of the frames that is the user's, "" if none is."""
    place = explanations.place_in(frames)
    return "" if place == "?" else place


def collectives(graph: tf.Graph) -> tuple[Collective, ...]:
    """Returns the collectives of a graph: one in a loop once, one in a function once a call."""
    return tuple(
        Collective(
            kinds.OPS[op.type].replace("_", "-"),
            op.inputs[0].dtype.name,
            shape(op.inputs[0]),
            location(op),
        )
        for _, op in dependencies.all_ops(graph)
        if op.type in kinds.OPS
    )


def shape(tensor: tf.Tensor) -> tuple[int, ...]:
    """Returns a tensor's shape, with -1 for unknown dimensions; () for an unknown rank."""
    if tensor.shape.rank is None:
        return ()
    return tuple(-1 if size is None else size for size in tensor.shape.as_list())
