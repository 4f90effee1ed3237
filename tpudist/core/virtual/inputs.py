"""Where input pipelines run: one per host of the slice, all on one machine."""

import tensorflow as tf

from tensorflow.python.distribute import input_lib
from tensorflow.python.distribute import numpy_dataset
from tensorflow.python.distribute import values

from tpudist.core import versions


def set_devices(extended, devices, host):
    """Gives `extended` its replica labels and the hosts that feed them.

    Args:
      extended: the `VirtualExtended` under construction.
      devices: N replica labels.
      host: the real CPU device on which every pipeline runs.
    """
    extended._host_input_device = numpy_dataset.SingleDevice(host)
    extended._host = host
    extended._inferred_cross_device_ops = None
    extended._is_multi_worker_training = False
    extended._local_mode = True
    if versions.DEVICE_MAP:
        extended._device_map = _LabelMap(devices)
        extended._input_workers = _workers_by_label(extended, devices)
    else:
        extended._devices = tuple(devices)
        if not versions.TRACE_ONCE:
            extended._input_workers = workers(extended)


def workers(extended, unused_options=None):
    """One input worker per host, each feeding its replicas on that host."""
    feeds = (extended._host,) * extended.num_replicas_per_host
    return input_lib.InputWorkers(
        [(extended._host, feeds)] * extended.num_hosts)


def without_prefetch(options):
    """The input options of a dataset whose replicas all live on the host.

    TensorFlow prefetches each replica's share to its device, through a buffer
    and a thread per replica. Here there is nothing to copy, and 32 such
    buffers on one device may wait for each other for ever.

    Args:
      options: () or (InputOptions or None,), as the release passes them.
    """
    if options != (None,) or not versions.HAS_OPTIONS or (
            not tf.executing_eagerly()):
        return options
    field, = [name for name in tf.distribute.InputOptions._fields
              if name.endswith("fetch_to_device")]  # prefetch in 2.4
    return (tf.distribute.InputOptions(**{field: False}),)


def _workers_by_label(extended, devices):
    per_host = extended.num_replicas_per_host
    pairs = [(extended._host, devices[i:i + per_host])
             for i in range(0, len(devices), per_host)]
    made = input_lib.InputWorkers(extended._device_map, pairs)
    made._fed_devices = tuple(
        (extended._host,) * per_host for _ in range(extended.num_hosts))
    return made


if versions.DEVICE_MAP:
    class _LabelMap(values.ReplicaDeviceMap):
        """Replica labels; whatever lives on the real device is replica 0's."""

        def is_device_in_replica(self, device, replica_id):
            return True

        def select_for_device(self, values, device):
            return values[self._device_to_replica.get(device, 0)]
