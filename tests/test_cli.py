"""The command line: verbs, exit codes, messages, and whose arguments are whose."""

import os
import subprocess
import sys
import types

import pytest

from tests import ROOT
from tpudist import __version__, cli, console, errors, run


@pytest.fixture
def runner(monkeypatch):
    """Stands in for the script runner; ``calls`` holds what it was asked."""
    stub = types.ModuleType("tpudist.legacy.runner")
    stub.calls, stub.answer = [], 0

    def of_options(given, tpu, around):
        more = (given.keras, *given.also, *given.left_out, given.module)
        call = (given.script, given.arguments, given.era, tpu)
        stub.calls.append(call + tuple(each for each in more if each))
        if isinstance(stub.answer, BaseException):
            raise stub.answer
        return stub.answer

    stub.of_options = of_options
    legacy = types.ModuleType("tpudist.legacy")
    legacy.runner = stub
    monkeypatch.setitem(sys.modules, "tpudist.legacy", legacy)
    monkeypatch.setitem(sys.modules, "tpudist.legacy.runner", stub)
    return stub


@pytest.mark.parametrize(
    ("argv", "call"),
    [
        (["train.py"], ("train.py", [], None, None)),
        (["--era", "2.0", "train.py"], ("train.py", [], "2.0", None)),
        (
            ["--era=contrib", "--tpu=virtual:8", "train.py"],
            ("train.py", [], "contrib", "virtual:8"),
        ),
        (
            ["--tpu", "mine", "train.py", "--tpu", "other", "--era=9", "-h", "--", "x"],
            ("train.py", ["--tpu", "other", "--era=9", "-h", "--", "x"], None, "mine"),
        ),
        (["--keras", "installed", "train.py"], ("train.py", [], None, None, "installed")),
        (["--also", "a", "--not", "b", "train.py"], ("train.py", [], None, None, "a", "b")),
        (["-m", "pack.train", "-m", "x"], (None, ["-m", "x"], None, None, "pack.train")),
        (["--era=2.0", "-mpack", "--era", "x"], (None, ["--era", "x"], "2.0", None, "pack")),
        (["train.py", "--help"], ("train.py", ["--help"], None, None)),
        (["train.py", "--", "--json"], ("train.py", ["--", "--json"], None, None)),
    ],
)
def test_what_follows_the_script_is_the_scripts(runner, argv, call):
    assert cli.main(["run"] + argv) == 0
    assert runner.calls == [call]


@pytest.mark.parametrize(("answer", "code"), [(0, 0), (None, 0), (3, 3)])
def test_exit_code_is_the_scripts(runner, answer, code):
    runner.answer = answer
    assert cli.main(["run", "train.py"]) == code


def test_system_exit_of_the_script_passes(runner):
    runner.answer = SystemExit(5)
    with pytest.raises(SystemExit) as caught:
        cli.main(["run", "train.py"])
    assert caught.value.code == 5


def test_other_errors_of_the_script_keep_their_traceback(runner):
    runner.answer = ValueError("the script's own")
    with pytest.raises(ValueError, match="the script's own"):
        cli.main(["run", "train.py"])


def test_a_tpudist_error_is_one_message(runner, capsys, monkeypatch):
    monkeypatch.delenv("TPUDIST_TRACEBACK", raising=False)
    runner.answer = errors.TPUNameError("virtual:9", "no slice has 9 cores", "virtual:8")
    assert cli.main(["run", "train.py"]) == 2
    assert capsys.readouterr() == (
        "",
        "tpudist: error: virtual:9. no slice has 9 cores. Instead: virtual:8\n",
    )


def test_traceback_on_request(runner, monkeypatch):
    monkeypatch.setenv("TPUDIST_TRACEBACK", "1")
    runner.answer = errors.TPUNameError("a", "b", "c")
    with pytest.raises(errors.TPUNameError):
        cli.main(["run", "train.py"])


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        ([], "VERB"),
        (["fly"], "invalid choice"),
        (["run", "--era", "1.9", "x.py"], "invalid choice: '1.9'"),
        (["run", "--er", "2.0", "x.py"], "unrecognized arguments"),
        (["doctor", "--jsn"], "unrecognized arguments"),
        (["matrix", "--release", "2.15"], "unrecognized arguments"),
        (["doctor", "--jsn"], "usage: tpudist doctor"),
        (["matrix", "--nope", "--", "x"], "usage: tpudist matrix --releases"),
        (
            ["matrix", "--releases", "2.15", "pytest", "-x"],
            "pytest stands before '--'. Behind it is what is run. "
            "Instead: tpudist matrix --releases 2.15 -- pytest -x",
        ),
        (["launch", "--hosts", "h", "x.py"], "Instead: tpudist launch --hosts h -- x.py"),
        (["pins"], "ACTION"),
        (["pins", "draw"], "invalid choice"),
    ],
)
def test_usage_errors_exit_2(runner, capsys, argv, words):
    with pytest.raises(SystemExit) as caught:
        cli.main(argv)
    assert caught.value.code == 2
    assert words in capsys.readouterr().err
    assert runner.calls == []


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["--help"], "doctor"),
        (["run", "--help"], "--era"),
        (["doctor", "--help"], "--constraints"),
        (["matrix", "--help"], "--releases"),
        (["pins", "--help"], "report"),
        (["pins", "report", "--help"], "PATH"),
        (["--version"], __version__),
        *((verb.split() + ["--version"], __version__) for verb in cli.VERBS),
    ],
)
def test_help_and_version_exit_0(capsys, argv, words):
    with pytest.raises(SystemExit) as caught:
        cli.main(argv)
    assert caught.value.code == 0
    assert words in capsys.readouterr().out


@pytest.mark.parametrize(
    ("option", "is_verbose", "noted"), [([], False, 1), (["-q"], False, 0), (["-v"], True, 1)]
)
def test_how_loud_a_command_is(runner, capsys, option, is_verbose, noted):
    seen = []

    def of_options(*given):
        seen.append(console.is_verbose())
        console.note("a note")

    runner.of_options = of_options
    cli.main(["run"] + option + ["train.py", "-q", "-v"])
    assert (seen, capsys.readouterr().err) == ([is_verbose], "a note\n" * noted)
    assert not console.is_verbose()


def test_a_verbose_command_shows_the_traceback(runner):
    runner.answer = errors.TPUNameError("a", "b", "c")
    with pytest.raises(errors.TPUNameError):
        cli.main(["run", "-v", "train.py"])


def test_help_prints_the_guides(capsys):
    assert cli.main(["help"]) == 0
    topics = [line.split()[2] for line in capsys.readouterr().out.splitlines()]
    assert len(topics) > 5
    for topic in topics:
        assert cli.main(["help", topic]) == 0
        guide = os.path.join(ROOT, "examples", "guides", topic + ".md")
        with open(guide, encoding="utf-8") as file:
            assert capsys.readouterr().out == file.read()
    assert cli.main(["help", "nothing"]) == 2
    assert "help run" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("argv", "releases", "command"),
    [
        (
            ["--releases", "2.15", "--", "pytest", "--releases", "x", "--", "-h"],
            "2.15",
            ["pytest", "--releases", "x", "--", "-h"],
        ),
        (["--releases", "2.15"], "2.15", []),
        (["--releases", "2.15", "--"], "2.15", []),
    ],
)
def test_matrix_passes_its_options_and_the_command(monkeypatch, argv, releases, command):
    from tpudist.tools import matrix

    monkeypatch.setattr(matrix, "run", lambda options: (options.releases, options.arguments))
    assert cli.main(["matrix"] + argv) == (releases, command)


def test_eras_are_those_of_the_table():
    from tpudist import surfaces

    assert [surfaces.era_named(era) for era in run.ERAS] == list(surfaces.ERAS)


def test_python_m_tpudist():
    process = subprocess.run(
        [sys.executable, "-m", "tpudist", "--version"], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert (process.returncode, process.stdout) == (0, "tpudist %s\n" % __version__)


def test_missing_tensorflow_names_the_extra(bare_python, tmp_path):
    script = tmp_path / "train.py"
    script.write_text("import tensorflow as tf\ntf.get_tower_context()\n")
    process = bare_python("-m", "tpudist", "run", "--era", "contrib", str(script))
    assert process.returncode == 2, process.stderr
    assert 'pip install "tpudist[tensorflow]"' in process.stderr
    assert process.stderr.startswith("tpudist") and process.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["run", "--tpu", "virtual:0", "{script}"], "TPU name 'virtual:0'"),
        (["run", "--tpu", "virtual:x", "{script}"], "TPU name 'virtual:x'"),
        (["selftest", "--tpu", "virtual:zz"], "TPU name 'virtual:zz'"),
        (["matrix", "--list", "--tpu", "virtual:zz"], "TPU name 'virtual:zz'"),
        (["doctor", "--constraints", "1.12"], "Instead: tpudist doctor --constraints "),
        (["migrate", "--to", "2.2"], "no PATH"),
        (["migrate", "{folder}"], "no --to"),
        (["run", "--compile", "v5e:2x4", "nope.py"], "no file nope.py"),
        (["run", "--compile", "v5e:2x4", "-m", "nope"], "no module named nope"),
    ],
)
def test_a_wrong_argument_is_told_before_anything_else(tmp_path, capsys, monkeypatch, argv, words):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TPUDIST_TPU", raising=False)
    monkeypatch.setitem(sys.modules, "libtpu", None)
    script = tmp_path / "script.py"
    script.write_text("print('ran')\n")
    assert cli.main([each.format(script=script, folder=tmp_path) for each in argv]) == 2
    out, err = capsys.readouterr()
    assert words in err and "Instead: " in err and "ran" not in out
    assert [each.name for each in tmp_path.iterdir()] == ["script.py"]


@pytest.mark.parametrize(
    ("argv", "where"),
    [
        (["help", "run"], "tpudist.guides.text"),
        (["doctor"], "tpudist.tools.doctor.run"),
        (["matrix", "--list"], "tpudist.tools.matrix.run"),
        (["migrate", ".", "--to", "2.0"], "tpudist.tools.migrate.run"),
    ],
)
def test_ctrl_c_is_one_line(monkeypatch, capsys, argv, where):
    def interrupted(*unused, **also_unused):
        raise KeyboardInterrupt

    monkeypatch.setattr(where, interrupted)
    assert cli.main(argv) == 130
    assert capsys.readouterr() == ("", "tpudist: interrupted\n")


def test_ctrl_c_of_a_script_is_the_scripts(runner):
    runner.answer = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        cli.main(["run", "train.py"])


def test_constraints_are_the_rows_of_the_matrix(capsys):
    from tpudist.toolbox import table

    row = table.read()["1.15"]
    assert cli.main(["doctor", "--constraints", "1.15"]) == 0
    first, *pins = capsys.readouterr().out.splitlines()
    assert first.startswith("# TensorFlow 1.15, on Python 3.7: pip install -c ")
    assert pins == [row.requirement, *row.constraints] and "protobuf==3.20.3" in pins


def test_a_reader_that_has_enough_ends_it_without_a_word():
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "tpudist", "migrate", "--list-rules"]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    assert (done.returncode, done.stderr) == (1, b"")


def test_run_says_of_protobuf_what_doctor_says(tmp_path):
    from tpudist.tools.doctor import releases

    (tmp_path / "tensorflow").mkdir()
    raised = "raise TypeError('Descriptors cannot be created directly.\\nIf this call came ...')\n"
    (tmp_path / "tensorflow" / "__init__.py").write_text(raised)
    (tmp_path / "train.py").write_text("import tensorflow as tf\n")
    done = subprocess.run(
        [sys.executable, "-m", "tpudist", "run", "train.py"],
        cwd=str(tmp_path),
        env=dict(os.environ, PYTHONPATH=os.pathsep.join([str(tmp_path), ROOT])),
        stderr=subprocess.PIPE,
        text=True,
    )
    (line,) = done.stderr.splitlines()
    assert done.returncode == 2 and "Descriptors cannot be created directly. " in line
    needs = [dict(row[:2] for row in releases.needs(release, [])) for release in ("2.11", "2.12")]
    assert line.endswith('Instead: pip install "protobuf%s"' % needs[0]["protobuf"])
    assert "TensorFlow up to 2.11" in line and "protobuf" not in needs[1]
