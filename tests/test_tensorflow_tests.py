"""The command that runs TensorFlow's own tests, on a small checkout."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

from compat.make import tensorflow_tests

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = pathlib.Path("tensorflow/python/distribute")

TESTS = """
import sibling
from absl.testing import parameterized
from tensorflow.python.distribute import combinations, strategy_combinations, tpu_strategy
from tensorflow.python.platform import test


class ValuesTest(test.TestCase, parameterized.TestCase):
    @combinations.generate(
        combinations.combine(
            strategy=[
                strategy_combinations.tpu_strategy, strategy_combinations.one_device_strategy
            ],
            mode=["eager"],
        )
    )
    def testCores(self, strategy):
        self.assertIsInstance(strategy, tpu_strategy.TPUStrategyV2)
        self.assertEqual(sibling.CORES, strategy.num_replicas_in_sync)

    def testMakeDistributedValueExplicitDevicePlacement(self):
        strategy = tpu_strategy.TPUStrategyV2()
        self.assertEqual("a TPU's name", strategy.extended.real_device)

    def testThatFails(self):
        self.assertEqual(3, tpu_strategy.TPUStrategyV2().num_replicas_in_sync)

    def testWithoutStrategy(self):
        self.fail()
""".replace("import sibling", "from tensorflow.python.distribute import sibling")


@pytest.mark.slow
def test_a_file_of_a_checkout(tmp_path):
    (tmp_path / FOLDER).mkdir(parents=True)
    (tmp_path / FOLDER / "sibling.py").write_text("CORES = 2\n")
    (tmp_path / FOLDER / "values_test.py").write_text(TESTS)
    report = tmp_path / "report.json"
    done = subprocess.run(
        [sys.executable, str(ROOT / "compat" / "make" / "tensorflow_tests.py"), str(tmp_path)]
        + [str(FOLDER / "values_test.py"), "--json", str(report)],
        env=dict(os.environ, PYTHONPATH=str(ROOT)),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done.stderr
    found = {name: result for name, (result, _) in json.loads(report.read_text()).items()}
    assert found == {
        "ValuesTest.testCores_test_mode_eager_strategy_TPU": "passed",
        "ValuesTest.testMakeDistributedValueExplicitDevicePlacement": "differs",
        "ValuesTest.testThatFails": "failed",
    }
    assert "ValuesTest.testThatFails: AssertionError: 3 != 2" in done.stdout


def test_every_difference_has_a_reason():
    text = (ROOT / "compat" / "make" / "tensorflow_tests.txt").read_text()
    for entry in text.split("\n\n")[1:]:
        lines = entry.strip("\n").split("\n")
        assert "::" in lines[0] and lines[-1].startswith("    "), entry


def test_a_difference_is_known_by_its_file():
    patterns = tensorflow_tests.differences()
    path = "x/y/values_v2_test.py"
    assert tensorflow_tests.known(path, "DistributedVariableTest.testRead", patterns)
    assert not tensorflow_tests.known(
        "x/vars_test.py", "DistributedVariableTest.testRead", patterns
    )
