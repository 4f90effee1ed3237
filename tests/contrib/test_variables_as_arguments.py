"""Variables given to towers as arguments: each tower has its own, and joined they are one again."""

import pytest
import tensorflow as tf

from tests.contrib.harness import close, strategy_of, tf1
from tpudist.contrib.distribute import get_tower_context

KINDS = ["once", "split", "per tower"]


def make(distribution, kind, towers):
    """A variable that is stored so, and what gives tower 1 the value 5 (all, if stored once)."""
    kwargs = {}
    if kind == "per tower":
        kwargs.update(
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.SUM,
            trainable=False,
        )
    variable = tf1.get_variable("v", initializer=1.0, use_resource=True, **kwargs)
    if kind == "once":
        return variable, variable, [1.0] * towers
    assigned = distribution.unwrap(variable)[1].assign(5.0)
    return variable, assigned, [1.0, 5.0] + [1.0] * (towers - 2)


@pytest.mark.parametrize("kind", KINDS)
def test_a_tower_that_returns_its_argument(mode, kind):
    distribution = strategy_of(3)
    with distribution.scope():
        variable, ready, expected = make(distribution, kind, 3)

        def tower(given):
            return {"it": given["it"], "twice": given["it"] * 2.0}

        result = distribution.call_for_each_tower(tower, {"it": variable})
        mode.run(ready)
        values = mode.run([part.read_value() for part in distribution.unwrap(result["it"])])
        close(values, expected)
        close(mode.run(distribution.unwrap(result["twice"])), [2 * each for each in expected])
    assert result["it"] is variable


@pytest.mark.parametrize("kind", KINDS)
def test_towers_that_meet_with_their_argument(mode, kind):
    distribution = strategy_of(3)
    seen = []

    def merge(distribution, given, named):
        seen.extend([given, named])
        return sum(part.read_value() for part in distribution.unwrap(given))

    with distribution.scope():
        variable, ready, expected = make(distribution, kind, 3)
        result = distribution.call_for_each_tower(
            lambda given: get_tower_context().merge_call(merge, given, named=given) + given,
            variable,
        )
        mode.run(ready)
        found = mode.run(distribution.unwrap(result))
        close(found, [sum(expected) + each for each in expected])
    assert all(each is variable for each in seen)


def test_an_optimizer_that_is_given_an_argument(mode):
    distribution = strategy_of(2)
    with distribution.scope():
        variable, _, _ = make(distribution, "once", 2)

        def tower(given, i):
            optimizer = tf1.train.GradientDescentOptimizer(0.5)
            with tf.GradientTape() as tape:
                loss = given * tf.cast(i + 1, tf.float32)
            return optimizer.apply_gradients([(tape.gradient(loss, given), given)])

        done = distribution.call_for_each_tower(tower, variable, distribution.worker_device_index)
        mode.run(distribution.unwrap(done) if not mode.eager else [])
        close(mode.run(variable.read_value()), 1.0 - 0.5 * 3)
