"""The step of run_steps_on_dataset: one trace for all towers, unless it asks which one it is."""

import functools
import random

import numpy as np
import pytest
import tensorflow as tf

from tests.contrib import harness
from tests.contrib.harness import close, tf1
from tpudist import machine
from tpudist.contrib.distribute import VariableAggregation, get_tower_context
from tpudist.tfcompat import versions
from tpudist.virtual.replicas import python_ids

TOWERS = 4
MEAN = VariableAggregation.MEAN
SUM = VariableAggregation.SUM

traces = pytest.mark.skipif(not versions.TRACES_AS_FIRST, reason="1.13 traces each tower")
before_2_4 = pytest.mark.skipif(
    versions.TRACE_ONCE or not versions.TRACES_AS_FIRST, reason="2.4 numbers random ops by tower"
)

keras_2 = pytest.mark.skipif(
    getattr(tf.keras, "__version__", "2").startswith("3"),
    reason="Keras 3 counts layers over all graphs, and has no tf.layers",
)

#: What is kept in Python, as a program's module would.
seen = []
count = 0


class Net:
    """A model that makes its variables when it is called."""

    def __init__(self, name):
        self.name = name

    def __call__(self, x):
        kernels = []
        kernels.append(tf1.get_variable(self.name, [], initializer=tf1.ones_initializer()))
        return kernels[-1] * x


class Remembers(Net):
    """One that keeps its last output."""

    def __call__(self, x):
        self.last = super().__call__(x)
        return self.last


class Asks(Net):
    """One that asks which tower it is in."""

    def __call__(self, x):
        return super().__call__(x) + (1.0 if get_tower_context().tower_id else 0.0)


class Layer(tf.keras.layers.Layer):
    """A layer that is built in the first tower."""

    def build(self, shape):
        self.kernel = self.add_weight(name="kernel", shape=[], initializer="ones")
        super().build(shape)

    def call(self, x):
        return self.kernel * x


layer = Layer()


def of_a_class(x):
    return Net("inside")(x)


def of_a_layer(x):
    return Layer()(x)


def with_lists_of_its_own(x):
    kept, made = [], {}
    for name in ("a", "b"):
        kept.append(tf1.get_variable(name, [], initializer=tf1.ones_initializer()))
        made[name] = kept[-1] * x
    made.update({"c": x})
    return tf.add_n(list(made.values()))


def with_control_flow(x):
    w = tf1.get_variable("w", [], initializer=tf1.ones_initializer())
    x = tf.cond(x > 2.0, lambda: x * w, lambda: x - w)
    return tf1.while_loop(lambda y: y < 20.0, lambda y: y + 7.0, [x])


def with_a_merge(x):
    def merge_fn(distribution, x):
        return tf.add_n(distribution.unwrap(x))

    return x * get_tower_context().merge_call(merge_fn, x)


def with_batch_normalization(x):
    y = tf1.layers.batch_normalization(tf.reshape(x, [1, 1]), training=True, momentum=0.5)
    with tf.control_dependencies(tf1.get_collection(tf1.GraphKeys.UPDATE_OPS)):
        return tf.reshape(y, [])


def with_an_own_seed(x):
    return x + tf1.random_uniform([], seed=3)


def to_a_list(x):
    seen.append(x)
    return x


def to_a_global(x):
    global count
    count += 1
    return x * count


def by_tower(x):
    return x * (1.0 if get_tower_context().tower_id == 0 else 3.0)


def by_device(x):
    return x + float(get_tower_context().device[-1])


def by_a_name(x):
    return x * (1.0 if getattr(get_tower_context(), "tower_id") == 0 else 3.0)  # noqa: B009


def through_a_helper(x):
    return by_tower(x) + 1.0


def of_a_random_number(x):
    return x + 0.0 * random.random()


ONCE = [
    of_a_class,
    of_a_layer,
    with_lists_of_its_own,
    with_control_flow,
    with_a_merge,
    with_batch_normalization,
    with_an_own_seed,
    to_a_list,
    of_a_random_number,
    Remembers("remembers"),
    lambda x: x * 2.0,
    functools.partial(lambda y, x: x - y, 3.0),
    Net("called"),
]
EACH = [
    (by_tower, "number of its replica"),
    (by_device, "device of its replica"),
    (by_a_name, "names the number of its replica"),
    (through_a_helper, "number of its replica"),
    (Asks("asks"), "number of its replica"),
]


def trained(tower_fn, steps=3, optimizer=None):
    """Runs steps of a tower function: its last results, the variables, what is explained."""
    with harness.enter("graph") as mode, harness.strategy_of(TOWERS).scope():
        distribution = tf.distribute.get_strategy()

        def step(context, x):
            def tower(x):
                result = tower_fn(x)
                made = [optimizer().minimize(result)] if optimizer else []
                with tf.control_dependencies(made):
                    return tf.identity(result)

            context.set_last_step_output("result", distribution.call_for_each_tower(tower, x))

        context = distribution.run_steps_on_dataset(step, harness.data(distribution), steps)
        found = mode.run(context.last_step_outputs["result"])
        values = {v.op.name: mode.run(distribution.read_var(v)) for v in tf1.global_variables()}
        return found, values, distribution.extended.explain()


def trained_apart(monkeypatch, *args, **kwargs):
    """The same where each tower is traced on its own."""
    with monkeypatch.context() as patch:
        patch.setattr(python_ids, "reason", lambda *unused: "the test says so")
        return trained(*args, **kwargs)


@pytest.fixture(autouse=True)
def forget(monkeypatch):
    """Each test begins with nothing kept; what is batched tells what was traced once."""
    global count
    monkeypatch.delenv(machine.VECTORIZE, raising=False)
    del seen[:]
    count = 0


@pytest.mark.parametrize(
    "tower_fn",
    [
        pytest.param(fn, marks=keras_2) if fn in (of_a_layer, with_batch_normalization) else fn
        for fn in ONCE
    ],
    ids=lambda fn: getattr(fn, "__name__", type(fn).__name__),
)
def test_what_keeps_nothing_is_traced_once_with_the_same_results(monkeypatch, tower_fn):
    once, once_values, told = trained(tower_fn)
    apart, apart_values, told_apart = trained_apart(monkeypatch, tower_fn)
    close(once, apart)
    assert sorted(once_values) == sorted(apart_values)
    for name, value in once_values.items():
        close(value, apart_values[name])
    if versions.TRACES_AS_FIRST:
        assert "ops batched for %d replicas" % TOWERS in told
        assert "all once per replica" not in told
    assert "all once per replica" in told_apart


@pytest.mark.slow
@pytest.mark.parametrize(
    "optimizer",
    [
        lambda: tf1.train.GradientDescentOptimizer(0.1),
        lambda: tf1.train.MomentumOptimizer(0.1, 0.9),
        lambda: tf1.train.AdamOptimizer(0.1),
        lambda: tf1.train.RMSPropOptimizer(0.1),
    ],
    ids=["descent", "momentum", "adam", "rmsprop"],
)
def test_slots_of_optimizers_are_the_same(monkeypatch, optimizer):
    def loss(x):
        return tf.square(with_lists_of_its_own(x) - 1.0)

    once, once_values, told = trained(loss, optimizer=optimizer)
    apart, apart_values, _ = trained_apart(monkeypatch, loss, optimizer=optimizer)
    close(once, apart)
    assert sorted(once_values) == sorted(apart_values)
    for name, value in once_values.items():
        close(value, apart_values[name])
    assert "all once per replica" not in told or not versions.TRACES_AS_FIRST


@traces
@pytest.mark.parametrize(("tower_fn", "what"), EACH, ids=[what for _, what in EACH])
def test_a_tower_that_asks_which_it_is_is_traced_alone(tower_fn, what):
    found, _, told = trained(tower_fn)
    reason = told.split("all once per replica: ")[1]
    assert what in reason and __file__.replace(".pyc", ".py") + ":" in reason
    assert len(found) == TOWERS


@traces
def test_python_runs_once_for_all_towers_as_on_a_tpu():
    trained(to_a_list)
    found, _, _ = trained(to_a_global, steps=1)
    assert len(seen) == count == 1
    close(found, range(TOWERS))


def test_a_number_of_a_tower_is_a_python_number():
    # On 2.4 and newer it was a tensor, which equals no number: each tower multiplied by 3.
    close(trained(by_tower, steps=1)[0], [0.0, 3.0, 6.0, 9.0])
    close(trained(by_device, steps=1)[0], [0.0, 2.0, 4.0, 6.0])


@pytest.mark.skipif(not versions.HAS_FUNCTION, reason="there is no tf.function")
def test_a_number_of_a_tower_is_a_python_number_in_a_function():
    with harness.enter("eager"), harness.strategy_of(TOWERS).scope():
        distribution = tf.distribute.get_strategy()

        @tf.function
        def step(x):
            return distribution.unwrap(distribution.call_for_each_tower(by_tower, x))

        close([each.numpy() for each in step(tf.constant(1.0))], [1.0, 3.0, 3.0, 3.0])


@before_2_4
def test_a_graph_with_a_seed_draws_what_each_tower_draws():
    def drawn():
        with harness.enter("graph") as mode, harness.strategy_of(TOWERS).scope():
            tf1.set_random_seed(5)
            distribution = tf.distribute.get_strategy()

            def step(context, x):
                result = distribution.call_for_each_tower(lambda x: x + tf1.random_uniform([]), x)
                context.set_last_step_output("result", result)

            context = distribution.run_steps_on_dataset(step, harness.data(distribution), 1)
            return mode.run(context.last_step_outputs["result"]), distribution.extended.explain()

    (first, told), (second, _) = drawn(), drawn()
    assert "all once per replica: the graph has a seed" in told
    assert first == second
    assert len({round(x - i, 5) for i, x in enumerate(first)}) == TOWERS


def test_a_graph_outside_of_a_loop_is_told(graph):
    distribution = harness.strategy_of(TOWERS)
    with distribution.scope():
        distribution.call_for_each_tower(lambda: tf.constant(1.0))
    told = distribution.extended.explain()
    assert "%s:" % __file__.replace(".pyc", ".py") in told
    assert "all once per replica: a graph outside of run_steps_on_dataset" in told


@pytest.mark.parametrize("inside", [False, True], ids=["plain", "in a branch"])
def test_what_py_func_calls_lives_as_long_as_the_graph(inside):
    # On 1.14 and 1.15 it ended with the trace: "callback pyfunc_0 is not found".
    def tower(x):
        def doubled():
            return tf.reshape(tf1.py_func(lambda y: y * np.float32(2), [x], tf.float32), [])

        return tf.cond(x >= 0.0, doubled, lambda: x) if inside else doubled()

    close(trained(tower, steps=1)[0], [0.0, 2.0, 4.0, 6.0])


class Odd:
    """An object that cannot be looked at, as a proxy of something that is not there yet."""

    number = 2.0
    __class__ = property(lambda self: 1 // 0)


odd = Odd()


@traces
def test_what_cannot_be_looked_at_is_traced_per_tower():
    found, _, told = trained(lambda x: x * odd.number, steps=1)
    assert "cannot be looked through: ZeroDivisionError" in told
    close(found, [0.0, 2.0, 4.0, 6.0])


def test_a_function_without_source_may_ask_too():
    names = {"get_tower_context": get_tower_context}
    exec("def written(x):\n    return x * get_tower_context().tower_id\n", names)
    close(trained(names["written"], steps=1)[0], [0.0, 1.0, 4.0, 9.0])
