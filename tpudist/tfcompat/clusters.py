"""TensorFlow's strategy of several workers, and the server that each of them starts."""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
import types
from typing import TYPE_CHECKING, Any, Iterator, Sequence

import tensorflow as tf

from tpudist import machine
from tpudist.errors import CollectiveError
from tpudist.tfcompat import distributed, functions, keras_packages, versions

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Nest

if versions.HAS_CLUSTERS:
    from tensorflow.python.distribute import (
        collective_all_reduce_strategy,
        input_lib,
        multi_worker_util,
    )
    from tensorflow.python.distribute.collective_all_reduce_strategy import (
        CollectiveAllReduceExtended as CollectiveExtended,
    )
    from tensorflow.python.eager import context

    from tpudist.tfcompat import collectives
else:  # no strategy is made of it there
    from tensorflow.python.distribute.mirrored_strategy import (
        MirroredExtended as CollectiveExtended,
    )

#: Milliseconds after which a worker that is not heard of is gone, and that all have to start: as
#: long as TensorFlow itself waits, for :mod:`tpudist.legacy.workers` gives up before.
_HEARD_OF, _STARTS = 20_000, 3_600_000

#: Whether all Sessions are of this worker's server, as ``tpudist run`` has it.
has_sessions = False

#: Seconds that workers wait for what the chief writes.
_WRITES = 900

#: The dtypes that TensorFlow gathers over workers, and as which of them others are sent.
_GATHERED = (tf.float16, tf.float32, tf.float64, tf.int32, tf.int64)
_SENT_AS = {
    tf.bfloat16: tf.float32,
    tf.uint32: tf.int64,
    **dict.fromkeys((tf.bool, tf.int8, tf.uint8, tf.int16, tf.uint16), tf.int32),
}

#: The first key of each strategy's groups of collectives, the same on every worker.
_keys = itertools.count(0, 10_000)


def _tells_places() -> bool:
    """Whether only collectives of the same place meet."""
    asked = os.environ.get(machine.CHECK_REPLICAS) != "0"
    return versions.WORKERS_ARE_COORDINATED and asked


class WorkerExtended(CollectiveExtended):
    """TensorFlow's extended object of ``MultiWorkerMirroredStrategy``, on the devices `names`."""

    #: Whether replicas are run or traced, and with them what they merge.
    _in_replicas = False

    #: Whether TensorFlow's own thread looks if workers are alive, and not the coordination service.
    _enable_check_health = not versions.WORKERS_ARE_COORDINATED

    def __init__(self, strategy: Any, names: Sequence[str]) -> None:
        self._names = names
        self._std_server_started = was_started = is_started()
        resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
        if not self._std_server_started and versions.WORKERS_ARE_COORDINATED:
            _configure(resolver)
        # TensorFlow's constructor reads it; collectives of two strategies have keys of their own.
        strategy._collective_key_base = next(_keys)
        super().__init__(strategy, resolver, tf.distribute.experimental.CommunicationOptions())
        if _tells_places():
            for ops in (self._cross_device_ops, self._host_cross_device_ops):
                for launcher in ops._launchers:
                    self._keys.of_launcher(launcher)
            if not was_started:
                collectives.watch(self._id_in_cluster, self._num_workers)

    @property
    def _collective_keys(self) -> Any:
        """The keys of this strategy's collectives, which TensorFlow's constructor sets."""
        return self._keys

    @_collective_keys.setter
    def _collective_keys(self, keys: Any) -> None:
        self._keys = collectives.Keys(keys._group_key) if _tells_places() else keys

    def _initialize_local_devices(self, unused_resolver: object, worker_device: str) -> Nest:
        """(the devices, their type): TensorFlow's own would be all GPUs, or one CPU."""
        devices = tuple(worker_device + name for name in self._names)
        return devices, self._names[0].split(":")[-2]

    def over_workers(self, reduce_op: object, values: Sequence[Any]) -> list[Any]:
        """Reduces tensors, or IndexedSlices, over the workers, those of one dtype together."""
        options = tf.distribute.experimental.CommunicationOptions()
        results = list(values)
        for dtype in dict.fromkeys(value.dtype for value in values):
            places = [i for i, value in enumerate(values) if value.dtype == dtype]
            sent = [distributed.per_replica(self, [values[i]]) for i in places]
            reduced = CollectiveExtended._batch_reduce_to(
                self, reduce_op, list(zip(sent, sent)), options
            )
            for i, one in zip(places, reduced):
                (results[i],) = distributed.components(one)
        return results

    def chiefs_value(self, tensor: Any) -> Nest:
        """Sends all workers the chief's tensor, of numbers or truth values."""
        sent = tf.cast(tensor, tf.int32) if tensor.dtype == tf.bool else tensor
        if self._id_in_cluster:
            sent = tf.zeros_like(sent)
        [received] = self.over_workers(tf.distribute.ReduceOp.SUM, [sent])
        return tf.cast(received, tensor.dtype)

    @contextlib.contextmanager
    def running_replicas(self) -> Iterator[None]:
        """A context in which replicas run: what is unwrapped there is of this worker."""
        before, self._in_replicas = self._in_replicas, True
        try:
            yield
        finally:
            self._in_replicas = before

    def as_per_replica(self, results: object) -> Nest:
        """Packs what replicas returned where each worker has one: there it is plain tensors."""
        if len(self.worker_devices) > 1 or functions.in_session_graph():
            return results

        def packed(leaf: object) -> Nest:
            if distributed.is_distributed(leaf) or distributed.is_variable(leaf):
                return leaf
            is_tensor = distributed.is_tensor_like(leaf)
            return distributed.per_replica(self, [leaf]) if is_tensor else leaf

        return tf.nest.map_structure(packed, results)

    def of_all_workers(self, parts: Sequence[Any]) -> Sequence[Any]:
        """The values of all replicas, in order, from those of this worker's.

        All workers call it, and wait for each other. Replicas have their own worker's values only.
        Of one replica and the next only the first dimension of tensors may differ.
        """
        if self._in_replicas or functions.in_session_graph():
            return parts
        columns = zip(*[tf.nest.flatten(part, expand_composites=True) for part in parts])
        gathered = [self._column_of_all(column) for column in columns]
        pack = tf.nest.pack_sequence_as
        return [pack(parts[0], list(leaves), expand_composites=True) for leaves in zip(*gathered)]

    def _column_of_all(self, values: Sequence[Any]) -> list[Any]:
        tensors = [tf.convert_to_tensor(value) for value in values]
        is_scalar = not tensors[0].shape.rank
        rows = [tf.reshape(each, [1]) for each in tensors] if is_scalar else tensors
        sizes = self.rows_of_all([tf.shape(each)[:1] for each in rows])
        count = len(rows) * self._num_workers
        found: list[Any] = tf.split(self.rows_of_all(rows), sizes, num=count)
        if is_scalar:
            found = [tf.reshape(each, []) for each in found]
        if distributed.is_tensor_like(values[0]):
            return found
        arrays = [each.numpy() for each in found]
        return [a.item() for a in arrays] if isinstance(values[0], (bool, int, float)) else arrays

    def rows_of_all(self, parts: Sequence[Any]) -> Nest:
        """Concatenates the tensors of all workers, one for each device of each worker."""
        return self.gathered_over_workers(parts, 0)

    def gathered_over_workers(self, values: Sequence[Any], axis: int) -> Nest:
        """Concatenates the tensors of all workers, one for each device that sends, along `axis`."""
        value = values[0]
        sent = value.dtype if value.dtype in _GATHERED else _SENT_AS.get(value.dtype)
        if sent is None:
            raise CollectiveError(
                "%r gathered over workers" % (value,),
                "TensorFlow's collectives send numbers",
                "numbers that stand for the values: ids of words, say",
            )
        options = tf.distribute.experimental.CommunicationOptions()
        pair = distributed.per_replica(self, [tf.cast(each, sent) for each in values])
        made = self._get_cross_device_ops(pair)._gather(pair, pair, axis=axis, options=options)
        gathered = tf.cast(distributed.components(made)[0], value.dtype)
        if value.shape.rank:
            shape = value.shape.as_list()
            known = functions.in_session_graph() and shape[axis] is not None
            shape[axis] = shape[axis] * self._num_workers if known else None  # else rows may differ
            gathered.set_shape(shape)
        return gathered

    def chiefs_initial_value(self, device: str, arguments: dict[str, Any]) -> Nest:
        """Returns a function that gives a variable's initial value, which the chief sends."""
        return self._get_variable_creator_initial_value(0, device, None, **arguments)


class _NoStrategy:
    """Placeholder for the strategy of an extended object that is made for its server alone."""


def start(names: Sequence[str]) -> None:
    """Starts the server of this process, with the devices `names`, and waits for all workers'."""
    if not is_started():
        WorkerExtended(_NoStrategy(), names)


def in_session(graph: object, config: object) -> tuple[str, Any, Any]:
    """(the target, the graph, the ``ConfigProto``) of a Session whose sums go over the workers."""
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    spec = multi_worker_util.normalize_cluster_spec(resolver.cluster_spec())
    job, index = resolver.task_type, resolver.task_id
    made = tf.compat.v1.ConfigProto()
    if config is not None:
        made.CopyFrom(config)
    made.experimental.collective_group_leader = multi_worker_util.collective_leader(
        spec, job, index
    )
    made.device_filters[:] = ["/job:%s/task:%d" % (job, index)]
    made.isolate_session_state = True
    return "grpc://" + spec.task_address(job, index), graph, made


def is_started() -> bool:
    """Whether the server of this process runs: another strategy of the cluster has started it."""
    return versions.HAS_CLUSTERS and context.context()._collective_ops_server_def is not None


def has_been_used() -> bool:
    """Whether TensorFlow has computed something here: a server cannot be started any more."""
    return context.context()._context_handle is not None


def counts_batches() -> bool:
    """Whether TensorFlow's distributed iterator adds up which workers still have a batch."""
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code is input_lib._calculate_replicas_with_values.__code__:
            return True
        frame = frame.f_back
    return False


def _configure(resolver: Any) -> None:
    """Sets how long workers wait for each other: TensorFlow's own are an hour and a minute."""
    spec = multi_worker_util.normalize_cluster_spec(resolver.cluster_spec())
    job_of = collective_all_reduce_strategy.coordination_config_pb2.CoordinatedJob
    jobs = [job_of(name=job, num_tasks=spec.num_tasks(job)) for job in spec.jobs]
    context.context().configure_coordination_service(
        service_type="standalone",
        service_leader=multi_worker_util.coordination_leader(spec),
        heartbeat_timeout_in_ms=_HEARD_OF,
        cluster_register_timeout_in_ms=_STARTS,
        shutdown_barrier_timeout_in_ms=_HEARD_OF,
        coordinated_jobs=jobs,
    )


def end(number: int) -> None:
    """Says that the program of this worker has ended: others do not wait for its collectives."""
    if _tells_places():
        collectives.end(number)


def say_written(key: str, text: str) -> None:
    """Lets :func:`wait_until_written` return `text` on other workers; before 2.15 nothing."""
    if versions.WORKERS_ARE_COORDINATED:
        context.context().set_config_key_value(key, text)


def wait_until_written(key: str, text: str, seconds: float = _WRITES) -> str:
    """Waits for the chief's :func:`say_written` and returns its text; `text` before 2.15."""
    if not versions.WORKERS_ARE_COORDINATED:
        return text
    try:
        return str(context.context().get_config_key_value(key, int(seconds * 1000)))
    except tf.errors.DeadlineExceededError as error:
        raise CollectiveError(
            "%s that the chief has not written in %d seconds" % (key, seconds),
            "a worker goes on when what the program saves is written, which the chief does",
            "the same saves on every worker: if the chief alone saves, no other may",
        ) from error


def checkpoint_module() -> Any:
    """The module that saves and restores checkpoints of objects."""
    if versions.CHECKPOINT_HAS_PACKAGE:
        from tensorflow.python.checkpoint import checkpoint
    else:
        from tensorflow.python.training.tracking import util as checkpoint
    return checkpoint


def writers() -> list[tuple[Any, str, str]]:
    """Lists what writes files of TensorFlow and Keras: (module or class, name, path's parameter).

    What has no such parameter keeps the list of checkpoints, or deletes old ones.
    """
    from tensorflow.python.framework import graph_io
    from tensorflow.python.ops import gen_summary_ops
    from tensorflow.python.profiler import profiler_v2
    from tensorflow.python.saved_model import save

    from tpudist.tfcompat.estimators import native

    if versions.CHECKPOINT_HAS_PACKAGE:
        from tensorflow.python.checkpoint import checkpoint_management
    else:
        from tensorflow.python.training import checkpoint_management
    saves = [(save, "save_and_return_nodes")]
    if not versions.SAVED_MODELS_HAVE_NODES:
        saves = [(save, "save"), (tf.saved_model, "save")]
    keras = keras_packages.saving_module()
    folders = keras_packages.folders_module()
    of_keras = [] if keras is None else ["save_model", "save_weights_only"]
    export, classes = "_export_all_saved_models", getattr(native, "Estimator", object).__mro__
    saves_datasets = "save" in vars(functions.DatasetV2)
    return [
        *((keras, name, "filepath") for name in of_keras),
        *([] if folders is None else [(folders, "save", "filepath")]),
        (checkpoint_module().TrackableSaver, "save", "file_prefix"),
        (tf.compat.v1.train.Saver, "save", "save_path"),
        (functions.DatasetV2, "cache", "filename"),
        *([(functions.DatasetV2, "save", "path")] if saves_datasets else []),
        (tf.compat.v1.summary.FileWriter, "__init__", "logdir"),
        (graph_io, "write_graph", "logdir"),
        (checkpoint_management, "update_checkpoint_state_internal", ""),
        (checkpoint_management, "_delete_file_if_exists", ""),
        (gen_summary_ops, "create_summary_file_writer", "logdir"),
        (tf.io, "write_file", "filename"),
        (profiler_v2, "start", "logdir"),
        (tf.profiler.experimental, "start", "logdir"),
        *((module, name, "export_dir") for module, name in saves),
        *((each, export, "export_dir_base") for each in classes if export in vars(each)),
    ]
