"""Each difference from MirroredStrategy is still one, and has a reason."""

import pytest

from tests.differential import differences
from tests.differential.processes import run_driver


@pytest.mark.slow
@pytest.mark.parametrize("row", differences.TABLE, ids=lambda row: row.name)
def test_a_difference_is_not_stale(row):
    if not row.exists:
        pytest.skip("this TensorFlow's MirroredStrategy does the same")
    done = run_driver("--mode", row.mode, "--program", repr(row.program))
    assert "1 programs agree, 1 of them up to {%r: 1}" % row.name in (done.stdout), (
        done.stdout + done.stderr[-4000:]
    )


@pytest.mark.parametrize("row", differences.TABLE, ids=lambda row: row.name)
def test_a_reason_is_given(row):
    assert len(row.reason.split()) > 20
