"""What CI runs: each step of .ci/run can be called by name, and workflows call nothing else."""

import configparser
import fnmatch
import importlib.util
import os
import pathlib
import re
import shutil
import stat
import subprocess

import pytest

from tests import ROOT
from tests.nightly import jobs
from tpudist.toolbox import table

WORKFLOWS = sorted(pathlib.Path(ROOT, ".github", "workflows").glob("*.yml"))

#: What `.ci/run` runs, in its order: a part of each step's first command behind its environment.
CHANGE = {
    "lint": "ruff check .",
    "readme": "-m pytest -m not slow",
    "site": "tests/test_site.py",
    "slow": "-m slow and not proof",
    "fused": "-q tests/virtual/vectorize/test_fusions.py",
    "replicas": "--disable-warnings -m not slow tests/conformance tests/contrib",
    "releases": "-m tpudist matrix",
}
OTHERS = {"types": "tests/types", "nightly": "-m tests.nightly", "archives": "-m tests.release"}

#: In the place of python3 and of all that environments have: it notes what it is called with,
#: makes environments of itself, and fails where $FAILS is in its words.
_STAND_IN = """#!/usr/bin/env bash
words="$(basename "$0") $*"
if [ "$1 $2" = "-m venv" ]; then
  mkdir -p "$3/bin"
  for each in python pip ruff vulture; do cp "$0" "$3/bin/$each"; done
elif [ "$1" = compat/make/readme_command.py ]; then
  echo 'python3 -m venv .venv-test && .venv-test/bin/pip install x' \\
    '&& .venv-test/bin/python -m pytest -m "not slow"'
else
  echo "$words" >> "$LOG"
  if [ -n "$FAILS" ]; then case "$words" in *"$FAILS"*) exit 7 ;; esac; fi
fi
"""


@pytest.fixture
def ran(tmp_path):
    """Runs a copy of .ci/run with stand-ins for programs; returns (exit code, calls, output)."""
    pytest.importorskip("fcntl", reason=".ci/run is a script of bash")
    for folder in ("bin", "checkout/.ci", "checkout/tests"):
        (tmp_path / folder).mkdir(parents=True)
    shutil.copy(os.path.join(ROOT, ".ci", "run"), str(tmp_path / "checkout" / ".ci"))
    (tmp_path / "checkout" / "CHANGELOG.md").write_text("changed\n", "utf-8")
    python = tmp_path / "bin" / "python3"
    python.write_text(_STAND_IN, "utf-8")
    python.chmod(python.stat().st_mode | stat.S_IXUSR)

    def start(*words, fails=""):
        log = tmp_path / "log"
        log.write_text("", "utf-8")
        path = os.pathsep.join([str(python.parent), os.environ["PATH"]])
        done = subprocess.run(
            ["bash", str(tmp_path / "checkout" / ".ci" / "run"), *words],
            env=dict(os.environ, PATH=path, LOG=str(log), FAILS=fails),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        return done.returncode, log.read_text("utf-8").splitlines(), done.stdout

    return start


def test_without_an_argument_all_steps_of_a_change_run_in_order(ran):
    code, calls, output = ran()
    assert code == 0 and output.splitlines()[-1].startswith("== all passed")
    places = [
        next(place for place, call in enumerate(calls) if part in call) for part in CHANGE.values()
    ]
    assert places == sorted(places) and len(set(places)) == len(CHANGE)
    installed = [call for call in calls if call == "pip install x"]
    assert len(installed) == 1, "the environment of tests is made once"
    assert not any(part in call for call in calls for part in OTHERS.values())


@pytest.mark.parametrize("step", CHANGE)
def test_the_first_step_that_fails_ends_it_with_its_exit_code(ran, step):
    code, calls, output = ran(fails=CHANGE[step])
    assert code == 7 and "all passed" not in output
    assert CHANGE[step] in calls[-1]


@pytest.mark.parametrize("step", [*CHANGE, *OTHERS])
def test_a_step_is_called_by_name_in_an_environment_that_it_makes(ran, step):
    code, calls, _ = ran(step)
    parts = dict(CHANGE, **OTHERS)
    of_steps = [call for call in calls if not call.startswith("pip install")]
    assert code == 0 and calls[0].startswith("pip install")
    assert parts[step] in of_steps[0]
    assert ran(step, fails=parts[step])[0] == 7


def test_dead_code_fails_the_lint(ran):
    code, calls, _ = ran("lint", fails="vulture --config vulture.toml")
    assert code == 7 and [call.split()[0] for call in calls] == ["pip", "ruff", "ruff", "vulture"]


def test_readmes_tests_measure_coverage_and_the_others_do_not(ran):
    measured = [call for call in ran()[1] if "--cov" in call]
    assert measured == ["python -m pytest -m not slow --cov"]
    settings = configparser.ConfigParser(interpolation=None)
    settings.read(os.path.join(ROOT, "setup.cfg"))
    assert settings["coverage:run"]["source"] == "tpudist"
    assert settings.getint("coverage:report", "fail_under") >= 85


def test_each_name_that_is_allowed_to_have_no_use_is_there():
    words = set()
    for folder in ("tpudist", "compat", "examples"):
        for path in pathlib.Path(ROOT, folder).rglob("*.py"):
            words.update(re.findall(r"\w+", path.read_text("utf-8")))
    _, _, allowed = pathlib.Path(ROOT, "vulture.toml").read_text("utf-8").partition("ignore_names")
    assert [
        each for each in re.findall('"(.+?)"', allowed) if not fnmatch.filter(words, each)
    ] == []


def test_a_step_hands_its_arguments_on(ran):
    assert "matrix --project .[test] --releases 1.13,1.15,2.2,2.15" in ran("releases")[1][-1]
    assert "--releases 1.15 --" in ran("releases", "1.15")[1][-1]
    assert ran("nightly", "random", "--releases", "2.2")[1][-1].endswith("random --releases 2.2")


def test_a_step_that_is_not_there_is_refused_with_those_that_are(ran):
    code, calls, output = ran("nope")
    assert (code, calls) == (2, [])
    assert "no step nope" in output and " ".join(CHANGE) in output


def commands(workflow):
    """Each command line of a workflow's jobs, with every value of its matrix, as words."""
    yaml = pytest.importorskip("yaml", reason="workflows are YAML")
    for job in yaml.safe_load(workflow.read_text("utf-8"))["jobs"].values():
        varied = job.get("strategy", {}).get("matrix", {"": [""]})
        for name, values in varied.items():
            for value in values:
                for step in job["steps"]:
                    line = step.get("run", "").replace("${{ matrix.%s }}" % name, value)
                    yield from (each.split() for each in line.splitlines())


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_commands_of_a_workflow_are_there(workflow):
    found = list(commands(workflow))
    assert found
    for program, *words in found:
        if program == ".ci/run":
            assert words[0] in CHANGE or words[0] in OTHERS
            assert words[0] != "releases" or words[1] in table.read()
            assert words[0] != "nightly" or words[1] in jobs.PARTS
        else:
            assert program.startswith(".venv-") and words[0] == "-m"
            assert importlib.util.find_spec(words[1])


def test_workflows_are_of_a_change_the_long_proofs_the_site_and_a_release():
    assert [path.stem for path in WORKFLOWS] == ["change", "nightly", "release", "site"]
    called = {path.stem: list(commands(path)) for path in WORKFLOWS}
    assert [".ci/run", "readme"] in called["change"]
    assert [words[2] for words in called["nightly"]] == jobs.PARTS
    assert len([words for words in called["change"] if words[1] == "releases"]) == 3
