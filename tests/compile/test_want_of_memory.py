"""What libtpu says of a program that does not fit, in its words."""

import pytest

from tests.compile import records
from tpudist.compile import page, terminal, tree, want_of_memory

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


@pytest.mark.parametrize(
    "message, expected",
    [(EARLY, 6.69 * 2**30), (LATE, 1.18 * 2**20), ("E1000: out of memory", None)],
)
def test_by_how_much(message, expected):
    found = records.summarized(records.failed(message=message))
    assert found.failure.missing == (expected and pytest.approx(expected))


def test_the_arrays_after_optimization_are_told_by_line():
    assert want_of_memory.allocations(EARLY) == []
    found = records.summarized(records.failed(message=LATE))
    assert [(line, size) for line, size, _ in tree.alive(found)] == [
        ("train.py:5", int(2.56 * 2**30)),
        (tree.NO_LINE, int(1.15 * 2**10)),
    ]
    assert [each.shape for each in found.alive] == ["f32[167904,4096]", "f32[301]"]
    assert "at peak   2.56 GiB   train.py:5  f32[167904,4096] add" in terminal.text(found)
    assert "Held at the peak" in page.html(found)
