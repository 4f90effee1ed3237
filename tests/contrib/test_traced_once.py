"""The step of run_steps_on_dataset: one trace for all towers, unless Python keeps something."""

import functools
import itertools
import random

import numpy as np
import pytest
import tensorflow as tf

from tests.contrib import harness
from tests.contrib.harness import close, tf1
from tpudist import machine
from tpudist.contrib.distribute import VariableAggregation, get_tower_context
from tpudist.tfcompat import versions
from tpudist.virtual.replicas import python_state

TOWERS = 4
MEAN = VariableAggregation.MEAN
SUM = VariableAggregation.SUM

before_2_4 = pytest.mark.skipif(
    versions.TRACE_ONCE or not versions.TRACES_AS_FIRST, reason="1.14 to 2.3 ask what Python keeps"
)

keras_2 = pytest.mark.skipif(
    getattr(tf.keras, "__version__", "2").startswith("3"),
    reason="Keras 3 counts layers over all graphs, and has no tf.layers",
)

#: What towers could keep. Each is of this module, as a program's would be.
seen = []
known = {"last": None}
count = 0
numbers = itertools.count()
maker = np.random.RandomState(1)


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


def to_a_dictionary(x):
    known["last"] = x
    return x


def to_a_global(x):
    global count
    count += 1
    return x * count


def by_tower(x):
    return x * (1.0 if get_tower_context().tower_id == 0 else 3.0)


def by_device(x):
    return x + float(get_tower_context().device[-1])


def through_a_helper(x):
    return to_a_list(x) + 1.0


def of_an_iterator(x):
    return x + next(numbers)


def of_python_numbers(x):
    return x + random.random() + 0.0 * maker.rand()


def of_a_generator(x):
    return x + maker.rand()


def of_the_losses(x):
    tf1.losses.absolute_difference(x, 0.0)
    return tf1.losses.get_total_loss()


def of_an_alias(x):
    mine = seen
    mine.append(x)
    return x


ONCE = [
    of_a_class,
    of_a_layer,
    with_lists_of_its_own,
    with_control_flow,
    with_a_merge,
    with_batch_normalization,
    with_an_own_seed,
    lambda x: x * 2.0,
    functools.partial(lambda y, x: x - y, 3.0),
    Net("called"),
]
EACH = [
    (to_a_list, "changes seen"),
    (to_a_dictionary, "sets a part of known"),
    (to_a_global, "sets count"),
    (by_tower, "number of its replica"),
    (by_device, "device of its replica"),
    (through_a_helper, "changes seen"),
    (of_an_iterator, "something else each time|next of an iterator"),
    (of_python_numbers, "something else each time"),
    (of_a_generator, "something else each time"),
    (of_the_losses, "collection"),
    (of_an_alias, "changes mine"),
    (Remembers("remembers"), "sets a part of self"),
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
        patch.setattr(python_state, "reason", lambda *unused: "the test says so")
        return trained(*args, **kwargs)


@pytest.fixture(autouse=True)
def forget(monkeypatch):
    """Each test begins with nothing kept; what is batched tells what was traced once."""
    global count
    monkeypatch.delenv(machine.VECTORIZE, raising=False)
    del seen[:]
    count, known["last"] = 0, None


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
    if not versions.TRACE_ONCE:
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


@before_2_4
@pytest.mark.parametrize("tower_fn, what", EACH, ids=[what for _, what in EACH])
def test_what_is_kept_is_told_and_kept_per_tower(tower_fn, what):
    found, _, told = trained(tower_fn)
    assert "all once per replica: " in told
    reason = told.split("all once per replica: ")[1]
    assert any(each in reason for each in what.split("|")), reason
    assert __file__.replace(".pyc", ".py") + ":" in reason or "RandomState" in reason
    assert len(found) == TOWERS


@before_2_4
def test_lists_and_counts_are_those_of_each_tower():
    trained(to_a_list)
    found, _, _ = trained(to_a_global, steps=1)
    assert len(seen) == TOWERS and count == TOWERS
    close(found, [x * (x + 1) for x in range(TOWERS)])


@before_2_4
def test_a_number_of_a_tower_is_a_python_number():
    close(trained(by_tower, steps=1)[0], [0.0, 3.0, 6.0, 9.0])
    close(trained(by_device, steps=1)[0], [0.0, 2.0, 4.0, 6.0])


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


class Odd:
    """An object that cannot be looked at, as a proxy of something that is not there yet."""

    number = 2.0
    __class__ = property(lambda self: 1 // 0)


odd = Odd()


@before_2_4
def test_what_cannot_be_looked_at_is_traced_per_tower():
    found, _, told = trained(lambda x: x * odd.number, steps=1)
    assert "cannot be looked through: ZeroDivisionError" in told
    close(found, [0.0, 2.0, 4.0, 6.0])


@before_2_4
def test_a_function_without_source_is_traced_per_tower():
    names = {}
    exec("def written(x):\n    return x + 1.0\n", names)
    assert "the source of written (<string>) cannot be read" in trained(names["written"])[2]
