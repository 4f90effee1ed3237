"""Right and wrong uses of what is beside the eras, as a checker sees them; never run."""

from typing import Any, reveal_type

import tpudist
from tpudist import cli, errors, files
from tpudist.surfaces import slices
from tpudist.tools import doctor, matrix, migrate
from tpudist.tools.pins.fixture import Pin

reveal_type(tpudist.__version__)
reveal_type(tpudist.compile_step(None, print).ok)
report = tpudist.compile_step(None, print, args=(1,), topology="v5e:2x4", fast=True)
if report.memory is not None:
    reveal_type(report.memory.total)
reveal_type(report.hottest[0].location)
reveal_type(slices.find("v5e:2x4").shape)
reveal_type(errors.TopologyError("seen", "why", "instead").instead)
reveal_type(doctor.run)
reveal_type(matrix.run)
reveal_type(migrate.run)
reveal_type(cli.main(["doctor"]))
with files.locked("lock"):
    files.write("file", "text")


def pinned(pin: Pin, value: Any) -> Pin:
    pin.check("loss", value, rtol=1e-4)
    pin.check("compiled", report.compared(), rtol=0.05)
    return pin


# Wrong.
pinned(Pin("a.pins.json", "a.py::b"), 1).check("loss", 1.0, "1e-4")
tpudist.compile_step(print)
tpudist.compile_step(None, print, topologie="v5e:2x4")
print(report.memory.total)
slices.find(8)
doctor.run(json=True)
files.write("file", b"text")
print(tpudist.nonsense)
