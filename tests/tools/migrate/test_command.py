"""``tpudist migrate`` as it is typed: options, exit codes, what is printed."""

import io
import json
import os
import re

import pytest

from tests.tools.migrate import harness
from tests.tools.migrate.harness import LEFT, OLD, USE, migrate
from tpudist import cli
from tpudist.tools.migrate import engine


@pytest.mark.parametrize(("mode", "code"), [([], 0), (["--diff"], 0), (["--check"], 1)])
def test_nothing_is_written_without_write(tree, mode, code):
    assert migrate(tree, "--to", "2.2", *mode) == code
    assert (tree / "a.py").read_text() == OLD + USE


def test_write(tree, capsys):
    assert migrate(tree, "--to", "2.2", "--write") == 0
    assert (tree / "a.py").read_text() == OLD.replace("v2_0", "v2_2") + "s.run(fn)\n"
    printed = capsys.readouterr().out
    assert "a.py: rewritten: imports 1, run 1" in printed
    assert "Nothing left." in printed and "Nothing was written" not in printed
    assert migrate(tree, "--to", "2.2", "--check") == 0


def test_diff(tree, capsys):
    migrate(tree, "--to", "2.2", "--diff")
    out, err = capsys.readouterr()
    assert "-s.experimental_run_v2(fn)\n+s.run(fn)\n" in out
    assert "Nothing was written: --write does" in err


def test_what_is_left_is_located(tree, capsys):
    harness.put(tree, {"a.py": OLD + LEFT})
    assert migrate(tree, "--to", "2.2", "--write") == 1
    printed = capsys.readouterr().out
    assert re.search(
        r"a\.py:3:1: run: foo\.experimental_run_v2: it may be a strategy's; run, if it is one\n",
        printed,
    )
    assert "Nothing left" not in printed


def test_a_refused_file_is_named_and_the_others_are_done(tree, capsys):
    harness.put(tree, {"c.py": "print 'experimental_run_v2'\n"})
    assert migrate(tree, "--to", "2.2", "--write") == 2
    printed = capsys.readouterr().out
    assert re.search(r"c\.py: refused: 1:\d+: not Python 3", printed) and "2to3" in printed
    assert "Nothing left" not in printed
    assert "s.run(fn)" in (tree / "a.py").read_text()
    assert (tree / "c.py").read_text() == "print 'experimental_run_v2'\n"


def test_a_path_that_is_not_there_is_refused(tmp_path, capsys):
    harness.put(tmp_path, {"a.py": OLD + USE})
    missing = str(tmp_path / "no.py")
    assert cli.main(["migrate", missing, str(tmp_path / "a.py"), "--to", "2.2"]) == 2
    out = capsys.readouterr().out
    assert "no.py: refused: unreadable" in out and "a.py" in out


def test_a_run_without_a_target(tree, capsys):
    assert migrate(tree) == 2
    error = capsys.readouterr().err
    assert "no --to" in error and "Instead: " in error


def test_a_folder_without_files_is_no_success(tmp_path, capsys):
    harness.put(tmp_path, {"a.txt": OLD})
    assert migrate(tmp_path, "--to", "2.2", "--check") == 2
    assert "no .py or .ipynb file below %s" % tmp_path in capsys.readouterr().err


def test_a_file_that_is_named_is_read_whatever_its_name(tmp_path, capsys):
    harness.put(tmp_path, {"script": OLD + USE})
    assert cli.main(["migrate", str(tmp_path / "script"), "--to", "2.2", "--write"]) == 0
    assert (tmp_path / "script").read_text().endswith("s.run(fn)\n")


def test_a_path_given_twice_is_one_file(tree, capsys):
    path = str(tree / "a.py")
    assert cli.main(["migrate", path, str(tree), path, "--to", "2.2"]) == 0
    assert "2 files read, 1 would change: " in capsys.readouterr().out


def test_later_code_is_not_moved_back(tree, capsys):
    new = "from tpudist.v2_2 import tensorflow as tf\ns = tf.distribute.get_strategy()\ns.run(f)\n"
    harness.put(tree, {"a.py": new})
    assert migrate(tree, "--to", "2.0", "--check") == 0
    assert (tree / "a.py").read_text() == new


def test_no_path(capsys):
    assert cli.main(["migrate", "--to", "2.2"]) == 2
    assert "Instead: tpudist migrate . --to 2.2" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["--to", "1.9"],
        ["--to", "2.2", "--jobs", "two"],
        ["--from", "1.9"],
        ["--check", "--write"],
        ["--report", "html"],
    ],
)
def test_usage_errors(arguments):
    with pytest.raises(SystemExit) as caught:
        cli.main(["migrate", "."] + arguments)
    assert caught.value.code == 2


def test_it_needs_nothing_but_python(bare_python, tmp_path):
    harness.put(tmp_path, {"a.py": OLD + USE})
    process = bare_python("-m", "tpudist", "migrate", str(tmp_path), "--to", "2.2", "--write")
    assert process.returncode == 0, process.stderr
    assert "s.run(fn)" in (tmp_path / "a.py").read_text()


def test_json(tree, capsys):
    harness.put(tree, {"a.py": OLD + USE + LEFT})
    assert migrate(tree, "--to", "2.2", "--report", "json") == 1
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert found["files_looked_at"] == 2 and "1 left" in err
    (file,) = found["files"]
    assert file["era"] == "v2_0" and file["changes"]
    assert {use["rule"] for use in file["rewritten"]} == {"run", "imports"}
    assert file["left"][0]["line"] == 4 and file["left"][0]["column"] == 1


def test_a_fault_in_a_rule_does_not_stop_the_run(tree, monkeypatch, capsys):
    from tpudist.tools.migrate.use import Use

    def fail(use, member):
        raise RuntimeError("oh")

    monkeypatch.setattr(Use, "rename", fail)
    assert migrate(tree, "--to", "2.2", "--write") == 2
    assert "a fault of tpudist: RuntimeError: oh" in capsys.readouterr().out
    assert (tree / "a.py").read_text() == OLD + USE


def test_a_fault_before_the_rules_does_not_stop_the_run(tree, monkeypatch, capsys):
    from tpudist.surfaces.eras import evidence

    found = evidence.uses

    def fail(nodes, path, bindings):
        if path.endswith("bad.py"):
            raise RuntimeError("oh")
        return found(nodes, path, bindings)

    monkeypatch.setattr(evidence, "uses", fail)
    bad = "import tensorflow as tf\ndef bad(x=tf.contrib.layers):\n    return x.bow_encoder(1)\n"
    harness.put(tree, {"bad.py": bad})
    assert migrate(tree, "--to", "2.2", "--write") == 2
    out = capsys.readouterr().out
    assert "a fault of tpudist: RuntimeError: oh" in out and out.count("bad.py") == 1
    assert (tree / "bad.py").read_text() == bad
    assert (tree / "a.py").read_text() != OLD + USE


def test_list_rules(capsys):
    assert cli.main(["migrate", "--list-rules"]) == 0
    out = capsys.readouterr().out
    assert "call-for-each-tower (to 2.0)" in out and "imports (to all)" in out
    assert out.count("https://") >= 20


def test_a_key_is_explained(capsys):
    assert cli.main(["migrate", "--list-rules", "run"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("run (to 2.2)\n\n``experimental_run_v2`` is ``run`` since 2.2")
    assert "https://" in out and "\nType: strategy.run, where the object is a strategy" in out
    assert out.endswith("    strategy.experimental_run_v2(fn, args=(x,))\n"
                        "    -> strategy.run(fn, args=(x,))\n")  # fmt: skip


def test_a_key_that_is_not_there(capsys):
    assert cli.main(["migrate", "--list-rules", "fly"]) == 2
    assert "there is no such key" in capsys.readouterr().err


def test_files_are_found_from_a_relative_path(tree, monkeypatch):
    monkeypatch.chdir(str(tree))
    assert cli.main(["migrate", ".", "--to", "2.2", "--write"]) == 0
    assert "s.run" in (tree / "a.py").read_text()
    assert sorted(os.listdir(str(tree))) == ["a.py", "b.py"]


def test_standard_input_is_printed_as_it_becomes(tree, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO((OLD + USE).encode())))
    assert cli.main(["migrate", "-", "--to", "2.2"]) == 0
    printed = capsys.readouterr()
    assert printed.out == OLD.replace("v2_0", "v2_2") + "s.run(fn)\n"
    assert "Nothing left." in printed.err and "was written" not in printed.err
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"x = 3\n")))
    assert cli.main(["migrate", "-", "--to", "2.2"]) == 0
    assert capsys.readouterr().out == "x = 3\n"
    assert cli.main(["migrate", "-", str(tree), "--to", "2.2"]) == 2
    assert "Instead: " in capsys.readouterr().err


def test_a_target_that_is_none_is_told_of_those_that_are(tree, capsys):
    with pytest.raises(SystemExit):
        migrate(tree, "--to", "3.0")
    error = capsys.readouterr().err
    assert all(each in error for each in ("contrib", "2.0", "2.2", "latest"))


@pytest.mark.parametrize(("stops", "files"), [("read", "no file"), ("written", "a.py")])
def test_an_interrupted_run_says_what_was_written(tree, capsys, monkeypatch, stops, files):
    def interrupt(*_):
        raise KeyboardInterrupt

    harness.put(tree, {"c.py": OLD + USE})
    if stops == "read":
        monkeypatch.setattr("tpudist.tools.migrate.engine.Engine.migrate", interrupt)
    else:
        write = engine.write

        def once(result):
            monkeypatch.setattr(engine, "write", interrupt)
            return write(result)

        monkeypatch.setattr(engine, "write", once)
    assert migrate(tree, "--to", "2.2", "--write") == 130
    printed = capsys.readouterr()
    (line,) = printed.err.splitlines()
    assert line.startswith("tpudist: interrupted; written: ") and line.endswith(files)


def test_one_file_is_counted_as_one(tmp_path, capsys):
    harness.put(tmp_path, {"a.py": OLD + USE})
    migrate(tmp_path, "--to", "2.2")
    said = "1 file read, 1 would change: 2 uses rewritten, 0 left, 0 files refused\n"
    assert said in capsys.readouterr().out
