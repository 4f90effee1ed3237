"""Reads the table of ops that TPUs compile, which ``python -m compat.make.tpu_ops`` records."""

from __future__ import annotations

import functools
import json
import os
from typing import NamedTuple

_FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tpu_ops.json")


class TpuOps(NamedTuple):
    """The recorded table.

    Args:
      tensorflow, libtpu, day: what recorded it, and when.
      dtypes: names of the dtypes that a TPU has.
      compiled: types of ops that the TPU compiler took.
      refused: types of ops that XLA has no kernel of.
      constants: {type of op: the inputs whose values XLA needs when it compiles}.
      refused_dtypes: {type of op: dtypes of its results that the compiler does not take}.
    """

    tensorflow: str
    libtpu: str
    day: str
    dtypes: frozenset[str]
    compiled: frozenset[str]
    refused: frozenset[str]
    constants: dict[str, tuple[int, ...]]
    refused_dtypes: dict[str, list[str]]


@functools.lru_cache(maxsize=None)
def tpu_ops() -> TpuOps:
    """Returns the recorded table."""
    with open(_FILE, encoding="utf-8") as file:
        values = json.load(file)
    for name in ("dtypes", "compiled", "refused"):
        values[name] = frozenset(values[name])
    values["constants"] = {op: tuple(inputs) for op, inputs in values["constants"].items()}
    return TpuOps(**values)


_PYTHON = (
    "a TPU calls no Python",
    "move it to the input pipeline, or write it with TensorFlow ops",
)
_PRINTS = (
    "a TPU prints nothing and writes no summaries",
    "do it with what the step returns, outside of it; or tf.config.set_soft_device_placement(True) "
    "from TensorFlow 2.4 on, which does it on the host",
)
_TABLES = ("a TPU has no tables", "look it up in the input pipeline")
_ITERATORS = ("a TPU has no iterators", "pass the batch to the step as an argument")
_FILES = ("a TPU reads no files", "read it in the input pipeline")

_STRINGS = (
    "a TPU has no strings",
    "move it out of the replica function, or into tf.compat.v1.tpu.outside_compilation",
)
_OTHERWISE = ("a TPU has no kernel of it", _STRINGS[1])

#: {type of op: (why a TPU refuses it, what to type instead)}
ADVICE = {
    **dict.fromkeys(("PyFunc", "EagerPyFunc", "PyFuncStateless"), _PYTHON),
    **dict.fromkeys(("Print", "PrintV2", "StringFormat"), _PRINTS),
    **dict.fromkeys(("WriteSummary", "WriteScalarSummary", "WriteHistogramSummary"), _PRINTS),
    **dict.fromkeys(("WriteImageSummary", "WriteAudioSummary", "WriteRawProtoSummary"), _PRINTS),
    **dict.fromkeys(("FlushSummaryWriter", "CloseSummaryWriter", "SummaryWriter"), _PRINTS),
    **dict.fromkeys(("LookupTableFind", "LookupTableFindV2", "LookupTableSizeV2"), _TABLES),
    **dict.fromkeys(("IteratorGetNext", "IteratorGetNextSync"), _ITERATORS),
    **dict.fromkeys(("IteratorGetNextAsOptional", "IteratorV2"), _ITERATORS),
    "ReadFile": _FILES,
    "CropAndResize": (_OTHERWISE[0], "tf.image.resize of slices, or in the input pipeline"),
    "SparseTensorDenseMatMul": (_OTHERWISE[0], "tf.sparse.to_dense first, or tf.gather and a sum"),
}


def advice(op_type: str, has_strings: bool = False) -> tuple[str, str]:
    """Returns (why a TPU refuses an op, what to type instead).

    Args:
      op_type: its type.
      has_strings: whether it takes or gives strings.
    """
    return ADVICE.get(op_type, _STRINGS if has_strings else _OTHERWISE)
