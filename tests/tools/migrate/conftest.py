"""Fixtures: a small code base."""

import pytest


@pytest.fixture
def tree(tmp_path):
    """A folder with a file that has a use of 2.0, and one without any."""
    from tests.tools.migrate import harness  # which skips before Python 3.8

    harness.put(tmp_path, {"a.py": harness.OLD + harness.USE, "b.py": "x = 1\n"})
    return tmp_path
