"""Compares what programs gave with what is recorded, each dtype in its own precision."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from typing import Any, Mapping

RECORDS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "recorded.json")

#: {dtype: (rtol on a virtual TPU, rtol on a real one)}; the rest is compared exactly. A TPU
#: multiplies float32 matrices in bfloat16, of 8 bits, and a net adds up its errors: with numbers
#: rounded so, the training of the programs is off by 0.0022 (tests/tools/selftest/test_values.py).
RTOL = {"float32": (1e-4, 1e-2), "float64": (1e-4, 1e-2), "bfloat16": (1e-2, 1e-2)}


def records() -> dict[str, Any]:
    """{era: {program: {value: {dtype, shape, values}}}}."""
    with open(RECORDS, encoding="utf-8") as file:
        return json.load(file)


def compared(line: Mapping[str, Any], recorded: Mapping[str, Any], virtual: bool) -> dict[str, Any]:
    """Whether a value is what is recorded, and by how much it is not.

    Args:
      line: of a worker, of kind ``value``.
      recorded: :func:`records`.
      virtual: whether it comes from a virtual TPU.

    Returns:
      ``agrees``; ``rtol``, 0 for exactly; ``error``: the largest difference, relative to
      the largest value recorded; None where shapes or dtypes differ.
    """
    wanted = recorded.get(line["era"], {}).get(line["program"], {}).get(line["value"])
    if wanted is None:
        return {"agrees": False, "rtol": 0.0, "error": None}
    rtol = RTOL.get(wanted["dtype"], (0.0, 0.0))[0 if virtual else 1]
    if (line["dtype"], line["shape"]) != (wanted["dtype"], wanted["shape"]):
        return {"agrees": False, "rtol": rtol, "error": None}
    if not rtol:
        return {"agrees": line["values"] == wanted["values"], "rtol": 0.0, "error": None}
    obtained, expected = np.array(line["values"]), np.array(wanted["values"])
    scale = np.abs(expected).max() or 1.0
    error = float(np.abs(obtained - expected).max() / scale)
    return {"agrees": bool(error <= rtol), "rtol": rtol, "error": error}
