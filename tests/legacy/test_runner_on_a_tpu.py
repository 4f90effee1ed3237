"""Scripts as their era wrote them, on a virtual TPU."""

import pytest

from tests.helpers.generations import second_generation
from tests.legacy.harness import in_a_process
from tpudist import surfaces
from tpudist.legacy import runner

pytestmark = pytest.mark.slow

tf = pytest.importorskip("tensorflow")


# With the facades: scripts as their era wrote them.

CONTRIB_TPU = """
    from __future__ import print_function
    import tensorflow as tf
    from tensorflow.contrib.distribute.python import tpu_strategy

    resolver = tf.contrib.cluster_resolver.TPUClusterResolver("grpc://10.0.0.2:8470")
    strategy = tpu_strategy.TPUStrategy(resolver, steps_per_run=2)

    def merge(distribution, value):
      return tf.add_n(list(distribution.unwrap(value)))

    def tower(three):
      context = tf.get_tower_context()
      return three + context.merge_call(merge, three + tf.to_int32(context.tower_id))

    with strategy.scope():
      merged = strategy.unwrap(strategy.call_for_each_tower(tower, 3))

    with tf.Session() as session:
      session.run(strategy.initialize())
      print(strategy.num_towers, [int(v) for v in session.run(list(merged))])
      session.run(strategy.finalize())
    """

V2_TPU = """
    import tensorflow as tf

    resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="my-tpu")
    tf.config.experimental_connect_to_cluster(resolver)
    tf.tpu.experimental.initialize_tpu_system(resolver)
    strategy = tf.distribute.experimental.TPUStrategy(resolver)
    assert isinstance(strategy, tf.distribute.experimental.TPUStrategy)

    @tf.function
    def step():
      def replica():
        return tf.distribute.get_replica_context().replica_id_in_sync_group + 1
      return strategy.reduce("SUM", strategy.%s(replica), axis=None)

    print(strategy.num_replicas_in_sync, step().numpy())
    """


def test_a_contrib_script_on_a_virtual_tpu(script, capsys):
    assert runner.run(script(CONTRIB_TPU), tpu="virtual:4") == 0
    out, err = capsys.readouterr()
    assert out == "4 [21, 21, 21, 21]\n"
    assert err.startswith("era: contrib (tf.contrib.distribute.python.tpu_strategy")


@second_generation
@pytest.mark.parametrize(("era", "method"), [("v2_0", "experimental_run_v2"), ("v2_2", "run")])
def test_a_2_script_on_a_virtual_tpu(script, capsys, era, method):
    assert runner.run(script(V2_TPU % method), tpu="virtual:4") == 0
    out, err = capsys.readouterr()
    assert out == "4 10\n"
    assert err.startswith("era: %s (.%s at script.py:14" % (surfaces.spelled(era), method))


@second_generation
@pytest.mark.parametrize("strategy", ["MirroredStrategy(['/cpu:0'])", "get_strategy()"])
def test_a_2_0_script_without_a_tpu(script, capsys, strategy):
    path = script(
        """
        import tensorflow as tf
        strategy = tf.distribute.%s
        out = strategy.experimental_run_v2(lambda x: x + 1.0, args=(tf.constant(2.0),))
        print(float(strategy.experimental_local_results(out)[0]))
        """
        % strategy
    )
    before = hasattr(tf.distribute.Strategy, "experimental_run_v2")
    assert runner.run(path) == 0
    out, err = capsys.readouterr()
    assert out == "3.0\n" and err.startswith("era: 2.0")
    assert hasattr(tf.distribute.Strategy, "experimental_run_v2") == before


@pytest.mark.parametrize("method", ["experimental_run_v2", "run"])
def test_a_2_script_in_a_process_of_its_own(script, method):
    process = in_a_process(script(V2_TPU % method), (), None, "virtual:2")
    assert process.returncode == 0, process.stderr
    assert process.stdout == "2 3\n"
