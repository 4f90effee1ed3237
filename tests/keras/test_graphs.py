"""Keras in a TF 1 graph: Keras 2 trains there, Keras 3 says that it cannot.

In a process of its own, which starts without v2 behaviour.
"""

import json
import subprocess
import sys

import numpy as np
import pytest

from tpudist.tfcompat import versions

pytestmark = pytest.mark.slow

PROGRAM = """
import json
import tensorflow as tf
tf.compat.v1.disable_v2_behavior()
from tests.keras import harness
from tpudist.errors import TpudistError

found = {"errors": {}}
x, y = harness.rows(16)

def of(make):
    with tf.Graph().as_default(), tf.compat.v1.Session().as_default():
        model = make(harness.dense_net, harness.regress,
                     lambda: harness.keras.optimizers.SGD(0.1))
        called = {}
        for method, rows in [("fit", (x, y)), ("evaluate", (x, y)), ("predict", (x,))]:
            options = {"shuffle": False} if method == "fit" else {}
            try:
                called[method] = getattr(model, method)(*rows, batch_size=8, verbose=0, **options)
            except TpudistError as error:
                found["errors"][method] = [type(error).__name__, error.seen, error.instead]
                continue
        if "fit" in called:
            called["fit"] = called["fit"].history["loss"]
            called["predict"] = called["predict"].tolist()
            called["evaluate"] = [float(number) for number in called["evaluate"]]
        return called

def many(make, compiled, optimizer):
    if harness.keras.__version__.startswith("2"):
        return harness.distributed(2, make, compiled, optimizer)
    with harness.strategy_of(2).scope():
        return compiled(make(), optimizer())

for name, make in (("many", many), ("one", harness.single)):
    if not found["errors"]:
        found[name] = of(make)
print("FOUND" + json.dumps(found))
"""


@pytest.fixture(scope="module")
def found():
    """What each method gave, with and without a strategy, and the errors."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], timeout=300, capture_output=True)
    output = done.stdout.decode()
    assert "FOUND" in output, done.stderr.decode()[-2000:]
    return json.loads(output.split("FOUND")[1])


@pytest.mark.parametrize("method", ["fit", "evaluate", "predict"])
def test_the_loops_of_keras(found, method):
    if found["errors"]:
        kind, seen, instead = found["errors"][method]
        assert versions.KERAS_3 and kind == "ContextError" and "graph" in seen
        assert "tf.compat.v1.enable_v2_behavior()" in instead
    else:
        np.testing.assert_allclose(found["many"][method], found["one"][method], 1e-5, 1e-6)
