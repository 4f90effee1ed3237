"""Fixtures: a user's script."""

import textwrap

import pytest


@pytest.fixture
def at_start():
    """TensorFlow as a script finds it."""
    from tests.helpers import generations

    with generations.as_tensorflow_1_starts():
        yield


@pytest.fixture
def script(tmp_path, monkeypatch, at_start):
    """Writes a script and files beside it; returns the script's path."""
    from tpudist import machine

    monkeypatch.delenv(machine.TPU, raising=False)

    def write(source, **beside):
        for name, text in dict(beside, script=source).items():
            (tmp_path / (name + ".py")).write_text(textwrap.dedent(text))
        return str(tmp_path / "script.py")

    return write
