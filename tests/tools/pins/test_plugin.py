"""The plugin: first run records, later runs compare, CI never records."""

import subprocess
import sys

import pytest

from tests.tools.pins import harness
from tpudist import machine

pytest_plugins = "pytester"

TWO = """
def test_a(pin):
    pin.check("loss", [1., {a}])
    pin.check("other", "same")
def test_b(pin):
    pin.check("loss", {b})
"""


@pytest.fixture
def module(pytester, monkeypatch):
    return harness.Module(pytester, monkeypatch)


def test_the_first_run_records_and_the_next_compares(module):
    module.check("[1., .5]").stdout.fnmatch_lines("pins: 1 recorded")
    assert module.pins == {"test_it": {"it": {"2.15": [1.0, 0.5]}}}
    module.check("[1., .5]").stdout.fnmatch_lines("pins: 1 compared")


def test_a_difference_fails_side_by_side(module):
    module.check("[1., .5, .25]")
    result = module.check("[1., .6, .25]")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*pin 'it' of test_x.py::test_it differs on TensorFlow 2.15",
            "*first difference at step 1; 1 of 3 steps differ",
            "*step  expected  obtained  difference",
            "*>  1     0.5       0.6       0.1",
            "*rtol=1e-05, atol=1e-08; recorded on TensorFlow 2.15",
            "*Instead: pytest test_x.py::test_it --pins-update, if the new value is right",
        ]
    )
    assert module.pins["test_it"]["it"] == {"2.15": [1.0, 0.5, 0.25]}


def test_tolerances(module):
    module.check("100.")
    module.check("101., rtol=.02").assert_outcomes(passed=1)
    module.check("101., rtol=0, atol=1.5").assert_outcomes(passed=1)
    module.check("101., rtol=0, atol=.5").assert_outcomes(failed=1)


@pytest.mark.parametrize("value", ["1", "true"])
def test_ci_never_records(module, monkeypatch, value):
    monkeypatch.setenv("CI", value)
    result = module.check("1.")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines("*CI is set*Instead: pytest test_x.py::test_it, on your machine*")
    assert not module.path.exists()


def test_ci_compares(module, monkeypatch):
    module.check("1.")
    monkeypatch.setenv("CI", "1")
    module.check("1.").assert_outcomes(passed=1)
    module.check("2.").assert_outcomes(failed=1)


def test_ci_set_to_no_is_no_ci(module, monkeypatch):
    monkeypatch.setenv("CI", "false")
    module.check("1.").assert_outcomes(passed=1)


def test_update_changes_only_what_differs(module):
    module.run(TWO.format(a=2.0, b=3.0))
    before = module.path.read_text()
    result = module.run(TWO.format(a=2.0 + 1e-9, b=4.0), "--pins-update")
    result.stdout.fnmatch_lines("pins: 1 updated, 2 compared")
    assert module.path.read_text() == before.replace("3.0", "4.0")


def test_record_changes_everything_of_this_release(module):
    module.run(TWO.format(a=2.0, b=3.0))
    result = module.run(TWO.format(a=2.0 + 1e-9, b=3.0), "--pins-record", release="2.21")
    result.stdout.fnmatch_lines("pins: 3 recorded")
    assert module.pins["test_a"]["loss"] == {"2.15": [1.0, 2.0], "2.21": [1.0, 2.0 + 1e-9]}


def test_another_release_is_compared_with_the_nearest(module):
    module.check("1.", release="1.15")
    module.check("2.", "--pins-record", release="2.15")
    module.check("1.", release="2.2").assert_outcomes(passed=1)
    result = module.check("1.", release="2.16")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        "*recorded on TensorFlow 2.15, the nearest with a record; there is none of 2.16"
    )
    assert set(module.pins["test_it"]["it"]) == {"1.15", "2.15"}


def test_its_own_record_comes_first(module):
    module.check("1.", release="2.15")
    module.check("2.", "--pins-update", release="2.16")
    module.check("1.", release="2.15").assert_outcomes(passed=1)
    module.check("2.", release="2.16").assert_outcomes(passed=1)


def test_a_pin_has_one_value_in_a_test(module):
    result = module.run("def test_it(pin):\n  for i in range(2): pin.check('loss', i)\n")
    result.stdout.fnmatch_lines("*pin 'loss' is checked twice*a list of the values*")


def test_a_pin_keeps_its_kind(module):
    module.check("[1.]")
    result = module.run("def test_it(pin): pin.check_structure('it', [1.])")
    result.stdout.fnmatch_lines("*recorded as value, and this is structure")
    module.run("def test_it(pin): pin.check_structure('it', [1.])", "--pins-update")
    assert module.pins["test_it"]["it"] == {"2.15": ["float"]}


def test_parameters_and_classes_have_their_own_pins(module):
    module.run(
        "import pytest\n@pytest.mark.parametrize('n', [1, 8])\nclass TestX:\n"
        "  def test_it(self, pin, n): pin.check('n', n)\n"
    )
    assert module.pins == {
        "TestX::test_it[1]": {"n": {"2.15": 1}},
        "TestX::test_it[8]": {"n": {"2.15": 8}},
    }


def test_a_merge_conflict_is_named(module):
    module.check("1.")
    module.path.write_text("<<<<<<< HEAD\n" + module.path.read_text())
    module.check("1.").stdout.fnmatch_lines("*pin file *test_x.pins.json*merge conflict*")


def test_installed_it_imports_nothing_heavy(tmp_path):
    (tmp_path / "test_y.py").write_text(
        "import sys\ndef test_y():\n"
        "  assert not {'numpy', 'tensorflow', 'tpudist.tools.pins.fixture'} & set(sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "tpudist.tools.pins.plugin", str(tmp_path)],
        env=harness.quiet(),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    assert "pins" not in done.stdout


def test_what_a_tpu_would_refuse_fails_if_it_is_asked_for(pytester, monkeypatch):
    monkeypatch.setenv(machine.TPU_CHECK, "off")
    pytester.makepyfile(
        test_x="""
        import os

        def test_x():
            assert os.environ["TPUDIST_TPU_CHECK"] == "error"
        """
    )
    result = pytester.runpytest_inprocess("--tpu-check", "error")
    result.assert_outcomes(passed=1)
