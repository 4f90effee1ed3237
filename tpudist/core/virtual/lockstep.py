"""Replicas traced one by one, in threads that meet at every merge_call.

This is the mirrored strategy's own engine; what is added is that a replica's
ops go to the one real device instead of to the replica's label.
"""

import contextlib

import tensorflow as tf

from tpudist.core import functions
from tpudist.core import natives
from tpudist.core import versions


def run(extended, fn, args, kwargs):
    """Traces `fn` once per replica into the current graph.

    Context: cross-replica, in a graph or a ``tf.function``.
    """
    def on_the_device(*replica_args, **replica_kwargs):
        with _label(extended), extended.place():
            return fn(*replica_args, **replica_kwargs)
    return natives.MirroredExtended._call_for_each_replica(
        extended, functions.do_not_convert(on_the_device), args, kwargs)


@contextlib.contextmanager
def _label(extended):
    """Keeps the replica's label current where the release looks for it.

    With a device map, nested functions are cached and variables are found by
    the eager context's device.
    """
    if not versions.DEVICE_MAP or tf.executing_eagerly():
        yield
        return
    replica_id = functions.static_value(
        tf.distribute.get_replica_context().replica_id_in_sync_group)
    with functions.eager_device(extended.worker_devices[replica_id]):
        yield
