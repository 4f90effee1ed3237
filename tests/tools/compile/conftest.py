"""Fixtures: the TPU compiler, and what it compiles."""

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
def compiled(compiler):
    """``compile_program``; a program is compiled once in a run."""
    from tpudist.tools.compile.compiler.compilation import compile_program

    known = {}

    def compiled_once(program, topology, **options):
        key = (program.hlo, topology, tuple(sorted(options.items())))
        if key not in known:
            known[key] = compile_program(program, topology, **options)
        return known[key]

    return compiled_once
