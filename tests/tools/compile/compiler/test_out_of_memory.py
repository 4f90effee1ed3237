"""Messages of libtpu about programs that do not fit."""

import pytest

from tests.tools.compile import records
from tpudist.surfaces import slices
from tpudist.tools.compile.compiler import answers, compilation, libtpu
from tpudist.tools.compile.pages import by_line, html_report, terminal

EARLY = (
    "E1000: CompileTimeHbmOom: Ran out of memory on HBM, the total memory required for HLO "
    "temporaries (22.44G) exceeds available HBM (15.75G). HLO module: step.\n"
)
LATE = """E1000: CompileTimeHbmOom: Ran out of memory in memory space hbm. \
Used 15.75G of 15.75G hbm. Exceeded hbm capacity by 1.18M.

Total hbm usage >= 16.00G:
    reserved        258.00M

  Largest program allocations in hbm:

  1. Size: 2.56G
     Operator: op_name="StatefulPartitionedCall/add"
     Shape: f32[167904,4096]{1,0:T(8,128)}
     Unpadded size: 2.56G
     XLA label: fusion.9 = fusion(arg6.1), kind=kOutput, calls=fused_computation.21
     Allocation type: HLO temp
     ==========================

  2. Size: 1.15K
     Shape: f32[301]{0}
     Unpadded size: 1.15K
"""

#: Of a program that was compiled for a chip with more memory.
ALIVE = {key: records.answer()[key] for key in ("held", "alive")}


@pytest.mark.parametrize(
    "message, expected",
    [(EARLY, 6.69 * 2**30), (LATE, 1.18 * 2**20), ("E1000: out of memory", None)],
)
def test_missing_bytes(message, expected):
    found = records.summarized(records.failed(message=message))
    assert found.failure.missing == (expected and pytest.approx(expected))


def test_the_arrays_of_a_late_message_are_reported_by_line():
    assert answers.allocations(EARLY) == []
    found = records.summarized(records.failed(message=LATE))
    assert [(line, size) for line, size, _ in by_line.peak_memory(found)] == [
        ("train.py:5", int(2.56 * 2**30)),
        (by_line.NO_LINE, int(1.15 * 2**10)),
    ]
    assert [each.shape for each in found.alive] == ["f32[167904,4096]", "f32[301]"]
    assert "at peak   2.56 GiB   train.py:5  f32[167904,4096] add" in terminal.text(found)
    assert "Held at the peak" in html_report.page(found)


@pytest.mark.parametrize("message, lacks", [(EARLY, True), (LATE, False), ("E1000: no", False)])
def test_messages_without_arrays(message, lacks):
    assert answers.lacks_arrays(records.failed(message=message)) == lacks
    assert not answers.lacks_arrays(records.answer())


def test_arrays_of_another_chip_have_a_note():
    answer = dict(records.failed(message=EARLY), room="v5p:2x2x2", **ALIVE)
    found = records.summarized(answer)
    assert "4.00 KiB   train.py:5  float32[8,128] add" in terminal.text(found)
    assert "compiled for v5p:2x2x2, which has enough memory" in terminal.text(found)
    assert "for v5e:2x4 the compiler reports only the total" in terminal.text(found)


@pytest.mark.parametrize(
    "slice_, devices, larger",
    [("v5e:2x4", 8, "v5p:2x2x2"), ("v3:4x4", 32, "v5p:2x4x4"), ("v5p:2x2x2", 8, None)],
)
def test_the_slice_with_more_memory(slice_, devices, larger):
    found = compilation.with_more_memory(slices.find(slice_), devices)
    assert (found and found.name) == larger


def test_a_program_that_does_not_fit_is_compiled_for_a_larger_chip(monkeypatch, tmp_path):
    asked = []

    def ask(request, *unused):
        asked.append((request["topology"], request["level"]))
        room = request["topology"].startswith("v5p")
        return records.answer() if room else dict(records.failed(message=EARLY), pjrt="0.117")

    monkeypatch.setenv("TPUDIST_CACHE", str(tmp_path))
    monkeypatch.setattr(libtpu, "ask", ask)
    monkeypatch.setattr(answers, "digest", dict)
    monkeypatch.setattr(libtpu, "find", lambda: libtpu.Libtpu(__file__, "0.0.52"))
    compilation.compile_program(records.a_program(), "v5e:2x4", explain=False)
    found = compilation.compile_program(records.a_program(), "v5e:2x4")
    again = compilation.compile_program(records.a_program(), "v5e:2x4")
    assert [name for name, _ in asked] == ["v5e:2x4", "v5p:2x2x2"] and asked[1][1] != asked[0][1]
    assert not found.ok and found.alive == again.alive and len(found.alive) == 2
    assert again.effort.cached
