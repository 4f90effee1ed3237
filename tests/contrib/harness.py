"""Runs the same test in a TF 1 graph with a Session, and eagerly."""

import contextlib

import numpy as np
import tensorflow as tf
from tensorflow.python.eager import context as eager_context
from tensorflow.python.util import nest

from tests.helpers import cores
from tests.helpers.generations import first_generation_switches
from tpudist.contrib.cluster_resolver import TPUClusterResolver
from tpudist.contrib.distribute import TPUStrategy

tf1 = tf.compat.v1


class Graph:
    """A graph and its Session."""

    eager = False

    def __init__(self):
        self._session = None

    def run(self, fetches, **kwargs):
        """The values of a nest; variables are initialised first, once."""
        if self._session is None:
            self._session = tf1.Session()
            self._session.run(
                [tf1.global_variables_initializer(), tf1.local_variables_initializer()]
            )
        return self._session.run(fetches, **kwargs)

    def close(self):
        if self._session is not None:
            self._session.close()


class Eager:
    """Eager mode: values are there already."""

    eager = True

    def run(self, fetches):
        return nest.map_structure(_value, fetches)

    def close(self):
        pass


def _value(leaf):
    return leaf.numpy() if hasattr(leaf, "numpy") else leaf


@contextlib.contextmanager
def enter(name):
    """The mode "graph", "graph_v1" or "eager" as a context manager."""
    with contextlib.ExitStack() as stack:
        if name == "graph_v1":
            stack.enter_context(first_generation_switches())
        if name == "eager":
            stack.enter_context(eager_context.eager_mode())
            tf1.reset_default_graph()  # which knows how the last loss, of another test, was reduced
            mode = Eager()
        else:
            stack.enter_context(tf.Graph().as_default())
            mode = Graph()
        stack.callback(mode.close)
        yield mode


MODES = ["graph", "graph_v1", "eager"]


def strategy_of(towers=8, **kwargs):
    """A strategy on a virtual TPU of that many cores, or of that name."""
    name = towers if isinstance(towers, str) else "virtual:%d" % towers
    return TPUStrategy(TPUClusterResolver(cores.named(name)), steps_per_run=2, **kwargs)


def numbers(count):
    """A dataset_fn: 0., 1., 2., ..."""
    return lambda: tf.data.Dataset.range(count).map(lambda x: tf.cast(x, tf.float32))


def data(distribution, dataset_fn=None):
    """A one-shot iterator over what each tower takes; numbers if nothing else is given."""
    dataset = distribution.distribute_dataset(dataset_fn or numbers(1000))
    return dataset.make_one_shot_iterator()


def counter(name, **kwargs):
    """A variable that starts at zero and is not trained."""
    return tf1.get_variable(
        name, [], initializer=tf1.zeros_initializer(), trainable=False, **kwargs
    )


def close(actual, expected, rtol=1e-5):
    np.testing.assert_allclose(np.array(actual), np.array(expected), rtol=rtol)
