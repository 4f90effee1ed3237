"""A TPU's workers and cores, as scripts name them: those of a virtual TPU are in this process.

Reference: tf.device, tf.compat.v1.Session and tf.config.list_logical_devices.
"""

from __future__ import annotations

import contextlib
import os
import re
import threading
from typing import TYPE_CHECKING, Any, Iterable, Iterator

import tensorflow as tf

from tpudist import machine
from tpudist.system import cluster, placement
from tpudist.tfcompat import devices
from tpudist.tfcompat import tpu as native
from tpudist.virtual import system as virtual_system

if TYPE_CHECKING:
    from tpudist.annotations import Context

_WORKER = re.compile(r"/job:(worker|tpu_worker|coordinator)\b")
_TASK = re.compile(r"/(replica|task):[0-9]+")


def virtual() -> virtual_system.VirtualSystem | None:
    """The virtual TPU that is started, or that TPUDIST_TPU names; None without one."""
    name = os.environ.get(machine.TPU)
    if cluster.started() is None and virtual_system.is_virtual(name):
        return cluster.described(name)
    return cluster.started()


def device(device_name: Any) -> Context:
    """``tf.device``; a worker of a virtual TPU is this process.

    Args:
      device_name: a device string, ``tf.DeviceSpec``, device function or None.

    Returns:
      A context manager that places ops on the device.

    Context: any; device functions in a graph alone.
    """
    if hasattr(device_name, "to_string"):
        device_name = device_name.to_string()
    system = virtual() if isinstance(device_name, str) and _WORKER.search(device_name) else None
    if system is None:
        return tf.compat.v1.device(device_name)
    # A worker of a cluster has another name, and is meant where none is said.
    job, part = ("", "") if system.is_cluster else ("/job:localhost", r"/\1:0")
    here = _TASK.sub(part, _WORKER.sub(job, device_name))
    return _named(device_name, tf.compat.v1.device(here))


#: Of each thread, the names of the workers that the `device` blocks around the current code name.
_names = threading.local()


@contextlib.contextmanager
def _named(name: str, placed: Any) -> Iterator[None]:
    """Context manager: `placed`, in which `named_worker` returns `name`."""
    before, _names.last = named_worker(), name
    try:
        with placed:
            yield
    finally:
        _names.last = before


def named_worker() -> str:
    """The innermost device string that names a worker of a virtual TPU; "" where none does."""
    return getattr(_names, "last", "")


class _AnySession(type):
    """Metaclass: Sessions that TensorFlow made itself are instances too."""

    def __instancecheck__(cls, instance: object) -> bool:
        own = cls in (Session, InteractiveSession)
        return isinstance(instance, cls.__mro__[2]) if own else super().__instancecheck__(instance)


class _OnWorkers:
    """A Session on a virtual TPU's workers runs in this process, whatever its address."""

    def __init__(self, target: object = "", graph: object = None, config: object = None) -> None:
        self._tpudist_system = virtual() if target or cluster.started() else None
        if config is not None:
            devices.configure(config)
        inherited: Any = super()
        inherited.__init__("" if self._tpudist_system else target, graph, config)

    def list_devices(self) -> list[Any]:
        """The devices of the workers; a virtual TPU's cores are among them."""
        inherited: Any = super()
        return with_cores(inherited.list_devices(), self._tpudist_system)


def with_cores(devices: Iterable[Any], system: virtual_system.VirtualSystem | None) -> list[Any]:
    """A Session's list of devices, with a virtual TPU's cores and its system device.

    Logical CPUs that stand for its cores are left out.
    """
    listed = list(devices)
    if system is None or any(each.device_type == "TPU" for each in listed):
        return listed
    if system.kind == "CPU":
        listed = [each for each in listed if each.device_type != "CPU" or each.name[-2:] == ":0"]
    topology = placement.topology(system)
    cores = list(native.system_metadata(system.cores, system.hosts, topology).devices)
    return listed + cores + [native.system_device()]


class Session(_OnWorkers, tf.compat.v1.Session, metaclass=_AnySession):
    """``tf.compat.v1.Session``; on a virtual TPU in this process.

    Args:
      target: address of a worker, such as ``"grpc://" + os.environ["COLAB_TPU_ADDR"]``.
      graph, config: as TensorFlow's.

    Reference: tf.compat.v1.Session.
    """


class InteractiveSession(_OnWorkers, tf.compat.v1.InteractiveSession, metaclass=_AnySession):
    """``tf.compat.v1.InteractiveSession``; on a virtual TPU in this process.

    Args:
      target, graph, config: as `Session` takes them.

    Reference: tf.compat.v1.InteractiveSession.
    """


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
