"""Starting a TPUEstimator's training does not cost more on more cores."""

import pytest
import tensorflow as tf

from tests.estimator import harness
from tests.helpers import cores
from tpudist.tfcompat import nests, versions

tf1 = tf.compat.v1


class GraphHook(tf1.train.SessionRunHook):
    """Keeps the graph of a training."""

    def before_run(self, run_context):
        self.graph = run_context.session.graph

    def ops(self):
        """Returns the types of the graph's ops, and of those of its functions, sorted."""
        definition = self.graph.as_graph_def()
        bodies = [list(function.node_def) for function in definition.library.function]
        return sorted(node.op for body in [list(definition.node), *bodies] for node in body)


def graph_of_training(cores, folder):
    """Trains on a number of cores, and returns the hook with the graph."""
    hook = GraphHook()
    harness.estimator(folder, tpu_name="virtual:%d" % cores, per_loop=2).train(
        harness.input_fn, hooks=[hook], max_steps=4
    )
    return hook


@cores.virtual_only
@pytest.mark.skipif(not versions.TRACES_AS_FIRST, reason="1.13 traces each core")
def test_the_graph_is_as_large_on_eight_cores_as_on_two(tmp_path):
    assert graph_of_training(8, tmp_path / "8").ops() == graph_of_training(2, tmp_path / "2").ops()


@cores.virtual_only
def test_every_variable_is_assigned_once_from_a_checkpoint(tmp_path):
    graph = graph_of_training(8, tmp_path).graph
    variables = [op for op in graph.get_operations() if op.type == "VarHandleOp"]
    restored = [
        op
        for op in graph.get_operations()
        if op.type == "AssignVariableOp" and op.name.startswith("save/")
    ]
    assert len(restored) == len(variables) == 5


def test_every_loop_fetches_the_same_tensors(tmp_path, monkeypatch):
    # The Session compiles a graph for each set of fetches.
    fetched = set()
    run = tf1.Session.run

    def noting_run(session, fetches, feed_dict=None, options=None, run_metadata=None):
        if isinstance(fetches, dict) and "caller" in fetches:
            flat = [each for asked in fetches.values() for each in nests.flatten(asked)]
            fetched.add(frozenset(each.name for each in flat))
        return run(session, fetches, feed_dict, options, run_metadata)

    monkeypatch.setattr(tf1.Session, "run", noting_run)
    est = harness.estimator(tmp_path, per_loop=1, log_step_count_steps=3)
    est.train(harness.input_fn, max_steps=8)
    assert len(fetched) == 1


def test_an_uninitialized_variable_is_named(tmp_path):
    def scaffold_fn():
        return tf1.train.Scaffold(init_op=tf.no_op())

    def fields(loss):
        return {"scaffold_fn": scaffold_fn}

    est = harness.estimator(tmp_path, params={"fields": fields})
    with pytest.raises(RuntimeError, match="linear/b"):
        est.train(harness.input_fn, max_steps=4)
