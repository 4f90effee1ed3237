"""``tpudist matrix`` as a whole: real environments of fake wheels."""

import glob
import os

import pytest

SAYS = (
    "import os, sys, tensorflow, mine; print(tensorflow.__version__, mine.value, "
    "os.environ['TPUDIST_TPU'], os.environ['TPUDIST_EXPECT_TF'], os.environ['ROW'])"
)


def table_of(text):
    """{release: line} of the table at the end."""
    lines = text[text.index("\nrelease ") :].strip().splitlines()[1:]
    return {line.split()[0]: line for line in lines if line[:1].isdigit()}


def test_the_command_runs_in_each_release(matrix):
    code, said = matrix("--releases", "9.1,9.2", "--", "python", "-c", SAYS)
    assert code == 0, said
    assert "9.1.0 1 virtual:8 9.1 of 9.1" in said
    assert "9.2.3 1 virtual:8 9.2 of 9.2" in said
    assert " passed " in table_of(said)["9.1"] and "9.2.3" in table_of(said)["9.2"]


def test_environments_are_kept_and_code_changes_need_no_new_one(matrix, machine):
    matrix("--releases", "9.1", "--", "python", "-c", SAYS)
    (machine / "mine.py").write_text("value = 2  # Python looks at size and second\n")
    code, said = matrix("--releases", "9.1", "--", "python", "-c", SAYS)
    assert code == 0 and "setting up" not in said and "9.1.0 2 " in said


@pytest.mark.slow
@pytest.mark.parametrize("change", ["metadata", "with", "fresh", "interrupted"])
def test_environments_are_made_anew(matrix, machine, change):
    matrix("--releases", "9.1")
    extra = []
    if change == "metadata":
        (machine / "requirements.txt").write_text("extra-thing\n")
    elif change == "interrupted":
        (kept,) = glob.glob(os.path.join(os.environ["TPUDIST_CACHE"], "matrix", "*", "9.1"))
        os.unlink(os.path.join(kept, "tpudist-matrix.json"))
    else:
        extra = {"with": ["--with", "extra-thing"], "fresh": ["--fresh"]}[change]
    code, said = matrix("--releases", "9.1", *extra)
    assert code == 0 and "setting up" in said


def test_with_installs_more(matrix):
    code, said = matrix(
        "--releases",
        "9.1",
        "--with",
        "extra-thing",
        "--",
        "python",
        "-c",
        "import extra_thing_is_here, pytest_is_here, tpudist_is_here",
    )
    assert code == 0, said


def test_a_failure_is_told_and_the_others_run(matrix):
    code, said = matrix(
        "--releases",
        "9.1,9.2",
        "--",
        "python",
        "-c",
        "import tensorflow; assert tensorflow.__version__ > '9.2', 'too old'",
    )
    assert code == 1
    assert "failed (1)" in table_of(said)["9.1"] and "too old" in table_of(said)["9.1"]
    assert "passed" in table_of(said)["9.2"]


def test_fail_fast_names_what_was_not_run(matrix):
    code, said = matrix("--releases", "9.1,9.2", "--fail-fast", "--", "python", "-c", "1/0")
    assert code == 1 and "not run" in table_of(said)["9.2"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("release", "words"),
    [
        ("9.3", "the environment has TensorFlow 9.2.0"),
        ("9.4", "no libcuda"),
        ("9.5", "tensorflow-cpu==9.5.0"),
    ],
)
def test_what_cannot_be_set_up_is_an_error(matrix, release, words):
    for _ in range(2):  # nothing half-made is taken for good
        code, said = matrix("--releases", release + ",9.1", "--", "python", "-c", "pass")
        assert code == 2 and words in said
        assert "not set up" in table_of(said)[release] and "passed" in table_of(said)["9.1"]


def test_an_unknown_command_is_an_error(matrix):
    code, said = matrix("--releases", "9.1", "--", "pytset")
    assert code == 2 and "--with pytset" in said


def test_without_a_command_environments_are_set_up(matrix):
    code, said = matrix("--releases", "9.1")
    assert code == 0 and "ready" in table_of(said)["9.1"]


def test_ctrl_c_leaves_a_table(matrix, monkeypatch):
    from tpudist.tools.matrix import running

    def interrupted(*unused):
        raise KeyboardInterrupt

    monkeypatch.setattr(running, "run", interrupted)
    code, said = matrix("--releases", "9.1,9.2", "--", "python")
    assert code == 130
    assert "interrupted" in table_of(said)["9.1"] and "not run" in table_of(said)["9.2"]


def test_a_folder_of_scripts_needs_no_project(matrix, machine):
    (machine / "pyproject.toml").unlink()
    code, said = matrix(
        "--releases",
        "9.1",
        "--",
        "python",
        "-c",
        "import tensorflow, sys; sys.path.insert(0, '.'); import mine",
    )
    assert code == 0, said


@pytest.mark.slow
def test_the_command_may_name_the_release(matrix, machine):
    code, said = matrix("--releases", "9.1,9.2", "--", "python", "-c", "open('{release}.xml', 'w')")
    assert code == 0 and (machine / "9.1.xml").exists() and (machine / "9.2.xml").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "names no release"),
        (["--releases", "9.1,8.0"], "--releases 8.0"),
        (["--releases", "9.1", "--project", "nowhere"], "there is no folder 'nowhere'"),
    ],
)
def test_usage_errors(matrix, arguments, words):
    code, said = matrix(*arguments)
    assert code == 2 and words in said and "Instead: " in said


def test_list(matrix):
    code, said = matrix("--list")
    assert code == 0 and len(said.splitlines()) == 5 and "tensorflow-cpu==9.2.3" in said
