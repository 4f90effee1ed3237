"""``tf.config.list_logical_devices``, with the cores of a virtual TPU that was started."""

from __future__ import annotations

from typing import TYPE_CHECKING

import tensorflow as tf

from tpudist.core.system import cluster

if TYPE_CHECKING:
    from typing import Any


def list_logical_devices(device_type: str | None = None) -> list[Any]:
    """The logical devices of this process, as on a TPU that it is connected to.

    Args:
      device_type: "TPU", "CPU", ...; None for all.

    Returns:
      A list of objects with `name` and `device_type`. A virtual TPU's cores are among them
      from ``initialize_tpu_system`` to ``shutdown_tpu_system``.

    Reference: tf.config.list_logical_devices (TensorFlow 2.1).
    """
    devices = list(tf.config.experimental.list_logical_devices(device_type))
    system = cluster.started()
    if system is None or device_type not in (None, "TPU"):
        return devices
    kind: Any = type(tf.config.experimental.list_logical_devices("CPU")[0])
    cores = range(system.cores)
    return devices + [kind(name="/device:TPU:%d" % core, device_type="TPU") for core in cores]
