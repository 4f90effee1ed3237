"""Reads the table of ops that TPUs compile, which ``python -m compat.make.tpu_ops`` records."""

from __future__ import annotations

import functools
import json
import os
from typing import NamedTuple

from tpudist.tfcompat import versions

_FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tpu_ops.json")


class TpuOps(NamedTuple):
    """The ops that TPUs of the installed TensorFlow take, as far as it is recorded.

    Args:
      dtypes: names of the dtypes that a TPU has.
      refused: types of ops that XLA has no kernel of.
      taken_dtypes: {type of op: {attribute: names of the dtypes that its kernel takes}}.
      constants: {type of op: names of the inputs whose values XLA needs when it compiles}.
      refused_dtypes: {type of op: dtypes of its results that the compiler does not take}.
    """

    dtypes: frozenset[str]
    refused: frozenset[str]
    taken_dtypes: dict[str, dict[str, frozenset[str]]]
    constants: dict[str, list[str]]
    refused_dtypes: dict[str, list[str]]


@functools.lru_cache(maxsize=None)
def tpu_ops() -> TpuOps:
    """Returns the recorded table."""
    with open(_FILE, encoding="utf-8") as file:
        values = json.load(file)
    refused = set(values["refused"])
    for release in versions.not_older(values["later"]):
        refused.update(values["later"][release])
    taken: dict[str, dict[str, frozenset[str]]] = {}
    for dtypes, attributes in values["dtypes"].items():
        for op, name in (each.split(".") for each in attributes):
            taken.setdefault(op, {})[name] = frozenset(dtypes.split())
    own = set(" ".join(values["dtypes"]).split()) - {"string"}  # which it only passes on
    wide = values["refused_dtypes"]
    return TpuOps(frozenset(own), frozenset(refused), taken, values["constants"], wide)


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
    """Returns (why a TPU refuses an op, what to type instead), of one with strings or without."""
    return ADVICE.get(op_type, _STRINGS if has_strings else _OTHERWISE)
