"""Law 7: every member of every surface works on TensorFlow's own TPU strategy too.

In a graph of a described system of 8 cores on 2 hosts: the virtual TPU has its own
cases for each member (tests/conformance, tests/contrib).
"""

import operator

import numpy as np
import pytest
import tensorflow as tf

from tests.native import described
from tests.native.test_native_graph import kinds
from tpudist import surfaces
from tpudist.contrib.distribute import TPUStrategy as ContribStrategy
from tpudist.contrib.distribute import VariableAggregation
from tpudist.tfcompat import versions
from tpudist.v2_0.strategy import TPUStrategy as TPUStrategy20
from tpudist.v2_2.strategy import TPUStrategy as TPUStrategy22

tf1 = tf.compat.v1
CORES = 8
STRATEGIES = {
    "contrib": lambda resolver: ContribStrategy(resolver, steps_per_run=1),
    "v2_0": TPUStrategy20,
    "v2_2": TPUStrategy22,
}


def double(x):
    return x * 2.0


def replicas(strategy):
    """A value per replica: what `double` returned on each."""
    start = getattr(strategy, "run", None) or strategy.experimental_run_v2
    return start(double, args=(tf.constant(1.0),))


def data():
    return tf.data.Dataset.from_tensor_slices(tf.ones([64])).batch(CORES, drop_remainder=True)


def variable(strategy):
    return tf1.get_variable("v", [], initializer=tf1.zeros_initializer())


def rows(context):
    return data()


def steps(strategy):
    iterator = strategy.distribute_dataset(lambda: data().repeat()).make_initializable_iterator()

    def step(context, x):
        context.set_last_step_output("x", tf.reduce_sum(x), VariableAggregation.SUM)
        return tf.no_op()

    return strategy.run_steps_on_dataset(
        lambda context, x: strategy.call_for_each_tower(step, context, x),
        iterator,
        iterations=2,
        initial_loop_values=[0.0],
    ).run_op


#: {member: how it is used}; a property is read. None is a result only of `configure`.
USES = {
    "__init__": lambda s: s,
    "scope": lambda s: s.scope(),
    "run": replicas,
    "experimental_run_v2": lambda s: s.experimental_run_v2(double, args=(tf.constant(1.0),)),
    "experimental_run": lambda s: s.experimental_run(lambda: double(tf.constant(1.0))),
    "call_for_each_tower": lambda s: s.call_for_each_tower(double, tf.constant(1.0)),
    "call_for_each_replica": lambda s: s.call_for_each_replica(double, tf.constant(1.0)),
    "run_steps_on_dataset": steps,
    "reduce": lambda s: s.reduce("SUM", replicas(s), None),
    "batch_reduce": lambda s: s.batch_reduce(VariableAggregation.SUM, [(replicas(s), None)]),
    "broadcast": lambda s: s.broadcast(tf.constant(1.0)),
    "unwrap": lambda s: s.unwrap(replicas(s)),
    "group": lambda s: s.group(replicas(s)),
    "map": lambda s: s.map([1.0, 2.0], double),
    "experimental_local_results": lambda s: s.experimental_local_results(replicas(s)),
    "update": lambda s: s.update(variable(s), lambda v: v.assign_add(1.0)),
    "update_non_slot": lambda s: s.update_non_slot(s.non_slot_devices([]), tf.no_op),
    "read_var": lambda s: s.read_var(variable(s)),
    "value_container": lambda s: s.value_container(variable(s)),
    "colocate_vars_with": lambda s: s.colocate_vars_with(variable(s)),
    "non_slot_devices": lambda s: s.non_slot_devices([]),
    "get_host_cpu_device": lambda s: s.get_host_cpu_device(1),
    "configure": lambda s: s.configure(tf1.ConfigProto()) or True,
    "update_config_proto": lambda s: s.update_config_proto(tf1.ConfigProto()),
    "initialize": lambda s: s.initialize(),
    "finalize": lambda s: s.finalize(),
    "experimental_initialize": lambda s: s.experimental_initialize(),
    "experimental_finalize": lambda s: s.experimental_finalize(),
    "distribute_dataset": lambda s: s.distribute_dataset(data).make_initializable_iterator(),
    "experimental_distribute_dataset": lambda s: s.experimental_distribute_dataset(data()),
    "experimental_distribute_datasets_from_function": (
        lambda s: s.experimental_distribute_datasets_from_function(rows)
    ),
    "experimental_make_numpy_dataset": lambda s: numpy_dataset(s),
    "experimental_distribute_values_from_function": (
        lambda s: s.experimental_distribute_values_from_function(
            lambda context: tf.constant(1.0 + context.replica_id_in_sync_group)
        )
    ),
    "make_dataset_iterator": lambda s: s.make_dataset_iterator(data()),
    "make_input_fn_iterator": lambda s: s.make_input_fn_iterator(rows),
    "experimental_assign_to_logical_device": (
        lambda s: s.experimental_assign_to_logical_device(tf.constant(1.0), 0)
    ),
    "experimental_split_to_logical_devices": (
        lambda s: s.experimental_split_to_logical_devices(tf.ones([2]), [1])
    ),
    "experimental_replicate_to_logical_devices": (
        lambda s: s.experimental_replicate_to_logical_devices(tf.constant(1.0))
    ),
}


def numpy_dataset(strategy):
    with tf1.Session() as session, session.as_default():
        return strategy.experimental_make_numpy_dataset(np.ones([8, 1], np.float32))


#: What needs the devices of the described system to be there, and why.
NEEDS_A_TPU = {}
if versions.HAS_INPUT_LIB:
    NEEDS_A_TPU["experimental_make_numpy_dataset"] = (
        "the rows are variables on a host, which a Session fills"
    )

CASES = [
    (era, name, row.kind)
    for era in surfaces.ERAS
    for name, row in sorted(surfaces.members(era).items())
]


@pytest.fixture
def graph():
    with tf.Graph().as_default() as made:
        yield made


@pytest.mark.parametrize(("era", "name", "kind"), CASES, ids=["%s-%s" % case[:2] for case in CASES])
def test_member(monkeypatch, graph, era, name, kind):
    monkeypatch.delenv("TPUDIST_TPU", raising=False)
    resolver = described.DescribedResolver(CORES, 2)
    described.answer_for(monkeypatch, resolver)
    strategy = STRATEGIES[era](resolver)
    with strategy.scope():
        use = operator.attrgetter(name) if kind == "property" else USES[name]
        if name in NEEDS_A_TPU:
            with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
                use(strategy)
        else:
            assert use(strategy) is not None
    if name in ("run", "experimental_run_v2", "experimental_run", "call_for_each_tower"):
        assert kinds(graph)["TPUReplicateMetadata"] == 1


def test_every_member_has_its_use():
    named = {name for _, name, kind in CASES if kind != "property"}
    assert named == set(USES)
