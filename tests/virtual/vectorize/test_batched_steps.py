"""Steps in a loop are batched too where a tf.function is not yet traced once (1.14 to 2.3).

The oracle is TensorFlow, run on each replica's share alone.
"""

import functools

import numpy as np
import pytest
import tensorflow as tf

from tests.helpers import generations
from tests.virtual.vectorize import flow_cases
from tpudist import adapter, v2_2
from tpudist.contrib.distribute import MultiStepContext
from tpudist.tfcompat import distributed, versions

if versions.TRACE_ONCE or not versions.TRACES_AS_FIRST:
    pytest.skip("from 2.4 on a function does the same; 1.13 batches none", allow_module_level=True)

from tests.virtual.vectorize import batching_cases
from tpudist.virtual.vectorize.rules import elementwise

CORES = 4

_EACH = elementwise.UNARY + elementwise.BROADCAST + elementwise.SAME_SHAPE

#: {name: function of x}: the cases of ops that work element by element are one.
CASES = {name: fn for name, fn in batching_cases.CASES.items() if name not in _EACH}
CASES["element by element"] = lambda x: [batching_cases.CASES[name](x) for name in _EACH]

_v1 = tf.compat.v1

#: Sessions that run each graph once, and lose no time on what would make it faster.
AS_WRITTEN = _v1.ConfigProto()
AS_WRITTEN.graph_options.rewrite_options.disable_meta_optimizer = True
AS_WRITTEN.graph_options.optimizer_options.opt_level = -1  # L0


class _Input:
    """What the steps take."""

    def get_next(self):
        return tf.constant(0)


@pytest.fixture
def strategy():
    """One that traces a replica function once, as a TPUEstimator's does."""
    with generations.as_tensorflow_1_starts(), tf.Graph().as_default():
        made = v2_2.TPUStrategy(v2_2.TPUClusterResolver("virtual:%d" % CORES))
        with made.scope():
            yield made


def shares():
    """Numbers from 0.1 to 0.9, others for each replica."""
    return np.random.RandomState(0).uniform(0.1, 0.9, (CORES, 4, 6)).astype(np.float32)


def _leaves(fn, x):
    return [tf.convert_to_tensor(leaf) for leaf in tf.nest.flatten(fn(x))]


def stepped(strategy, fn, values):
    """What each replica returns from a step: N tensors for each leaf."""
    extended = strategy.extended

    def share():
        return tf.constant(values)[tf.distribute.get_replica_context().replica_id_in_sync_group]

    def step(context, unused):
        x = extended.call_for_each_replica(share)
        for i, leaf in enumerate(extended.call_for_each_replica(_leaves, args=(fn, x))):
            context.set_last_step_output("%03d" % i, leaf)

    found = adapter.run_steps(strategy, step, _Input(), 1, None, MultiStepContext())
    outputs = sorted(found.last_step_outputs.items())
    return [
        adapter.local_results(strategy, distributed.per_replica(extended, leaf))
        for _, leaf in outputs
    ]


def check(strategy, fn, values):
    """Compares the replicas' results of `fn` with TensorFlow's on each share."""
    found = stepped(strategy, fn, values)
    assert strategy.extended.explanations[-1].share > 0
    share = _v1.placeholder(values.dtype, values.shape[1:])
    alone = _leaves(fn, share)
    with _v1.Session(config=AS_WRITTEN) as session:
        session.run([_v1.global_variables_initializer(), _v1.tables_initializer()])
        found = session.run([list(leaf) for leaf in found])
        for replica, value in enumerate(values):
            for got, wanted in zip(found, session.run(alone, {share: value})):
                np.testing.assert_allclose(got[replica], wanted, 1e-5, 1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("case", sorted(CASES))
def test_each_replica_gets_its_own_values(strategy, case):
    check(strategy, CASES[case], shares())


@pytest.mark.parametrize("fn", flow_cases.FUNCTIONS, ids=lambda fn: fn.__name__)
def test_control_flow(strategy, fn):
    check(strategy, lambda x: fn(x, batching_cases.kernel(6, 6) - 0.1), shares())


@pytest.mark.parametrize("shift", [-1, 0, 2])
def test_replicas_take_one_of_several_branches(strategy, shift):
    check(strategy, lambda x: flow_cases.one_of_several(x, CORES, shift), shares())


@pytest.mark.slow
@pytest.mark.parametrize("fn", flow_cases.FUNCTIONS, ids=lambda fn: fn.__name__)
def test_gradients_of_control_flow(strategy, fn):
    def gradients(x):
        weights = batching_cases.kernel(6, 6) - 0.1
        return tf.gradients(tf.reduce_sum(fn(x, weights) ** 2), [x, weights])

    check(strategy, gradients, shares())


#: On 1.15 a gradient with an effect, in a branch, ends in an AssertionError of cond_v2.
_DIFFERENTIABLE = sorted(set(flow_cases.DIFFERENTIABLE) - {"with an effect"})


@pytest.mark.slow
@pytest.mark.parametrize("name", _DIFFERENTIABLE)
def test_gradients_of_branches(strategy, name):
    *branches, _ = flow_cases.DIFFERENTIABLE[name]

    def gradients(x):
        weights = batching_cases.kernel(6, 6)
        one, other = [functools.partial(each, x, weights) for each in branches]
        return tf.gradients(tf.reduce_sum(tf.cond(x[0, 0] > 0.5, one, other) ** 2), x)

    check(strategy, gradients, shares())


def test_replicas_leave_a_loop_at_different_times(strategy):
    values = shares() * np.array([1, 9, 0.2, 3], np.float32)[:, None, None]
    check(strategy, lambda x: flow_cases.until_large(x), values)


@pytest.mark.parametrize("name", sorted(flow_cases.BRANCHES))
def test_replicas_take_different_branches(strategy, name):
    one, other = flow_cases.BRANCHES[name]
    check(strategy, lambda x: tf.cond(x[0, 0] > 0.5, lambda: one(x), lambda: other(x)), shares())
