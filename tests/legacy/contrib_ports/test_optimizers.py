"""Optimizers of ``tf.contrib.opt``: beside TensorFlow 1.15's where it is installed, and numpy."""

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")

from tpudist.legacy.contrib_ports import optimizers  # noqa: E402

tf1 = tf.compat.v1

#: {name: arguments}.
CASES = {
    "LARSOptimizer": dict(learning_rate=0.5, momentum=0.9, weight_decay=0.01),
    "AdamWOptimizer": dict(weight_decay=0.1, learning_rate=0.05),
    "MomentumWOptimizer": dict(weight_decay=0.1, learning_rate=0.05, momentum=0.9),
    "LazyAdamOptimizer": dict(learning_rate=0.05),
    "AdaMaxOptimizer": dict(learning_rate=0.05),
}


def ours(name):
    return getattr(optimizers, name)


def squares(rows):
    return tf.reduce_sum(tf.square(rows - 3.0))


def products(rows):
    """A loss whose gradient does not depend on the variable."""
    return tf.reduce_sum(rows * [2.0, 5.0])


def trained(make, sparse, resource, steps=4, loss=squares):
    """{name: value} of all variables after steps on a small table of rows."""
    with tf.Graph().as_default(), tf1.variable_scope("v", use_resource=resource):
        table = tf1.get_variable(
            "table", initializer=np.arange(1.0, 9.0, dtype="float32").reshape(4, 2)
        )
        rows = tf.gather(table, [0, 2]) if sparse else table
        train = make().minimize(loss(rows))
        with tf1.Session() as session:
            session.run(tf1.global_variables_initializer())
            for _ in range(steps):
                session.run(train)
            return {v.op.name: session.run(v) for v in tf1.global_variables()}


@pytest.mark.skipif(not hasattr(tf, "contrib"), reason="TensorFlow 1's own are the oracle")
@pytest.mark.parametrize("resource", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("name", sorted(CASES))
def test_as_tensorflow_1_has_them(name, sparse, resource):
    # 1.15's own takes a gradient before or after the decay, as its ops are scheduled.
    loss = products if "W" in name else squares
    kinds = [getattr(tf.contrib.opt, name), ours(name)]
    expected, found = [
        trained(lambda kind=kind: kind(**CASES[name]), sparse, resource, loss=loss)
        for kind in kinds
    ]
    assert sorted(found) == sorted(expected)
    for key in expected:
        np.testing.assert_allclose(found[key], expected[key], rtol=1e-6, err_msg=key)


def by_numpy(name, sparse, steps=4):
    """The table after steps, by the formulas of the papers."""
    table = np.arange(1.0, 9.0).reshape(4, 2)
    m, v = np.zeros_like(table), np.zeros_like(table)
    on = np.zeros((4, 1)) if sparse else np.ones((4, 1))
    on[[0, 2]] = 1.0
    for step in range(1, steps + 1):
        grad = 2 * (table - 3.0) * on
        if name == "LARSOptimizer":
            if sparse:
                m = np.where(on > 0, 0.9 * m + grad, m)
                table = table - np.where(on > 0, 0.5 * m, 0.0)
                continue
            weights, gradients = np.linalg.norm(table), np.linalg.norm(grad)
            rate = 0.5 * 0.001 * weights / (gradients + 0.01 * weights)
            m = 0.9 * m + rate * (grad + 0.01 * table)
            table = table - m
        elif name == "MomentumWOptimizer":
            table = table - 0.1 * table * on
            m = np.where(on > 0, 0.9 * m + grad, m)
            table = table - np.where(on > 0, 0.05 * m, 0.0)
        elif name in ("AdamWOptimizer", "LazyAdamOptimizer"):
            lazy = on if name == "LazyAdamOptimizer" else np.ones_like(on)
            if name == "AdamWOptimizer":
                table = table - 0.1 * table * on
            m = np.where(lazy > 0, 0.9 * m + 0.1 * grad, m)
            v = np.where(lazy > 0, 0.999 * v + 0.001 * grad**2, v)
            rate = 0.05 * np.sqrt(1 - 0.999**step) / (1 - 0.9**step)
            table = table - np.where(lazy > 0, rate * m / (np.sqrt(v) + 1e-8), 0.0)
        else:
            m = np.where(on > 0, 0.9 * m + 0.1 * grad, m)
            v = np.where(on > 0, np.maximum(0.999 * v, np.abs(grad)), v)
            table = table - np.where(on > 0, 0.05 / (1 - 0.9**step) * m / (v + 1e-8), 0.0)
    return table


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("name", sorted(CASES))
def test_by_their_formulas(name, sparse):
    found = trained(lambda: ours(name)(**CASES[name]), sparse, True)
    np.testing.assert_allclose(found["v/table"], by_numpy(name, sparse), rtol=2e-4)


def test_lars_skips_by_name():
    found = trained(lambda: optimizers.LARSOptimizer(0.1, skip_list=["table"]), False, True, 1)
    table = np.arange(1.0, 9.0).reshape(4, 2)
    np.testing.assert_allclose(found["v/table"], table - 0.1 * 2 * (table - 3.0), rtol=1e-6)


def test_only_the_variables_of_the_list_decay():
    with tf.Graph().as_default():
        one = tf1.get_variable("one", initializer=1.0, use_resource=True)
        two = tf1.get_variable("two", initializer=1.0, use_resource=True)
        kind = optimizers.extend_with_decoupled_weight_decay(tf1.train.GradientDescentOptimizer)
        train = kind(0.5, learning_rate=0.0).minimize(one + two, decay_var_list=[two])
        with tf1.Session() as session:
            session.run(tf1.global_variables_initializer())
            session.run(train)
            assert session.run([one, two]) == [1.0, 0.5]


def test_moving_averages_are_saved_under_the_names_of_the_variables(tmp_path):
    with tf.Graph().as_default():
        weight = tf1.get_variable("weight", initializer=4.0)
        optimizer = optimizers.MovingAverageOptimizer(
            tf1.train.GradientDescentOptimizer(1.0), average_decay=0.5
        )
        with pytest.raises(RuntimeError):
            optimizer.swapping_saver()
        train = optimizer.minimize(weight)
        saver = optimizer.swapping_saver()
        with tf1.Session() as session:
            session.run(tf1.global_variables_initializer())
            session.run(train)
            assert session.run(weight) == 3.0
            path = saver.save(session, str(tmp_path / "model"))
    assert tf.train.load_checkpoint(path).get_tensor("weight") == 3.5
    assert tf.train.load_checkpoint(path).get_tensor("weight/ExponentialMovingAverage") == 3.0
