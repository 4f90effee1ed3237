"""Keras in a TF 1 graph: one error on every release, which says what to do.

In a process of its own: Keras leaves the strategy's scope entered.
"""

import json
import subprocess
import sys

import pytest

PROGRAM = """
import json
import tensorflow as tf
tf.compat.v1.disable_v2_behavior()
from tests.keras import harness
from tpudist.errors import TpudistError

found = {}
x, y = harness.rows(16)
for method, rows in [("fit", (x, y)), ("evaluate", (x, y)), ("predict", (x,))]:
    with tf.Graph().as_default(), tf.compat.v1.Session().as_default():
        with harness.strategy_of(2).scope():
            model = harness.dense_net()
            model.compile("sgd", "mse")
        try:
            getattr(model, method)(*rows, batch_size=8, verbose=0)
        except TpudistError as error:
            found[method] = [type(error).__name__, error.seen, error.why,
                             error.instead]
print("FOUND" + json.dumps(found))
"""


@pytest.fixture(scope="module")
def errors():
    """{method: [class, seen, why, instead] of the error that it raised}."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], timeout=300, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    output = done.stdout.decode()
    assert "FOUND" in output, done.stderr.decode()[-2000:]
    return json.loads(output.split("FOUND")[1])


@pytest.mark.parametrize("method", ["fit", "evaluate", "predict"])
def test_the_loops_of_keras_are_refused(errors, method):
    kind, seen, why, instead = errors[method]
    assert kind == "ContextError" and "graph" in seen and why
    assert "tf.compat.v1.enable_v2_behavior()" in instead
