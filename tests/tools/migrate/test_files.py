"""Bytes that survive: encodings, newlines, modes, notebooks; files that are refused."""

import os
import stat
import sys

import pytest

from tests.tools.migrate import harness
from tpudist.tools.migrate import engine
from tpudist.tools.migrate.resolution import codebase

BEFORE = "from tpudist.v2_0 import tensorflow as tf\nstrategy = tf.distribute.get_strategy()\n"
AFTER = BEFORE.replace("v2_0", "v2_2")
USE = "strategy.experimental_run_v2(fn)\n"
NEW = "strategy.run(fn)\n"


def migrate(folder, raw, name="a.py", to="2.2"):
    """The Result of a file with these bytes."""
    (folder / name).write_bytes(raw)
    return harness.results(folder, to)[name]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("encoding", "cookie"),
    [
        ("utf-8", ""),
        ("utf-8", "# -*- coding: utf-8 -*-\n"),
        ("latin-1", "# coding: latin-1\n"),
        ("utf-8-sig", ""),
    ],
)
def test_bytes_survive(tmp_path, newline, encoding, cookie):
    def raw(*texts):
        return (
            (cookie + "".join(texts) + "x = 'é'  # ü\t\n\n").replace("\n", newline).encode(encoding)
        )

    assert migrate(tmp_path, raw(BEFORE, USE)).after == raw(AFTER, NEW)


def test_windows_lines_survive(tmp_path):
    raw = (BEFORE + USE).replace("\n", "\r\n").encode()
    assert migrate(tmp_path, raw).after == (AFTER + NEW).replace("\n", "\r\n").encode()


@pytest.mark.parametrize("end", ["", "\n", "\n\n\n", "  # c", "\n\t\n", "\n\x0c\n"])
def test_the_end_of_the_file_survives(tmp_path, end):
    text = BEFORE + USE.strip() + end
    found = migrate(tmp_path, text.encode())
    assert found.after == (AFTER + NEW.strip() + end).encode()


def test_mixed_newlines_survive(tmp_path):
    raw = (BEFORE + USE).encode() + b"x = 1\r\ny = 2\n"
    assert migrate(tmp_path, raw).after == (AFTER + NEW).encode() + b"x = 1\r\ny = 2\n"


@pytest.mark.parametrize(
    "layout",
    [
        "strategy.experimental_run_v2( fn,args = ( a , ) )",
        "strategy . experimental_run_v2(fn)",
        "strategy.experimental_run_v2(\n        fn,\n        args=(a,),  # one\n    )",
        "(strategy\n .experimental_run_v2(fn))",
        "strategy.\\\n  experimental_run_v2(fn)",
    ],
)
def test_layout_survives(tmp_path, layout):
    found = migrate(tmp_path, (BEFORE + layout).encode())
    assert found.after.decode() == AFTER + layout.replace("experimental_run_v2", "run")


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"print 'strategy.experimental_run_v2'\n", "not Python 3"),
        (b"exec 'experimental_run_v2' in x\n", "not Python 3"),
        (b"def f(:\n  experimental_run_v2\n", "not Python 3"),
        (b"# coding: no-such\nexperimental_run_v2\n", "no-such"),
        (b"experimental_run_v2 = '\xff'\n", "encoding"),
        (b"experimental_run_v2\x00\n", ""),
    ],
)
def test_refused_files_are_named_and_untouched(tmp_path, raw, words):
    found = migrate(tmp_path, raw)
    assert found.refused and words in found.refused
    assert found.after == found.before == raw


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("\nprint 'x'\ny = 1\n", 3),
        ("exec 'x'\ny = 1\n", 2),
        ("\n\nraise E, 'x'\ny = 1\n", 4),
        ("if x:\n    y = 1\n  z = 2\n", 4),
        ("try:\n    pass\nexcept A, e:\n    pass\n", 4),
    ],
)
def test_a_refused_file_is_said_where(tmp_path, text, line):
    found = migrate(tmp_path, ("import experimental_run_v2\n" + text).encode())
    assert found.refused.startswith("%d:" % line), found.refused


@pytest.mark.parametrize(
    "text",
    [
        "if (n := 3) > 2:\n    pass\n" if sys.version_info >= (3, 8) else "x = 1\n",
        "print(f'{x!r:>{w}} {y=}')\n" if sys.version_info >= (3, 8) else "x = 1\n",
        "def f(a, /, b): pass\n" if sys.version_info >= (3, 8) else "x = 1\n",
        "async def f():\n    async with a as b:\n        await c\n",
        "x: int = 1\n",
        "try:\n    pass\nexcept* ValueError:\n    pass\n"
        if sys.version_info >= (3, 11)
        else "x = 1\n",
        "match x:\n    case [1, *y]:\n        pass\n" if sys.version_info >= (3, 10) else "x = 1\n",
        "print(f'{a['b']}')\n" if sys.version_info >= (3, 12) else "x = 1\n",
    ],
)
def test_new_syntax_is_read(tmp_path, text):
    assert migrate(tmp_path, (text + BEFORE + USE).encode()).after == (text + AFTER + NEW).encode()


def test_places_are_those_of_the_original_file(tmp_path):
    text = (
        "from tensorflow.contrib import distribute\nimport tensorflow as tf\n"
        "s = distribute.TPUStrategy(r, 1)\ns.unwrap(x)\n"
        "tf.distribute.experimental.TPUStrategy(**o)\n"
    )
    found = migrate(tmp_path, text.encode(), to="latest")
    lines = {use.rule: use.line for use in found.rewritten if use.rule == "unwrap"}
    assert lines == {"unwrap": 4}


def test_writing_keeps_the_mode_and_leaves_nothing_behind(tmp_path):
    path = tmp_path / "a.py"
    result = migrate(tmp_path, (BEFORE + USE).encode())
    path.chmod(0o754)
    assert not engine.write(result).refused
    assert path.read_text() == AFTER + NEW
    if os.name != "nt":
        assert stat.S_IMODE(path.stat().st_mode) == 0o754
    assert os.listdir(str(tmp_path)) == ["a.py"]


def test_a_write_that_fails_leaves_the_file(tmp_path, monkeypatch):
    result = migrate(tmp_path, (BEFORE + USE).encode())

    def fail(*unused):
        raise OSError("the disk is full")

    monkeypatch.setattr(os, "replace", fail)
    assert "the disk is full" in engine.write(result).refused
    assert (tmp_path / "a.py").read_text() == BEFORE + USE
    assert os.listdir(str(tmp_path)) == ["a.py"]


@pytest.mark.skipif(os.name == "nt", reason="symbolic links")
def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.py").write_text(BEFORE + USE)
    (tmp_path / "a.py").symlink_to(tmp_path / "real" / "a.py")
    engine.write(harness.results(tmp_path, "2.2")["a.py"])
    assert (tmp_path / "a.py").is_symlink()
    assert (tmp_path / "real" / "a.py").read_text() == AFTER + NEW


def test_other_peoples_folders_are_not_read(tmp_path):
    files = {
        name + "/a.py": BEFORE + USE
        for name in ("venv", ".git", "build", "site-packages", "__pycache__", "mine")
    }
    files["venv/pyvenv.cfg"] = ""
    harness.put(tmp_path, files)
    assert list(harness.results(tmp_path, "2.2")) == ["mine/a.py"]


#: Statements that libcst reads, of the Python that is the first to read them.
NEWER = {
    (3, 8): "if (x := 1): pass\n",
    (3, 10): "match x:\n    case 1: pass\n",
    (3, 12): "f'{a['b']}'\n",
}


@pytest.mark.skipif(
    sys.version_info >= max(NEWER), reason="there is no newer one that libcst reads"
)
def test_a_file_of_a_newer_python_is_refused(tmp_path):
    newer = NEWER[min(each for each in NEWER if each > sys.version_info)]
    found = migrate(tmp_path, ("import tensorflow as tf\ntf.Session()\n" + newer).encode())
    assert "newer than Python %d.%d" % sys.version_info[:2] in found.refused
    assert found.refused.startswith("3:") and found.before == found.after


def test_a_read_only_file_is_refused_and_untouched(tmp_path):
    found = migrate(tmp_path, (BEFORE + USE).encode())
    path = tmp_path / "a.py"
    path.chmod(0o444)
    written = engine.write(found)
    assert "read-only" in written.refused and not written.rewritten
    assert path.read_bytes() == (BEFORE + USE).encode()
    assert stat.S_IMODE(path.stat().st_mode) == 0o444


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o755, 0o664])
def test_permissions_survive(tmp_path, mode):
    found = migrate(tmp_path, (BEFORE + USE).encode())
    (tmp_path / "a.py").chmod(mode)
    assert not engine.write(found).refused
    assert stat.S_IMODE((tmp_path / "a.py").stat().st_mode) == mode
    assert (tmp_path / "a.py").read_text() == AFTER + NEW


@pytest.mark.parametrize("name", ["a b.py", "ü'\".py", "-x.py", "x" * 200 + ".py", ".hidden.py"])
def test_odd_names_of_files(tmp_path, name):
    harness.put(tmp_path, {"d 1/é/" + name: BEFORE + USE})
    ((path, found),) = harness.results(tmp_path, "2.2").items()
    assert path == "d 1/é/" + name
    assert not engine.write(found).refused
    assert (tmp_path / "d 1" / "é" / name).read_text() == AFTER + NEW


def test_a_loop_of_links_is_walked_once(tmp_path):
    harness.put(tmp_path, {"pkg/a.py": BEFORE + USE})
    os.symlink("..", str(tmp_path / "pkg" / "up"))
    os.symlink(".", str(tmp_path / "pkg" / "self"))
    assert list(harness.results(tmp_path, "2.2")) == ["pkg/a.py"]


def test_a_link_to_nothing_is_refused(tmp_path):
    os.symlink("nowhere", str(tmp_path / "a.py"))
    found = codebase.CodeBase([str(tmp_path)])
    assert list(found.unreadable) == [str(tmp_path / "a.py")]


def test_a_folder_with_the_name_of_a_file(tmp_path):
    harness.put(tmp_path, {"x.py/a.py": BEFORE + USE})
    assert list(harness.results(tmp_path, "2.2")) == ["x.py/a.py"]


@pytest.mark.parametrize(
    "raw", [b"", b"\n", b"\n\n", b"\xef\xbb\xbf", b"# only\n", b"\x0c\n", b"\\\n", b"   \n\t\n"]
)
def test_files_with_next_to_nothing_in_them(tmp_path, raw):
    (tmp_path / "b.py").write_bytes((BEFORE + USE).encode())
    (tmp_path / "a.py").write_bytes(raw)
    found = harness.results(tmp_path, "2.2")
    assert "a.py" not in found or found["a.py"].after == raw


@pytest.mark.parametrize(
    "raw",
    [
        b"experimental_run_v2\0\n",
        bytes(range(256)) * 20 + b"experimental_run_v2",
        b"\xff\xfe" + "experimental_run_v2\n".encode("utf-16-le") + b"experimental_run_v2",
    ],
)
def test_binary_files_are_refused(tmp_path, raw):
    found = migrate(tmp_path, raw)
    assert found.refused and found.after == raw


def test_a_line_of_many_elements(tmp_path):
    line = "x = [%s]\n" % ", ".join(["1"] * 5000)
    assert migrate(tmp_path, (BEFORE + line + USE).encode()).after == (AFTER + line + NEW).encode()


def test_what_is_nested_deeply(tmp_path):
    line = "x = " + " + ".join(["1"] * 1500) + "\n"
    assert migrate(tmp_path, (BEFORE + line + USE).encode()).after.decode() == AFTER + line + NEW


def test_what_is_nested_too_deeply_is_refused(tmp_path):
    raw = (BEFORE + "x = " + "(" * 500 + "1" + ")" * 500 + "\n" + USE).encode()
    found = migrate(tmp_path, raw)
    assert found.refused and found.after == raw


def test_many_functions(tmp_path):
    functions = "".join(
        "def f%d(x):\n    return strategy.experimental_run_v2(x)\n\n\n" % index
        for index in range(800)
    )
    found = migrate(tmp_path, (BEFORE + functions).encode())
    assert found.after.decode() == AFTER + functions.replace("experimental_run_v2", "run")
    assert len(found.rewritten) == 801
