"""A mirrored variable that is stored once is checked, saved and restored once."""

import numpy as np
import tensorflow as tf

from tpudist.system import cluster
from tpudist.v2_0.strategy import TPUStrategy

tf1 = tf.compat.v1


def saved_by(cores, folder):
    """(types of the ops that check, save and restore a variable; what was restored)."""
    with tf.Graph().as_default() as graph, tf1.Session(graph=graph) as session:
        strategy = TPUStrategy(cluster.TPUClusterResolver("virtual:%d" % cores))
        with strategy.scope():
            variable = tf1.get_variable("v", [3], initializer=tf1.ones_initializer())
        before = len(graph.get_operations())
        has_value, saver = variable.is_initialized(), tf1.train.Saver([variable])
        made = sorted(op.type for op in graph.get_operations()[before:])
        assert not session.run(has_value)
        session.run(variable.initializer)
        assert session.run(has_value)
        part = strategy.experimental_local_results(variable)[0]
        with strategy.scope():
            change = variable.assign([2.0, 3.0, 4.0])
        session.run(strategy.experimental_local_results(change))
        path = saver.save(session, str(folder / "model"))
        session.run(variable.initializer)
        saver.restore(session, path)
        return made, session.run(part.read_value()), path


def test_eight_cores_need_no_more_ops_than_two(tmp_path):
    on_two, on_eight = saved_by(2, tmp_path), saved_by(8, tmp_path)
    assert on_eight[0] == on_two[0]
    np.testing.assert_array_equal(on_eight[1], [2, 3, 4])
    np.testing.assert_array_equal(on_two[1], [2, 3, 4])
    assert tf1.train.list_variables(on_eight[2]) == [("v", [3])]
