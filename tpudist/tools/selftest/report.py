"""The self-test's report: what agrees with the records, as JSON and text."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Iterator, Mapping, Sequence

import numpy as np

from tpudist import machine

if TYPE_CHECKING:
    Line = dict[str, Any]


RECORDS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "recorded.json")

#: {dtype: (rtol on a virtual TPU, rtol on a real one)}; the rest is compared exactly. A TPU
#: multiplies float32 matrices in bfloat16, of 8 bits, and a net adds up its errors: with numbers
#: rounded so, the training of the programs is off by 0.0022 (tests/tools/selftest/test_values.py).
RTOL = {"float32": (1e-4, 1e-2), "float64": (1e-4, 1e-2), "bfloat16": (1e-2, 1e-2)}


def made(tpu: str, lines: Sequence[Line], seconds: float) -> Line:
    """The report on a TPU, as plain data, from what the workers said, with its ``era`` each."""
    recorded = records()
    system = next((line for line in lines if line["kind"] == "system"), {})
    virtual = bool(system.get("virtual", tpu.startswith("virtual")))
    values = [
        dict(line, **compared(line, recorded, virtual)) for line in lines if line["kind"] == "value"
    ]
    failed = [line for line in lines if line["kind"] == "failed"]
    unfinished = ["%(era)s, %(program)s" % one for one in lines if one["kind"] == "unfinished"]
    agree = all(value["agrees"] for value in values)
    return {
        "tpu": tpu if virtual or "://" not in tpu else "an address",
        "virtual": virtual,
        "system": {key: value for key, value in system.items() if key not in ("kind", "era")},
        "seconds": seconds,
        "values": values,
        "failed": failed,
        "unfinished": unfinished,
        "not_tried": list(_not_tried(lines, system, virtual)),
        "ok": bool(values or unfinished) and not failed and agree,
    }


def _not_tried(lines: Sequence[Line], system: Line, virtual: bool) -> Iterator[str]:
    """Lists what this run did not try."""
    for line in lines:
        if line["kind"] == "skipped":
            yield "%(era)s, %(program)s: %(why)s" % line
    if virtual:
        yield "anything of a real TPU: this one is virtual (its arithmetic, its speed, its runtime)"
    if not system:
        yield "anything at all: the TPU did not start"
    elif system["hosts"] < 2:
        yield "several hosts: this TPU has one"
    yield "setting a runtime's version, preemption, checkpoints on Cloud Storage"


def records() -> dict[str, Any]:
    """{era: {program: {value: {dtype, shape, values}}}}."""
    with open(RECORDS, encoding="utf-8") as file:
        return dict(json.load(file))


def compared(line: Mapping[str, Any], recorded: Mapping[str, Any], virtual: bool) -> dict[str, Any]:
    """Whether a worker's value ``agrees`` with what is recorded within ``rtol``, and its ``error``.

    That is the largest difference, relative to the largest value; None of another shape or dtype.
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


def text(report: Line, path: str) -> str:
    """The text for the terminal; the report is written at a path."""
    word = "UNFINISHED" if report["unfinished"] else "OK"
    agree, count = sum(value["agrees"] for value in report["values"]), len(report["values"])
    told = word if report["ok"] else "NOT OK", agree, count, len(report["failed"])
    lines = ["%s %d of %d values agree, %d programs failed" % told]
    lines[0] += ", in %.0f s" % report["seconds"]
    for value in report["values"]:
        if not value["agrees"]:
            lines.append("  differs: %(era)s, %(program)s, %(value)s (error %(error)s)" % value)
    lines += ["  failed: %(era)s, %(program)s: %(error)s" % each for each in report["failed"]]
    left = "  left when the time was up: %s (--timeout)"
    lines += [left % what for what in report["unfinished"]]
    lines += ["  not tried: " + what for what in report["not_tried"]]
    if machine.PROJECT and not report["ok"]:
        lines.append("where to report it: %s" % machine.PROJECT)
    return "\n".join([*lines, "written: %s" % path])
