"""Places to save in and to restore in: 8, 2 or 1 cores, or no strategy."""

import contextlib

import tensorflow as tf

from tpudist.system import cluster
from tpudist.v2_2.strategy import TPUStrategy

SUM = tf.VariableAggregation.SUM
MEAN = tf.VariableAggregation.MEAN
NONE = tf.VariableAggregation.NONE
ON_READ = tf.VariableSynchronization.ON_READ

#: (cores to save on, cores to restore on); 0 is plain TensorFlow.
MOVES = [(8, 0), (8, 1), (8, 2), (0, 8), (2, 8), (8, 8)]


class World:
    """Some cores, or none: TensorFlow without a strategy.

    Attributes:
      cores: how many replicas; 1 without a strategy.
    """

    def __init__(self, cores):
        self.cores = max(cores, 1)
        self._strategy = cores and TPUStrategy(cluster.TPUClusterResolver("virtual:%d" % cores))

    def scope(self):
        """The strategy's scope, if there is a strategy."""
        if self._strategy:
            return self._strategy.scope()
        return contextlib.nullcontext()

    def variable(self, value, **kwargs):
        """A variable of this world."""
        with self.scope():
            return tf.Variable(value, **kwargs)

    def run(self, fn):
        """Runs ``fn(replica number)`` on every replica, in a tf.function.

        What `fn` returns is not returned.
        """

        def replica():
            context = tf.distribute.get_replica_context()
            fn(tf.cast(context.replica_id_in_sync_group, tf.float32))

        @tf.function
        def step():
            if self._strategy:
                self._strategy.run(replica)
            else:
                replica()

        step()

    def parts(self, variable):
        """The variable's numbers, one per replica."""
        if not self._strategy:
            return [variable.numpy().tolist()]
        return [
            part.numpy().tolist() for part in self._strategy.experimental_local_results(variable)
        ]


def names(path):
    """Names in a checkpoint, without what TensorFlow writes for itself."""
    return sorted(
        name
        for name, _ in tf.train.list_variables(path)
        if name not in ("_CHECKPOINTABLE_OBJECT_GRAPH", "save_counter/.ATTRIBUTES/VARIABLE_VALUE")
    )
