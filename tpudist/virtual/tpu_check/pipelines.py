"""Finds what the hosts of a slice could not do of an input pipeline.

A slice of several hosts runs the pipeline on each of them. They have neither the program's Python
nor its disk; only with one host can both be the machine that the program runs on, and nothing is
reported.
"""

from __future__ import annotations

import os
import tempfile
import traceback
from typing import TYPE_CHECKING, Any, Iterator

import numpy as np
import tensorflow as tf

from tpudist.virtual import explanations
from tpudist.virtual.tpu_check.causes import Cause
from tpudist.virtual.trace import dependencies

if TYPE_CHECKING:
    pass

_PYTHON = (
    "the hosts of a slice run the input pipeline, and have no Python of this program",
    "TensorFlow ops, or records that are written beforehand (tf.io.TFRecordWriter)",
)
_FILES = (
    "each host of a slice reads its own disk, and %s is on this machine's",
    "a copy in gs://, which all hosts read",
)

_CALL_PYTHON = frozenset(("PyFunc", "EagerPyFunc", "PyFuncStateless"))

#: Ops that read the files which they are given the names of.
_READ_FILES = frozenset(
    "FixedLengthRecordDataset FixedLengthRecordDatasetV2 ReadFile TextLineDataset TFRecordDataset "
    "TFRecordDatasetV2".split()
)

#: Folders that are on one machine alone; others may be on a disk that hosts share.
_LOCAL = tuple(
    os.path.join(folder, "")
    for folder in (os.path.expanduser("~"), "/home", "/root", "/content", tempfile.gettempdir())
)


def of(dataset: object) -> list[Cause]:
    """Returns the causes in the pipeline of a ``tf.data.Dataset``, in the order of its steps."""
    found: dict[Cause, None] = {}
    reads = []
    for step in _steps(dataset):
        if hasattr(step, "_filenames"):
            reads.append(type(step).__name__.strip("_"))
        for function in getattr(step, "_functions", list)():
            graph = getattr(getattr(function, "function", None), "graph", None)
            for _, op in dependencies.all_ops(graph) if graph is not None else ():
                if op.type in _CALL_PYTHON:
                    found[Cause(explanations.place(op), (op.type,), *_PYTHON)] = None
                if op.type in _READ_FILES:
                    reads.append(op.type)
    names = [name for step in _steps(dataset) if reads for name in _strings(step)]
    for local in list(filter(_is_local, names))[:1]:
        here = explanations.place_in(traceback.extract_stack())
        found[Cause(here, (reads[0],), _FILES[0] % local, _FILES[1])] = None
    return list(found)


def _steps(dataset: object) -> Iterator[Any]:
    """Yields a dataset and those that it is made of, the first one first."""
    for each in getattr(dataset, "_inputs", list)():
        yield from _steps(each)
    yield dataset


def _strings(step: object) -> list[str]:
    """Returns the first string of each tensor of strings that a step has."""
    tensors = list(getattr(step, "_tensors", ())) + [getattr(step, "_filenames", None)]
    strings = [each for each in tensors if getattr(each, "dtype", None) == tf.string]
    values = [tf.get_static_value(each) for each in strings]
    firsts = [each for value in values for each in np.ravel(value)[:1]]
    return [tf.compat.as_text(each) for each in firsts if isinstance(each, bytes)]


def _is_local(name: str) -> bool:
    """Whether a file is of this machine alone."""
    if "://" in name or not os.path.exists(name):
        return False
    return not os.path.isabs(name) or name.startswith(_LOCAL)
