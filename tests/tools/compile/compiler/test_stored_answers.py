"""Answers of the compiler in the cache."""

import json
import os

import pytest

from tests.tools.compile import records
from tpudist.tools.compile.compiler import answers, compilation, libtpu, stored_answers

MINE = libtpu.Libtpu(os.path.abspath(__file__), "0.0.52")


@pytest.fixture
def asked(monkeypatch, tmp_path):
    """Replaces libtpu; a list of its requests. ``asked.answer`` is its answer."""

    class Asked(list):
        answer = records.answer()

    calls = Asked()

    def ask(request, timeout, progress):
        calls.append(request)
        return dict(calls.answer)

    monkeypatch.setenv("TPUDIST_CACHE", str(tmp_path / "kept"))
    monkeypatch.setattr(libtpu, "ask", ask)
    monkeypatch.setattr(answers, "digest", dict)
    monkeypatch.setattr(libtpu, "find", lambda: calls.library)
    calls.library = MINE
    return calls


def compiled(program=None, topology="v5e:2x4", **options):
    return compilation.compile_program(program or records.a_program(), topology, **options)


def test_a_program_is_compiled_once(asked):
    first, second = compiled(), compiled()
    assert len(asked) == 1
    assert (first.effort.cached, second.effort.cached) == (False, True)
    assert second._replace(effort=first.effort) == first


def test_a_cached_report_has_the_names_of_its_own_program(asked):
    compiled()
    named = records.a_program()._replace(
        parameters=tuple(each._replace(name="new") for each in records.a_program().parameters),
        locations={"StatefulPartitionedCall/add": "other.py:9"},
    )
    found = compiled(named)
    assert len(asked) == 1 and {each.name for each in found.arguments} == {"new"}
    assert found.hottest[0].location == "other.py:9"


def other_program():
    program = records.a_program()
    return program._replace(
        hlo=program.hlo.replace(b"multiply", b"subtract").replace(b"\x12\x03add", b"\x12\x03sub")
    )


@pytest.mark.parametrize(
    "change",
    [
        dict(program=other_program()),
        dict(program=records.a_program(replicas=4)),
        dict(program=records.a_program(partitions=2, replicas=4)),
        dict(topology="v5e:4x4"),
        dict(topology="v6e:2x4"),
        dict(fast=True),
    ],
)
def test_a_changed_input_is_compiled_again(asked, change):
    compiled()
    assert not compiled(**change).effort.cached
    assert len(asked) == 2


def test_another_libtpu_compiles_again(asked, tmp_path):
    compiled()
    library = tmp_path / "libtpu.so"
    library.write_bytes(b"1")
    asked.library = libtpu.Libtpu(str(library), "0.0.52")
    assert not compiled().effort.cached
    library.write_bytes(b"12")
    assert not compiled().effort.cached
    asked.library = asked.library._replace(version="0.0.53")
    assert not compiled().effort.cached


@pytest.mark.parametrize("version, same", [("0.0.52", True), ("", False)])
def test_a_reinstalled_library_uses_the_cache(asked, tmp_path, version, same):
    """In CI the cache stays and the library is reinstalled; one without a version may differ."""
    library = tmp_path / "libtpu.so"
    library.write_bytes(b"1")
    asked.library = libtpu.Libtpu(str(library), version)
    compiled()
    os.utime(str(library), (1, 1))
    assert compiled().effort.cached == same


def test_the_cache_can_be_skipped(asked):
    compiled()
    assert not compiled(cache=False).effort.cached
    assert len(asked) == 2


@pytest.mark.parametrize(
    "code, lasts",
    [
        ("RESOURCE_EXHAUSTED", True),
        ("INVALID_ARGUMENT", True),
        ("UNIMPLEMENTED", True),
        (libtpu.CRASHED, False),
        (libtpu.TIMED_OUT, False),
    ],
)
def test_transient_failures_are_not_stored(asked, code, lasts):
    asked.answer = dict(records.failed(code), pjrt="0.117")
    assert not compiled().ok and compiled().effort.cached == lasts


@pytest.mark.parametrize("damage", ["", "{", "[1"])
def test_a_damaged_answer_is_replaced(asked, tmp_path, damage):
    compiled()
    (file,) = (tmp_path / "kept" / "compile").iterdir()
    file.write_text(damage)
    assert not compiled().effort.cached
    assert compiled().effort.cached
    json.loads(file.read_text())


def test_a_cache_that_cannot_be_written_is_no_error(asked, tmp_path):
    (tmp_path / "kept").write_text("a file where the folder should be")
    assert compiled().ok and compiled().ok
    assert len(asked) == 2


@pytest.mark.parametrize(
    "environ, folder",
    [({"TPUDIST_CACHE": "/a"}, "/a/compile"), ({"XDG_CACHE_HOME": "/b"}, "/b/tpudist/compile")],
)
def test_the_folder_of_the_cache(monkeypatch, environ, folder):
    if os.name == "nt" or os.uname().sysname != "Linux":
        pytest.skip("libtpu is for Linux, and so is this folder")
    monkeypatch.delenv("TPUDIST_CACHE", raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    assert os.path.dirname(stored_answers.answer_path(b"", {}, "")) == folder
