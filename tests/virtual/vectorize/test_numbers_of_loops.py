"""Under a global seed no two random ops of a graph draw the same numbers, in loops neither.

A loop of steps is a function, in which TensorFlow would number from 0 again. The oracle is
a graph with the same ops and without loops, which is how MirroredStrategy draws.
"""

import numpy as np
import pytest
import tensorflow as tf

from tpudist import adapter, v2_2
from tpudist.contrib.distribute import MultiStepContext
from tpudist.contrib.tpu import rewrite
from tpudist.tfcompat import versions

_v1 = tf.compat.v1


class _Input:
    def get_next(self):
        return tf.constant(0)


def uniform():
    return tf.random.uniform([2])


def twice():
    return tf.stack([uniform(), uniform()])


@pytest.fixture(autouse=True)
def _seeded_graph(monkeypatch):
    monkeypatch.setenv("TPUDIST_TPU", "virtual:2")
    with tf.Graph().as_default():
        _v1.set_random_seed(7)
        yield


def loop_of(tpu, *fns):
    """What each replica returns from the last of three steps that run each of `fns`."""

    def step(context, unused):
        for i, fn in enumerate(fns):
            context.set_last_step_output(str(i), tpu.run(fn))

    outputs = adapter.run_steps(tpu, step, _Input(), 3, None, MultiStepContext())
    return [part for i in range(len(fns)) for part in outputs.last_step_outputs[str(i)]]


def drawn(tensors):
    """All drawn pairs, in order."""
    with _v1.Session() as session:
        found = [np.reshape(x, [-1, 2]) for x in session.run(tensors)]
    return np.concatenate(found).tolist()


def different(rows):
    return len({str(row) for row in rows}) == len(rows)


def test_loops_and_the_graph_around_them_draw_different_numbers():
    tpu = v2_2.TPUStrategy(v2_2.TPUClusterResolver("virtual:2"))
    with tpu.scope():
        tensors = [uniform()] + loop_of(tpu, uniform, uniform)
        tensors += [uniform()] + loop_of(tpu, uniform, twice)
        tensors += adapter.local_results(tpu, tpu.run(uniform))
    assert different(drawn(tensors))


def test_two_computations_draw_different_numbers():
    assert different(drawn([uniform()] + rewrite(uniform) + rewrite(uniform) + [uniform()]))


@pytest.mark.skipif(
    not versions.COUNTS_RANDOM_OPS, reason="until 2.1 a number depends on all ops before it"
)
def test_computations_draw_what_the_graph_would():
    found = drawn([uniform()] + rewrite(twice) + rewrite(uniform) + [uniform()])
    with tf.Graph().as_default():
        _v1.set_random_seed(7)
        assert found == drawn([uniform() for _ in range(5)])
