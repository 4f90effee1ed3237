"""Fixtures: the TPU compiler, and a cache that the tests of a run share."""

import pytest

from tpudist.errors import CompileError
from tpudist.tools.compile.compiler import libtpu


@pytest.fixture(scope="session")
def compiler():
    """The installed libtpu; tests that need it are skipped, with a reason, if there is none."""
    try:
        return libtpu.find()
    except CompileError as error:
        pytest.skip("not compiled for a TPU: %s, %s" % (error.seen, error.why))


@pytest.fixture(scope="session")
def answers(tmp_path_factory):
    """The folder of a cache for this run alone."""
    return tmp_path_factory.mktemp("answers")


@pytest.fixture
def compiled(compiler, answers, monkeypatch):
    """``compile_program``, with the cache that the tests of a run share."""
    from tpudist.tools.compile.compiler.compilation import compile_program

    monkeypatch.setenv("TPUDIST_CACHE", str(answers))
    return compile_program
