"""Finding libtpu, and the errors if it is missing."""

import os
import platform
import sys

import pytest

from tests.tools.compile import records
from tpudist.errors import CompileError
from tpudist.tools.compile.compiler import compilation, libtpu

linux = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64",
    reason="libtpu is built for x86-64 Linux only",
)


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Installs a package libtpu of a version, on ``sys.path`` before any other."""

    def make(version):
        (tmp_path / "site" / "libtpu").mkdir(parents=True)
        (tmp_path / "site" / ("libtpu-%s.dist-info" % version)).mkdir()
        (tmp_path / "site" / "libtpu" / "__init__.py").write_text("raise ImportError('no')")
        library = tmp_path / "site" / "libtpu" / "libtpu.so"
        library.write_bytes(b"")
        monkeypatch.syspath_prepend(str(tmp_path / "site"))
        monkeypatch.delitem(sys.modules, "libtpu", raising=False)
        return str(library)

    return make


@linux
def test_the_installed_package_is_found_and_not_imported(installed):
    path = installed("0.0.31")
    assert libtpu.find({}) == libtpu.Libtpu(path, "0.0.31")
    assert "libtpu" not in sys.modules


@linux
def test_the_variable_wins(installed, tmp_path):
    installed("0.0.31")
    other = tmp_path / "other" / "libtpu.so"
    other.parent.mkdir()
    other.write_bytes(b"")
    for named in (str(other), str(other.parent)):
        assert libtpu.find({"TPUDIST_LIBTPU": named}) == libtpu.Libtpu(str(other), "")


@linux
def test_no_library_is_an_error(monkeypatch):
    monkeypatch.setattr(libtpu.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(
        CompileError, match=r"no libtpu.*pip install 'tpudist\[compile\]'.*pip download"
    ):
        libtpu.find({})


@linux
def test_a_missing_file_is_an_error(tmp_path):
    with pytest.raises(CompileError, match="none.so.*no such file"):
        libtpu.find({"TPUDIST_LIBTPU": str(tmp_path / "none.so")})


@pytest.mark.parametrize(
    ("system", "machine"), [("darwin", "arm64"), ("win32", "AMD64"), ("linux", "aarch64")]
)
def test_other_machines_are_refused(monkeypatch, system, machine):
    monkeypatch.setattr(libtpu.sys, "platform", system)
    monkeypatch.setattr(libtpu.platform, "machine", lambda: machine)
    with pytest.raises(CompileError, match="%s on %s.*x86-64 Linux only" % (system, machine)):
        libtpu.find({"TPUDIST_LIBTPU": os.devnull})


@linux
def test_a_file_that_is_no_library_is_an_error(tmp_path, monkeypatch):
    path = tmp_path / "libtpu.so"
    path.write_text("no library")
    monkeypatch.setenv("TPUDIST_LIBTPU", str(path))
    with pytest.raises(CompileError, match="does not start for v5e:2x4: .*libtpu.so"):
        compilation.compile_program(records.a_program(), "v5e:2x4")


@linux
def test_a_library_without_the_api_is_an_error(tmp_path):
    import _ctypes

    answer = libtpu.ask({"libtpu": _ctypes.__file__, "topology": "v5e:2x4", "options": {}})
    assert not answer["ok"] and "GetPjrtApi" in answer["message"]


@linux
def test_an_old_library_is_an_error(tmp_path, monkeypatch):
    path = tmp_path / "libtpu.so"
    path.write_bytes(b"")
    monkeypatch.setenv("TPUDIST_LIBTPU", str(path))
    said = {"ok": False, "code": libtpu.TOO_OLD, "message": "PJRT 0.55 has no X", "kind": "v5e"}
    monkeypatch.setattr(libtpu, "ask", lambda *_: said)
    with pytest.raises(CompileError, match="PJRT 0.55 has no X.*0.0.17"):
        compilation.compile_program(records.a_program(), "v5e:2x4")
