"""AutoGraph converts a replica function where it converts the function that runs it."""

import pytest
import tensorflow as tf

from tests.conformance import modes
from tpudist.tfcompat import versions

pytestmark = pytest.mark.skipif(
    not versions.RUN_CONVERTS, reason="before 1.15 TensorFlow's own run converts nothing"
)


def branch(x):
    if tf.reduce_sum(x) > 0.0:
        y = x * 2.0
    else:
        y = x * 3.0
    return y


def loop(x):
    while tf.reduce_sum(x) < 10.0:
        x = x * 2.0
    return x


def positive_loop(x):
    return loop(tf.abs(x))


def caller(x):
    return branch(x) + 1.0


class Layer:
    def call(self, x):
        return branch(x)


FUNCTIONS = {
    "branch": (branch, [2.0, -3.0]),
    "loop": (positive_loop, [16.0, 16.0]),
    "called": (caller, [3.0, -2.0]),
    "method": (Layer().call, [2.0, -3.0]),
}


@pytest.fixture
def strategy(surface):
    return surface.strategy("virtual:2")


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
@pytest.mark.parametrize("form", ["direct", "bound", "loop"])
@modes.covers("run", eras=("v2_2",))
@modes.covers("experimental_run_v2")
def test_a_condition_on_a_tensor(surface, strategy, name, form):
    fn, expected = FUNCTIONS[name]
    values = modes.per_replica(surface, strategy, [1.0, -1.0])
    run = strategy.run if surface is modes.V2_2 else strategy.experimental_run_v2

    @tf.function
    def step(x):
        if form == "bound":
            return run(fn, args=(x,))
        return surface.run(strategy, fn, x)

    @tf.function
    def steps(x):
        first = second = tf.zeros([])
        for _ in tf.range(2):
            first, second = strategy.experimental_local_results(surface.run(strategy, fn, x))
        return first, second

    found = steps(values) if form == "loop" else strategy.experimental_local_results(step(values))
    assert [part.numpy() for part in found] == expected


def test_not_where_the_user_turned_it_off(surface, strategy):
    values = modes.per_replica(surface, strategy, [1.0, -1.0])
    step = tf.function(lambda x: surface.run(strategy, branch, x), autograph=False)
    with pytest.raises(Exception, match="[Bb]ool"):
        step(values)
