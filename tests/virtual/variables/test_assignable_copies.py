"""A copy of a mirrored variable, assigned outside of replica functions, is one core's."""

import numpy as np
import pytest
import tensorflow as tf

from tests.virtual.harness import CORES
from tpudist.contrib.strategy import TPUStrategy as ContribStrategy
from tpudist.errors import ContextError
from tpudist.system import cluster
from tpudist.tfcompat import distributed, versions
from tpudist.v2_2.strategy import TPUStrategy

tf1 = tf.compat.v1
needs_functions = pytest.mark.skipif(
    not hasattr(tf, "function") or versions.BY_DEVICE, reason="functions before 2.2 are towers'"
)


def make(strategy, value=1.0, **kwargs):
    with strategy.scope():
        return tf.Variable(value, **kwargs)


def parts(strategy, variable):
    return [copy.numpy().tolist() for copy in strategy.experimental_local_results(variable)]


def stored(variable):
    return len({id(copy) for copy in distributed.components(variable)})


ASSIGNMENTS = {
    "assign": lambda copy: copy.assign([5.0, 6.0]),
    "assign_add": lambda copy: copy.assign_add([4.0, 4.0]),
    "assign_sub": lambda copy: copy.assign_sub([-4.0, -4.0], read_value=False),
    "slice": lambda copy: copy[:].assign([5.0, 6.0]),
    "v1.assign": lambda copy: tf1.assign(copy, [5.0, 6.0]),
}


@pytest.mark.parametrize("how", sorted(ASSIGNMENTS))
@pytest.mark.parametrize("index", [0, 2])
def test_only_the_core_of_the_copy_has_the_value(strategy, how, index):
    variable = make(strategy, [1.0, 2.0])
    ASSIGNMENTS[how](strategy.experimental_local_results(variable)[index])
    expected = [[1.0, 2.0]] * CORES
    expected[index] = [5.0, 6.0]
    assert parts(strategy, variable) == expected
    assert [each.numpy().tolist() for each in distributed.components(variable)] == expected


@pytest.mark.skipif(versions.BY_DEVICE, reason="on these scatter_update of a variable is 2.2's")
def test_scatter(strategy):
    variable = make(strategy, [1.0, 2.0])
    update = tf.IndexedSlices(tf.constant([9.0]), tf.constant([1]))
    strategy.experimental_local_results(variable)[1].scatter_update(update)
    strategy.experimental_local_results(variable)[2].scatter_nd_update([[0]], [7.0])
    assert parts(strategy, variable) == [[1.0, 2.0], [1.0, 9.0], [7.0, 2.0], [1.0, 2.0]]


def test_a_function_of_tensorflow_that_scatters_into_a_copy_is_refused(strategy):
    variable = make(strategy, [1.0, 2.0])
    with tf.Graph().as_default(), pytest.raises(ContextError, match="Instead: .*copy"):
        with strategy.scope():
            inner = tf1.get_variable("inner", initializer=[1.0, 2.0], use_resource=True)
        tf1.scatter_update(strategy.experimental_local_results(inner)[1], [0], [3.0])
    assert stored(variable) == 1


def test_copies_by_other_names(strategy):
    variable = make(strategy)
    if hasattr(variable, "values"):
        variable.values[1].assign(5.0)
    else:
        variable.get(strategy.extended.worker_devices[1]).assign(5.0)
    contrib = ContribStrategy(cluster.TPUClusterResolver("virtual:%d" % CORES))
    other = make(contrib)
    contrib.unwrap(other)[1].assign(5.0)
    assert parts(strategy, variable) == [1.0, 5.0, 1.0, 1.0]
    assert [copy.numpy() for copy in contrib.unwrap(other)] == [1.0, 5.0, 1.0, 1.0]


def test_the_copy_of_a_device(strategy):
    variable = make(strategy)
    variable.get(strategy.extended.worker_devices[3]).assign(5.0)
    assert parts(strategy, variable) == [1.0, 1.0, 1.0, 5.0]
    variable.assign(2.0)
    assert parts(strategy, variable) == [2.0] * CORES


def test_copies_taken_before_the_first_assignment(strategy):
    variable = make(strategy)
    taken = strategy.experimental_local_results(variable)
    for i, copy in enumerate(taken):
        copy.assign_add(float(i))
    assert [copy.numpy() for copy in taken] == [1.0, 2.0, 3.0, 4.0]
    assert parts(strategy, variable) == [1.0, 2.0, 3.0, 4.0]
    for copy in taken:
        copy.assign(7.0)
    assert parts(strategy, variable) == [7.0] * CORES
    assert variable.numpy() == 7.0


def test_a_copy_that_is_read_costs_nothing(strategy):
    variable = make(strategy)
    taken = strategy.experimental_local_results(variable)
    assert [float(copy.read_value()) for copy in taken] == [1.0] * CORES
    assert [float(copy + 1.0) for copy in taken] == [2.0] * CORES
    assert taken[1] is strategy.experimental_local_results(variable)[1]
    assert isinstance(taken[1], type(distributed.components(variable)[1]))
    assert taken[1].name == variable.name and taken[1].shape == variable.shape
    variable.assign(3.0)
    assert [float(copy.read_value()) for copy in taken] == [3.0] * CORES
    assert stored(variable) == 1


def test_an_update_gets_the_stored_variable(strategy):
    variable, slot = make(strategy), make(strategy)

    def update(copy, other):
        copy.assign_add(other.read_value() if hasattr(other, "read_value") else other)
        return other.assign_add(1.0)

    with strategy.scope():
        strategy.extended.update(variable, update, args=(slot,))
    assert stored(variable) == stored(slot) == 1
    assert parts(strategy, variable) == parts(strategy, slot) == [2.0] * CORES


def test_a_restored_checkpoint_is_stored_once(strategy, tmp_path):
    variable = make(strategy)
    path = tf.train.Checkpoint(v=variable).save(str(tmp_path / "model"))
    variable.assign(3.0)
    tf.train.Checkpoint(v=variable).restore(path)
    assert parts(strategy, variable) == [1.0] * CORES and stored(variable) == 1
    strategy.experimental_local_results(variable)[1].assign(5.0)
    tf.train.Checkpoint(v=variable).restore(path)
    assert parts(strategy, variable) == [1.0] * CORES


def in_a_graph(fn):
    with tf.Graph().as_default() as graph, tf1.Session(graph=graph) as session:
        strategy = TPUStrategy(cluster.TPUClusterResolver("virtual:%d" % CORES))
        with strategy.scope():
            variable = tf1.get_variable("v", initializer=1.0, use_resource=True)
        return fn(strategy, variable, session)


def test_in_a_session():
    def program(strategy, variable, session):
        change = strategy.experimental_local_results(variable)[1].assign(5.0)
        session.run(tf1.global_variables_initializer())
        session.run(change)
        return session.run(
            [copy.read_value() for copy in strategy.experimental_local_results(variable)]
        )

    assert in_a_graph(program) == [1.0, 5.0, 1.0, 1.0]


@pytest.mark.parametrize("why", ["initialized", "read"])
def test_a_session_that_knows_one_value_keeps_it(why):
    def program(strategy, variable, session):
        if why == "initialized":
            tf1.global_variables_initializer()
        else:
            strategy.experimental_local_results(variable)[2].read_value()
        one, other = strategy.experimental_local_results(variable)[1:3]
        seen = r"copy 1 of variable 'v:0'.*Instead: .*assign"
        with pytest.warns(UserWarning, match=seen) as told:
            change = one.assign(5.0)
        assert told[0].filename == __file__
        with pytest.raises(ContextError, match=seen):
            one.assign_add(5.0)
        session.run(tf1.global_variables_initializer())
        session.run(change)
        return session.run([one.read_value(), other.read_value(), variable.read_value()])

    assert in_a_graph(program) == [5.0] * 3


@needs_functions
def test_in_a_function(strategy):
    variable = make(strategy)

    @tf.function
    def change(x):
        strategy.experimental_local_results(variable)[1].assign(x)
        return [
            copy.read_value() for copy in strategy.experimental_local_results(variable)
        ], variable.read_value()

    for value in 5.0, 6.0:
        found, first = change(tf.constant(value))
        assert [float(each) for each in found] == [1.0, value, 1.0, 1.0] and float(first) == 1.0
    assert parts(strategy, variable) == [1.0, 6.0, 1.0, 1.0]
    run = tf.function(lambda: strategy.run(lambda: variable + 1.0))
    found = [float(each) for each in strategy.experimental_local_results(run())]
    assert found == [2.0, 7.0, 2.0, 2.0]


@needs_functions
@pytest.mark.parametrize("used", ["read", "assigned", "copy read"])
def test_a_function_that_knows_one_value_keeps_it(strategy, used):
    variable = make(strategy, name="counter")

    @tf.function
    def use():
        if used == "read":
            return strategy.run(lambda: variable + 0.0)
        if used == "assigned":
            return variable.assign(1.0)
        return strategy.experimental_local_results(variable)[3] + 1.0

    use()
    seen = "copy 1 of variable 'counter:0'.*v.assign"
    with pytest.raises(ContextError, match=seen):
        strategy.experimental_local_results(variable)[1].assign_add(5.0)
    assert parts(strategy, variable) == [1.0] * CORES
    with pytest.warns(UserWarning, match=seen) as told:
        strategy.experimental_local_results(variable)[1].assign(5.0)
    assert told[0].filename == __file__
    assert parts(strategy, variable) == [5.0] * CORES


@pytest.mark.skipif(not versions.ASSIGN_WITHOUT_AGGREGATION, reason="before 2.3 it is a ValueError")
def test_training_continues_with_a_value_per_core(strategy):
    variable = make(strategy)
    strategy.experimental_local_results(variable)[1].assign(5.0)

    @tf.function
    def step():
        def fn():
            context = tf.distribute.get_replica_context()
            variable.assign_sub(context.all_reduce("mean", variable * 1.0))

        strategy.run(fn)

    step()
    assert parts(strategy, variable) == [-1.0, 3.0, -1.0, -1.0]


def tower(v, w, optimizer):
    """One step with momentum, in a tower."""
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(v * v) * w
    gradients = tape.gradient(loss, [v, w])
    with tf.control_dependencies(gradients):
        gradients = [tf.identity(gradient) for gradient in gradients]
    step = optimizer.apply_gradients(zip(gradients, [v, w]))
    return tf.constant(0.0) if tf.executing_eagerly() else step


#: What MirroredStrategy gives: v on core 0, v on core 1 and w.
MOMENTUM = [-7.1048, -11.9728], [-1.9048, -5.5728], -15.322


def test_momentum_of_towers_continues_with_a_value_per_core():
    strategy = ContribStrategy(cluster.TPUClusterResolver("virtual:2"))
    with strategy.scope():
        v, w = tf.Variable([1.0, 2.0]), tf.Variable(3.0)
        optimizer = tf1.train.MomentumOptimizer(0.1, 0.9)
        for i in range(3):
            strategy.call_for_each_tower(lambda: tower(v, w, optimizer))
            if not i:
                strategy.unwrap(v)[1].assign([5.0, 6.0])
    found = strategy.unwrap(v) + strategy.unwrap(w)[1:]
    for copy, expected in zip(found, MOMENTUM):
        np.testing.assert_allclose(copy.numpy(), expected, 1e-4)


def test_momentum_in_a_session_continues_with_a_value_per_core():
    with tf.Graph().as_default() as graph, tf1.Session(graph=graph) as session:
        strategy = ContribStrategy(cluster.TPUClusterResolver("virtual:2"))
        with strategy.scope():
            v = tf1.get_variable("v", initializer=[1.0, 2.0], use_resource=True)
            w = tf1.get_variable("w", initializer=3.0, use_resource=True)
            optimizer = tf1.train.MomentumOptimizer(0.1, 0.9)
            change = strategy.unwrap(v)[1].assign([5.0, 6.0])
            step = strategy.group(strategy.call_for_each_tower(lambda: tower(v, w, optimizer)))
        session.run(tf1.global_variables_initializer())
        for i in range(3):
            session.run(step)
            if not i:
                session.run(change)
        found = session.run([copy.read_value() for copy in strategy.unwrap(v) + strategy.unwrap(w)])
    for copy, expected in zip(found, MOMENTUM):
        np.testing.assert_allclose(copy, expected, 1e-4)


def test_saving_makes_no_copies(strategy):
    with strategy.scope():
        dense = tf.keras.layers.Dense(2)
        dense.build((None, 3))
    weights = [np.ones((3, 2), "float32"), np.zeros(2, "float32")]
    dense.set_weights(weights)
    for found, weight in zip(dense.get_weights(), weights):
        np.testing.assert_array_equal(found, weight)
    assert [stored(each) for each in dense.weights] == [1, 1]


def test_a_warning_that_a_test_does_not_expect_fails_it():
    def program(strategy, variable, session):
        tf1.global_variables_initializer()
        with pytest.raises(UserWarning, match="copy 1 of variable 'v:0'"):
            strategy.experimental_local_results(variable)[1].assign(5.0)

    in_a_graph(program)
