"""The TPU compiler for the tests that compile, and answers that they share."""

import pytest

from tpudist.errors import CompileError
from tpudist.tools.compile import libtpu


@pytest.fixture(scope="session")
def compiler():
    """The libtpu found; what needs it is skipped, by name, where there is none."""
    try:
        return libtpu.find()
    except CompileError as error:
        pytest.skip("not compiled for a TPU: %s, %s" % (error.seen, error.why))


@pytest.fixture(scope="session")
def answers(tmp_path_factory):
    """A folder of answers of this run alone."""
    return tmp_path_factory.mktemp("answers")


@pytest.fixture
def compiled(compiler, answers, monkeypatch):
    """``compile_program`` with `compiler`, whose answers the tests of a run share."""
    from tpudist.tools.compile.compiler import compile_program

    monkeypatch.setenv("TPUDIST_CACHE", str(answers))
    return compile_program
