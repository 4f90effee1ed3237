"""What starting a TPUEstimator's training costs: it does not grow with the cores."""

import pytest
import tensorflow as tf

from tests.estimator import harness
from tpudist.tfcompat import nests, versions

tf1 = tf.compat.v1


class Graph(tf1.train.SessionRunHook):
    """The graph of a training."""

    def before_run(self, run_context):
        self.graph = run_context.session.graph

    def ops(self):
        """The types of its ops, and of those of its functions, sorted."""
        definition = self.graph.as_graph_def()
        bodies = [list(function.node_def) for function in definition.library.function]
        return sorted(node.op for body in [list(definition.node), *bodies] for node in body)


def trained_on(cores, folder):
    hook = Graph()
    harness.estimator(folder, tpu_name="virtual:%d" % cores, per_loop=2).train(
        harness.input_fn, hooks=[hook], max_steps=4
    )
    return hook


@pytest.mark.skipif(not versions.TRACES_AS_FIRST, reason="1.13 traces each core")
def test_the_graph_is_as_large_on_eight_cores_as_on_two(tmp_path):
    assert trained_on(8, tmp_path / "8").ops() == trained_on(2, tmp_path / "2").ops()


def test_every_variable_is_assigned_once_from_a_checkpoint(tmp_path):
    graph = trained_on(8, tmp_path).graph
    variables = [op for op in graph.get_operations() if op.type == "VarHandleOp"]
    restored = [
        op
        for op in graph.get_operations()
        if op.type == "AssignVariableOp" and op.name.startswith("save/")
    ]
    assert len(restored) == len(variables) == 5


def test_every_loop_fetches_the_same(tmp_path, monkeypatch):
    # The Session compiles a graph for each set of fetches.
    seen = set()
    run = tf1.Session.run

    def noted(session, fetches, feed_dict=None, options=None, run_metadata=None):
        if isinstance(fetches, dict) and "caller" in fetches:
            flat = [each for asked in fetches.values() for each in nests.flatten(asked)]
            seen.add(frozenset(each.name for each in flat))
        return run(session, fetches, feed_dict, options, run_metadata)

    monkeypatch.setattr(tf1.Session, "run", noted)
    made = harness.estimator(tmp_path, per_loop=1, log_step_count_steps=3)
    made.train(harness.input_fn, max_steps=8)
    assert len(seen) == 1


def test_a_variable_without_a_value_is_told_by_name(tmp_path):
    def scaffold_fn():
        return tf1.train.Scaffold(init_op=tf.no_op())

    def more(loss):
        return {"scaffold_fn": scaffold_fn}

    made = harness.estimator(tmp_path, params={"more": more})
    with pytest.raises(RuntimeError, match="linear/b"):
        made.train(harness.input_fn, max_steps=4)
