"""The strategy as an object: names, classes, scope, extended."""

import subprocess
import sys
import textwrap

import pytest
import tensorflow as tf

from tests.conformance.modes import SUM, covers, number
from tpudist.errors import TPUNameError
from tpudist.system import cluster
from tpudist.tfcompat import versions


@covers("__init__")
@pytest.mark.parametrize(
    ("tpu", "replicas"), [("virtual", 8), ("virtual:1", 1), ("virtual:3", 3), ("virtual:v3-32", 32)]
)
def test_a_replica_for_each_core(surface, mode, tpu, replicas):
    strategy = surface.strategy(tpu)
    assert strategy.num_replicas_in_sync == replicas
    found = mode.evaluate(lambda: surface.results(strategy, number))
    assert list(found) == list(range(replicas))


@covers("num_replicas_in_sync")
def test_replicas_know_how_many_they_are(surface, mode, strategy):
    assert strategy.num_replicas_in_sync == 4
    found = mode.evaluate(
        lambda: surface.results(
            strategy, lambda: number() * (tf.distribute.get_replica_context().num_replicas_in_sync)
        )
    )
    assert list(found) == [0.0, 4.0, 8.0, 12.0]


@covers("extended")
def test_extended_names_the_cores(strategy):
    extended = strategy.extended
    assert isinstance(extended, tf.distribute.StrategyExtended)
    assert [name.split("/")[-1] for name in extended.worker_devices] == [
        "device:TPU:%d" % i for i in range(4)
    ]


def test_extended_updates_a_variable(mode, strategy):
    with strategy.scope():
        variable = tf.Variable(1.0)

    def build():
        update = strategy.extended.update(
            variable, lambda var, delta: var.assign_add(delta), args=(2.0,)
        )
        with tf.control_dependencies([update] if update is not None else []):
            return variable.read_value()

    assert mode.evaluate(build) == 3.0


def test_it_is_tensorflows_own_class(surface, strategy):
    distribute = tf.compat.v2.distribute
    native = [distribute.Strategy, distribute.experimental.TPUStrategy]
    if hasattr(distribute, "TPUStrategy"):
        native.append(distribute.TPUStrategy)
    for each in native:
        assert isinstance(strategy, each), each
    assert type(strategy).__name__.startswith("TPUStrategy")


def test_a_subclass_may_override_scope(surface, mode):
    class Noting(surface.strategy_class):
        """Counts its scopes, as Sonnet's TpuReplicator wraps them."""

        def scope(self):
            self.scopes = getattr(self, "scopes", 0) + 1
            return super().scope()

    strategy = Noting(cluster.TPUClusterResolver("virtual:2"))
    strategy.note = "mine"
    with strategy.scope():
        assert tf.distribute.get_strategy() is strategy
        variable = tf.Variable(5.0)
    assert strategy.scopes == 1 and strategy.note == "mine"
    found = mode.evaluate(lambda: surface.results(strategy, lambda: variable * 1.0))
    assert list(found) == [5.0, 5.0]


@covers("scope")
def test_the_scope_makes_it_current(strategy):
    assert tf.distribute.get_strategy() is not strategy
    assert not tf.distribute.has_strategy()
    with strategy.scope() as entered:
        assert entered is strategy
        assert tf.distribute.get_strategy() is strategy
        assert tf.distribute.in_cross_replica_context()
    assert not tf.distribute.has_strategy()


def test_replicas_see_the_strategy(surface, mode, strategy):
    seen = []

    def fn():
        seen.append((tf.distribute.get_strategy(), tf.distribute.in_cross_replica_context()))
        return number()

    mode.evaluate(lambda: surface.results(strategy, fn))
    assert seen and all(each == (strategy, False) for each in seen)


def test_scopes_nest_with_their_own_only(surface, mode, strategy):
    other = surface.strategy("virtual:2")
    with strategy.scope():
        with strategy.scope():
            assert tf.distribute.get_strategy() is strategy
        with pytest.raises(RuntimeError, match="scope|strategy"), other.scope():
            pass
        assert tf.distribute.get_strategy() is strategy
    assert not tf.distribute.has_strategy()


def test_a_variable_of_another_strategy_is_refused(surface, mode, strategy):
    other = surface.strategy("virtual:2")
    with other.scope():
        variable = tf.Variable(1.0)
    assert variable is not None
    with strategy.scope():
        assert strategy.extended.variable_created_in_scope(tf.Variable(1.0))
        assert not strategy.extended.variable_created_in_scope(variable)


def test_merge_call_runs_once_in_cross_replica_context(surface, mode, strategy):
    def merge(current, value):
        assert current is strategy
        assert tf.distribute.in_cross_replica_context()
        return current.reduce(SUM, value, axis=None)

    def fn():
        return tf.distribute.get_replica_context().merge_call(merge, args=(number(),))

    found = mode.evaluate(lambda: surface.results(strategy, fn))
    assert list(found) == [6.0] * 4


def test_merge_functions_take_values_apart(surface, mode, strategy):
    """What a merge function gets is a tuple of tensors for TensorFlow's functions, too."""
    taken = {
        "experimental_local_results": lambda current, value: current.experimental_local_results(
            value
        ),
        "unwrap": lambda current, value: current.unwrap(value),
        "values": lambda current, value: value.values,
    }
    if not versions.HAS_FUNCTION:
        taken.pop("values")  # 1.13's values are by device

    def fn():
        def merge(current, value):
            apart = [take(current, value) for take in taken.values()]
            assert [type(parts) for parts in apart] == [tuple] * len(apart)
            return [tf.reduce_max(tf.stack(parts)) for parts in apart] + [tf.add_n(apart[0])]

        return tf.stack(tf.distribute.get_replica_context().merge_call(merge, args=(number(),)))

    found = mode.evaluate(lambda: surface.results(strategy, fn))
    assert [list(each) for each in found] == [[3.0] * len(taken) + [6.0]] * 4


def test_the_environment_overrides_a_name(surface, monkeypatch):
    monkeypatch.setenv("TPUDIST_TPU", "virtual:2")
    assert surface.strategy("grpc://10.0.0.2:8470").num_replicas_in_sync == 2
    assert surface.strategy("virtual:8").num_replicas_in_sync == 2
    assert surface.strategy_class().num_replicas_in_sync == 2


@pytest.mark.parametrize("tpu", ["virtual:0", "virtual:v3-7", "virtual:many", "virtual:v99-8"])
def test_a_name_of_no_slice(surface, tpu):
    with pytest.raises(TPUNameError) as caught:
        surface.strategy(tpu)
    assert repr(tpu) in str(caught.value)
    assert "virtual:v3-32" in str(caught.value)


def test_a_resolver_of_another_type(surface):
    with pytest.raises(TypeError, match="tpu_cluster_resolver=42"):
        surface.strategy_class(42)


def test_connecting_and_starting_give_the_topology(surface):
    resolver = cluster.TPUClusterResolver("virtual:8")
    cluster.connect_to_cluster(resolver)
    topology = cluster.initialize_tpu_system(resolver)
    assert topology.num_tasks == 1 and topology.num_tpus_per_task == 8
    assert surface.strategy_class(resolver).num_replicas_in_sync == 8


def test_starting_again_says_what_tensorflow_says_of_variables(surface, monkeypatch):
    said = []
    monkeypatch.setattr(tf.compat.v1.logging, "warning", lambda *words: said.append(words))
    resolver = cluster.TPUClusterResolver("virtual:8")
    cluster.shutdown_tpu_system(resolver)
    cluster.initialize_tpu_system(resolver)
    assert not said
    cluster.initialize_tpu_system(resolver)
    [(words, name)] = said
    assert words.startswith("TPU system %s has already been initialized") and name == "virtual:8"


@pytest.mark.slow
def test_it_starts_after_tensorflow_was_used(surface):
    """TensorFlow's device settings are frozen by its first op."""
    module, name = (surface.strategy_class.__module__, surface.strategy_class.__name__)
    code = textwrap.dedent("""
        import tensorflow as tf
        if not tf.executing_eagerly():
            tf.compat.v1.enable_v2_behavior()
        assert float(tf.reduce_sum(tf.ones([3]))) == 3.
        before = tf.config.experimental.list_logical_devices()
        from tpudist.system import cluster
        from %s import %s
        strategy = %s(cluster.TPUClusterResolver("virtual:8"))
        with strategy.scope():
            variable = tf.Variable(1.)
        run = getattr(strategy, "%s")
        total = tf.function(lambda: strategy.reduce(
            "SUM", run(lambda: variable * 2.), axis=None))()
        assert float(total) == 16., total
        assert tf.config.experimental.list_logical_devices() == before
        print("used")
        """) % (module, name, name, "run" if surface.era == "v2_2" else "experimental_run_v2")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "used" in done.stdout
