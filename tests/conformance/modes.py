"""The two axes of the conformance cases: surface and mode."""

import contextlib

import tensorflow as tf

from tests.helpers import cores
from tpudist import surfaces
from tpudist.system import cluster
from tpudist.v2_0.strategy import TPUStrategy as TPUStrategy20
from tpudist.v2_2.strategy import TPUStrategy as TPUStrategy22

tf1 = tf.compat.v1
SUM, MEAN = tf.distribute.ReduceOp.SUM, tf.distribute.ReduceOp.MEAN

#: {era: {member: [names of its cases]}}, filled by :func:`covers`.
COVERED = {"v2_0": {}, "v2_2": {}}


def covers(*members, eras=("v2_0", "v2_2")):
    """Declares which members of the surfaces a case is about."""

    def declare(case):
        for era in eras:
            for member in members:
                COVERED[era].setdefault(member, []).append(case.__name__)
        return case

    return declare


class Surface:
    """One era's strategy class, and how its replicas are run."""

    def __init__(self, era, strategy_class, run):
        self.era = era
        self.strategy_class = strategy_class
        self._run = run

    def strategy(self, tpu="virtual:4", **kwargs):
        """A strategy on the virtual TPU of that name."""
        return self.strategy_class(cluster.TPUClusterResolver(cores.named(tpu)), **kwargs)

    def run(self, strategy, fn, *args, **kwargs):
        """`run` or `experimental_run_v2`."""
        return getattr(strategy, self._run)(fn, args=args, kwargs=kwargs)

    def results(self, strategy, fn, *args, **kwargs):
        """What `fn` returned on each replica, a tuple."""
        return strategy.experimental_local_results(self.run(strategy, fn, *args, **kwargs))

    def members(self):
        """{name: row of the table} of the class."""
        return surfaces.members(self.era)


V2_0 = Surface("v2_0", TPUStrategy20, "experimental_run_v2")
V2_2 = Surface("v2_2", TPUStrategy22, "run")


class Graph:
    """A graph and its Session."""

    eager = False

    def __init__(self):
        self._session = None

    def evaluate(self, build):
        """Builds once, and fetches the values of the nest it returns."""
        return self.fetch(build())

    def fetch(self, fetches):
        """Values of a nest of tensors; variables are initialised once."""
        if self._session is None:
            self._session = tf1.Session()
            self._session.run(tf1.global_variables_initializer())
        return self._session.run(fetches)

    def batches(self, strategy, dataset, steps):
        """The parts of the replicas in each of the first `steps` batches."""
        iterator = tf1.data.make_initializable_iterator(dataset)
        parts = strategy.experimental_local_results(iterator.get_next())
        self._start(iterator)
        return [self._session.run(parts) for _ in range(steps)]

    def _start(self, iterator):
        if self._session is None:
            self._session = tf1.Session()
        self._session.run(iterator.initializer)

    def close(self):
        """Closes the Session."""
        if self._session is not None:
            self._session.close()


class Function:
    """Eager mode with ``tf.function``."""

    eager = True

    def __init__(self):
        self._function = tf.function

    def evaluate(self, build):
        """Calls `build` as a ``tf.function``."""
        return self.fetch(self._function(build)())

    def fetch(self, fetches):
        """Values of a nest of eager tensors."""
        return tf.nest.map_structure(
            lambda leaf: leaf.numpy() if hasattr(leaf, "numpy") else leaf, fetches
        )

    def batches(self, strategy, dataset, steps):
        """The parts of the replicas in each of the first `steps` batches."""
        found = [
            self.fetch(strategy.experimental_local_results(batch))
            for _, batch in zip(range(steps), dataset)
        ]
        assert len(found) == steps
        return found

    def close(self):
        """Nothing to close."""


@contextlib.contextmanager
def enter(name):
    """The mode "graph" or "function", entered."""
    with contextlib.ExitStack() as stack:
        if name == "graph":
            stack.enter_context(tf.Graph().as_default())
            mode = Graph()
        else:
            assert tf.executing_eagerly()
            mode = Function()
        stack.callback(mode.close)
        yield mode


def replica():
    """The current replica context."""
    return tf.distribute.get_replica_context()


def number():
    """The replica's id as a float32 scalar."""
    return tf.cast(replica().replica_id_in_sync_group, tf.float32)


def per_replica(surface, strategy, tensors):
    """A per-replica value that holds `tensors`, one per replica.

    Made with `values_from_function` where the surface has it, else by running
    a function that picks.
    """
    if surface is V2_2:
        return strategy.experimental_distribute_values_from_function(
            lambda context: tf.convert_to_tensor(tensors[context.replica_id_in_sync_group])
        )
    stacked = tf.stack([tf.convert_to_tensor(each) for each in tensors])
    return surface.run(strategy, lambda: tf.gather(stacked, replica().replica_id_in_sync_group))
