"""Fixtures: files of a user's program."""

import textwrap

import pytest


@pytest.fixture
def write(tmp_path):
    """Writes files; returns the path of the first."""

    def files(**sources):
        for name, source in sources.items():
            path = tmp_path / (name + ".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(source))
        return str(tmp_path / (next(iter(sources)) + ".py"))

    return files
