"""The GPUs and logical CPUs of this machine."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from tensorflow.core.protobuf import rewriter_config_pb2

from tpudist.errors import ArgumentError
from tpudist.tfcompat import tpu, versions

#: The CPU device on which input pipelines run.
HOST = tpu.HERE + "CPU:0"


def gpus() -> int:
    """The number of GPUs that TensorFlow sees."""
    if versions.HAS_LOGICAL_DEVICES:
        return len(tf.config.experimental.list_physical_devices("GPU"))
    return sum("GPU" in name for name in tpu.real_devices())


def provided(kind: str, count: int) -> list[str]:
    """The names of `count` devices; of as many logical CPUs if `kind` is "CPU"."""
    if kind == "CPU":
        _divide_cpu(count)
    elif gpus() < count:
        raise ArgumentError(
            "%d GPU(s) as TPU cores" % count,
            "TensorFlow sees %d GPU(s) on this machine" % gpus(),
            "a smaller number, or cpus:%d: logical CPUs" % count,
        )
    return [tpu.HERE + "%s:%d" % (kind, i) for i in range(count)]


def configure(config: Any) -> None:
    """Gives a Session's ``ConfigProto``, in place, the process' logical CPUs, if any."""
    count = _logical_cpus()
    if count > 1:
        config.device_count["CPU"] = max(config.device_count["CPU"], count)
        if not versions.CONSTANTS_OF_DEVICES_MAY_BE_FOLDED:
            options = config.graph_options.rewrite_options
            options.constant_folding = rewriter_config_pb2.RewriterConfig.OFF


def _logical_cpus() -> int:
    """Into how many logical CPUs the CPU is divided; 1 if it is not."""
    if not versions.HAS_LOGICAL_DEVICES:
        return 1
    experimental = tf.config.experimental
    cpu = experimental.list_physical_devices("CPU")[0]
    return len(experimental.get_virtual_device_configuration(cpu) or [None])


def _divide_cpu(count: int) -> None:
    if not versions.HAS_LOGICAL_DEVICES:
        raise ArgumentError(
            "%d logical CPUs as TPU cores" % count,
            "TensorFlow %s divides the CPU for each Session anew" % versions.TF,
            "virtual:%d, or TensorFlow 1.14 or newer" % count,
        )
    if _logical_cpus() >= count:
        return
    experimental = tf.config.experimental
    cpu = experimental.list_physical_devices("CPU")[0]
    parts = [experimental.VirtualDeviceConfiguration() for _ in range(count)]
    try:
        experimental.set_virtual_device_configuration(cpu, parts)
    except RuntimeError as error:
        raise ArgumentError(
            "%d logical CPUs as TPU cores, after TensorFlow has been used" % count,
            "TensorFlow divides the CPU when it starts: %s" % error,
            "TPUClusterResolver(tpu='cpus:%d') before the first tensor, or tpudist run --tpu "
            "cpus:%d" % (count, count),
        ) from error
