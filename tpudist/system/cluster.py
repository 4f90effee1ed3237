"""Finding and starting a TPU: the resolver and the system functions.

Reference: tf.distribute.cluster_resolver.TPUClusterResolver and
tf.tpu.experimental.initialize_tpu_system (TensorFlow 2.2 API pages).
"""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from tpudist import machine
from tpudist.cloud import places
from tpudist.errors import ArgumentError, ArgumentTypeError, TPUNameError
from tpudist.system import named_tpus, placement, tasks
from tpudist.tfcompat import clusters, devices, tpu_client, versions
from tpudist.tfcompat import tpu as native
from tpudist.virtual import system as virtual_system

if TYPE_CHECKING:
    from tpudist.annotations import Resolver
    from tpudist.tfcompat.annotations import Topology


#: Environment variable: the real device that computes for a virtual TPU,
#: ``CPU:0`` (the default) or ``GPU:0``.
DEVICE = "TPUDIST_DEVICE"

#: The TPU that the program has initialized, if any: a virtual one, or None for a native one.
_started: list[virtual_system.VirtualSystem | None] = []

#: What TensorFlow says then; a virtual TPU loses none.
_AGAIN = (
    "TPU system %s has already been initialized. Reinitializing the TPU can cause previously "
    "created variables on TPU to be lost."
)


def _one(tpu: object) -> str | None:
    """The name of one TPU, as a resolver takes it: a string, or a list of one.

    Raises:
      ArgumentTypeError: (a TypeError) it is no name.
      TPUNameError: (a ValueError) it names several TPUs.
    """
    if isinstance(tpu, bytes):
        tpu = tpu.decode()
    if isinstance(tpu, (list, tuple)) and len(tpu) > 1:
        raise TPUNameError(
            "tpu=%r" % (tpu,),
            "a strategy runs on one TPU, and these are %d" % len(tpu),
            "tpu=%r; several hosts of one TPU have one name" % (tpu[0],),
        )
    name = tpu[0] if isinstance(tpu, (list, tuple)) and tpu else tpu or None
    if name is not None and not isinstance(name, str):
        raise ArgumentTypeError(
            "tpu=%r" % (tpu,),
            "it is the name of a TPU",
            "tpu='virtual:%d', with so many cores" % name
            if type(name) is int and name > 0
            else "tpu='my-tpu', or tpu='virtual:8' where there is no TPU",
        )
    return name


class _NoClient:
    """The client of Google's TPU API of a TPU that Google does not know."""

    def api_available(self) -> bool:
        """Whether the API can be asked for the TPU's state."""
        return False


class TPUClusterResolver(native.TPUClusterResolver):
    """Finds a TPU by name; a virtual TPU if the name asks for one."""

    def __init__(
        self,
        tpu: str | list[str] | tuple[str, ...] | None = None,
        zone: str | None = None,
        project: str | None = None,
        job_name: str = "worker",
        *args: Any,
        **kwargs: Any,
    ) -> None:
        """Finds a TPU by name; a virtual TPU if the name asks for one.

        Args:
          tpu: a TPU's name (or a list of one), its ``grpc://`` address, ``"local"``, or a virtual
            TPU: ``"virtual"``, ``"virtual:8"``, ``"virtual:v3-32"``; or devices
            of this machine as cores: ``"gpus"``, ``"gpus:4"``, ``"cpus:8"``; or those of each
            worker of a cluster: ``"cluster"``, ``"cluster:gpus:4"``, ``"cluster:virtual:8"``. The
            environment variable TPUDIST_TPU overrides it; TPU_NAME is read where there is none.
          zone, project, job_name, ...: as the native class takes them; unused by
            a virtual TPU.

        Raises:
          TPUNameError: no TPU is named, several are, or there cannot be one of that name.
          ArgumentTypeError: (a TypeError) `tpu` is no name.
          TPUAccessError: Google's services cannot be asked for it.
        """
        given = _one(tpu)  # refused also where the environment says another
        name = os.environ.get(machine.TPU) or given
        found = name or places.named(None, os.environ)
        self._system = None
        if virtual_system.is_virtual(found):
            self._system = described(found)
            self._tpu, self._job_name, self.task_type, self.task_id = found, job_name, job_name, 0
            self._environment, self._rpc_layer, self.rpc_layer = "", None, None
            self._cloud_tpu_client = _NoClient()  # TensorFlow's TPUEstimator asks it.
            return
        name = "local" if found.lower() == "local" else name
        start = functools.partial(super().__init__, name, zone, project, job_name, *args, **kwargs)
        named_tpus.constructed(self, start, name, zone, project)

    @property
    def system(self) -> virtual_system.VirtualSystem | None:
        """The `VirtualSystem`, or None for a real TPU."""
        return self._system

    def master(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
        task_index: int | None = None,
    ) -> str:
        """The Session target; ``""`` (in process) for a virtual TPU.

        Args:
          task_type, task_id, rpc_layer: which task, and how; by default the first.
          task_index: `task_id`, as TensorFlow 1.12 and 1.13 call it.
        """
        if self._system:
            return ""
        return super().master(task_type, task_id if task_index is None else task_index, rpc_layer)

    def get_master(self) -> str:
        """The same as `master()`."""
        return self.master()

    def get_job_name(self) -> str:
        """The name of the TPU workers' job."""
        return self._job_name if self._system else super().get_job_name()

    def cluster_spec(self) -> object:
        """The cluster of the TPU workers; a virtual TPU's are names in this process.

        Raises:
          TPUStateError: the TPU cannot be used now, and why.
          TPUAccessError, TPUNameError: it cannot be asked for.
        """
        if self._system:
            hosts = ["localhost:%d" % (8470 + host) for host in range(self._system.hosts)]
            return tf.train.ClusterSpec({self._job_name: hosts})
        if tpu_client.asks_the_api(self):
            return named_tpus.answer(self, super().cluster_spec)
        return super().cluster_spec()

    def num_accelerators(self, *args: Any, **kwargs: Any) -> dict[str, int]:
        """Cores per host, as ``{"TPU": n}``."""
        if self._system:
            return {"TPU": self._system.cores_per_host}
        return super().num_accelerators(*args, **kwargs)

    def get_tpu_system_metadata(self) -> object:
        """Cores, hosts and devices of the TPU."""
        if self._system:
            return native.system_metadata(
                self._system.cores, self._system.hosts, placement.topology(self._system)
            )
        if versions.RESOLVER_HAS_METADATA:
            return super().get_tpu_system_metadata()
        return native.query_metadata(self)

    @property
    def environment(self) -> str:
        """The environment the TPU was found in; empty for a virtual TPU."""
        return "" if self._system else super().environment

    @classmethod
    def connect(
        cls, tpu: str | None = None, zone: str | None = None, project: str | None = None
    ) -> TPUClusterResolver:
        """A resolver whose TPU is connected and initialized."""
        resolver = cls(tpu, zone, project)
        connect_to_cluster(resolver)
        initialize_tpu_system(resolver)
        return resolver


def resolve(resolver: object) -> Any:
    """The resolver to use in place of what a script passed.

    Args:
      resolver: a resolver, a TPU name, or None for the local TPU. A native
        resolver is replaced where TPUDIST_TPU asks for a virtual TPU.

    Raises:
      ArgumentTypeError: it is something else.
    """
    if resolver is None or isinstance(resolver, str):
        return TPUClusterResolver(resolver or "")
    if system_of(resolver) is None and virtual_system.is_virtual(os.environ.get(machine.TPU)):
        return TPUClusterResolver()
    if not (hasattr(resolver, "cluster_spec") and hasattr(resolver, "master")):
        raise ArgumentTypeError(
            "tpu_cluster_resolver=%r" % (resolver,),
            "it is neither a TPUClusterResolver nor a TPU's name",
            "TPUClusterResolver(tpu='virtual:8')",
        )
    return resolver


def system_of(resolver: object) -> virtual_system.VirtualSystem | None:
    """The `VirtualSystem` behind a resolver, or None for a real TPU."""
    return getattr(resolver, "system", None)


def described(name: Any) -> virtual_system.VirtualSystem:
    """The slice of a virtual TPU's name; for ``gpus`` every GPU of this machine is a core.

    Raises:
      TPUNameError: the name describes no slice, there is no GPU, or no cluster.
    """
    gpus = devices.gpus() if virtual_system.devices_of(name) == "gpus" else 1
    if not gpus:
        raise TPUNameError(
            "TPU name %r" % (name,),
            "each GPU of this machine is a core, and TensorFlow sees none",
            "'%scpus:8', logical CPUs, or 'virtual:8'"
            % ("cluster:" if virtual_system.is_cluster(name) else ""),
        )
    workers = None
    if virtual_system.is_cluster(name):
        tasks.prepare()
        workers = tasks.own().workers
    return virtual_system.parse(name, gpus, workers)


def is_virtual(name: object) -> bool:
    """Whether a TPU's name, or TPUDIST_TPU in its place, means a virtual TPU."""
    return virtual_system.is_virtual(os.environ.get(machine.TPU) or name)


def join(system: virtual_system.VirtualSystem) -> list[str]:
    """Starts this worker's server, if there is none, and waits for those of the other workers.

    Args:
      system: of a cluster.

    Returns:
      The names of this worker's devices, such as ``"/device:CPU:0"``.

    Raises:
      ArgumentError: (a ValueError) TensorFlow cannot start a server here, or lacks the devices.
    """
    if not versions.HAS_CLUSTERS:
        raise ArgumentError(
            "%r as TPU" % system.name,
            "sums over workers are counted differently in TensorFlow %s" % versions.TF,
            "TensorFlow 2.4 or newer; or virtual:%d on one machine" % system.cores,
        )
    if not versions.WORKERS_HAVE_NAMED_DEVICES and (system.kind or devices.gpus()):
        raise ArgumentError(
            "%r as TPU" % system.name,
            "TensorFlow %s gives a worker one CPU, or all GPUs that it sees" % versions.TF,
            "TensorFlow 2.16 or newer; or cluster:virtual:%d, and CUDA_VISIBLE_DEVICES=-1"
            % system.cores_per_host,
        )
    if not tf.executing_eagerly() and (system.kind or not clusters.is_started()):
        raise ArgumentError(
            "%r in a graph" % system.name,
            "devices of several workers meet in eager mode and in functions, not in Sessions"
            if system.kind
            else "TensorFlow starts the server of a worker in eager mode",
            "tpudist run --tpu cluster:virtual:%d; or virtual:%d on one machine"
            % (system.cores_per_host, system.cores),
        )
    if clusters.has_been_used() and not clusters.is_started():
        raise ArgumentError(
            "%r after TensorFlow has been used" % system.name,
            "TensorFlow starts the server of a worker when it starts itself",
            "tpudist run --tpu %s, or the strategy before the first tensor" % system.name,
        )
    if system.kind:
        provided = devices.provided(system.kind, system.cores_per_host)
    else:
        provided = [computing_device()]
    names = [name[name.index("/device:") :] for name in provided]
    clusters.start(names)
    return names


def computing_device() -> str:
    """The device that computes for a virtual TPU, by default the CPU: ``"/device:CPU:0"``.

    Raises:
      ArgumentError: (a ValueError) TensorFlow does not see the one that TPUDIST_DEVICE names.
    """
    name = os.environ.get(DEVICE) or "CPU:0"
    wanted = "/device:" + name.upper().split("DEVICE:")[-1].lstrip("/")
    if wanted != "/device:CPU:0" and wanted not in native.real_devices():
        raise ArgumentError(
            "%s=%r" % (DEVICE, name),
            "TensorFlow sees only %s" % ", ".join(native.real_devices()),
            "%s=CPU:0, or a TensorFlow build with GPU support" % DEVICE,
        )
    return wanted


def connect_to_cluster(cluster_spec_or_resolver: object, *args: Any, **kwargs: Any) -> None:
    """Connects this process to the TPU's workers; a virtual TPU needs none.

    Waits for a healthy TPU, as `initialize_tpu_system` does.
    """
    resolver = resolve(cluster_spec_or_resolver)
    if system_of(resolver) is None:
        named_tpus.ready(resolver)
        tf.config.experimental_connect_to_cluster(cluster_spec_or_resolver, *args, **kwargs)


def initialize_tpu_system(cluster_resolver: Resolver = None) -> Any:
    """Starts the TPU system, once it is healthy and answers; a line says what is waited for.

    Args:
      cluster_resolver: a `TPUClusterResolver`; None for the local TPU.

    Returns:
      The `Topology` of the system.

    Raises:
      TPUStateError: it does not get healthy or answer within the seconds of
        TPUDIST_TPU_TIMEOUT, or its runtime is of another TensorFlow.
      TPUAccessError, TPUNameError: it cannot be asked for.
    """
    resolver = resolve(cluster_resolver)
    system = system_of(resolver)
    if system is not None and system in _started:
        tf.compat.v1.logging.warning(_AGAIN, system.name)
    topology = start_native(resolver) if system is None else placement.topology(system)
    _started[:] = [system]
    return topology


def start_native(resolver: object) -> Topology:
    """Starts a native TPU for a strategy; as `initialize_tpu_system`, which programs call."""
    named_tpus.ready(resolver)
    with named_tpus.absence_explained(resolver):
        return native.initialize(resolver)


def shutdown_tpu_system(cluster_resolver: Resolver = None) -> None:
    """Stops the TPU system; nothing to do for a virtual TPU."""
    resolver = resolve(cluster_resolver)
    _started.clear()
    if system_of(resolver) is None:
        native.shutdown(resolver)


def started() -> virtual_system.VirtualSystem | None:
    """The virtual TPU that was initialized last and not shut down, or None."""
    return _started[0] if _started else None


def is_started() -> bool:
    """Whether the program has initialized a TPU, native or virtual, and not shut it down."""
    return bool(_started)
