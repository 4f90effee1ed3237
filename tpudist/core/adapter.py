"""The one vocabulary of all surfaces.

Every function takes the strategy first and says in which execution context
it may be called. A facade's method is one call to one of them.
"""

import os

import tensorflow as tf

from tpudist.core import (
    contexts,
    cross_replica,
    labels,
    layout,
    logical_devices,
    loss_scaling,
    per_replica_datasets,
    reductions,
    run_steps,
    signatures,
    split_datasets,
    strategies,
    tpu_ops,
)
from tpudist.errors import ContextError, EagerRunError
from tpudist.tfcompat import distributed, functions, nests, versions

#: Set to 1 to let ``run`` accept a plain function in eager mode, as
#: TensorFlow 1.15 and 2.0 did: it is wrapped in a tf.function.
ALLOW_EAGER_RUN = "TPUDIST_ALLOW_EAGER_RUN"

TPUStrategyBase = strategies.TPUStrategyBase
TPUStrategyBaseV1 = strategies.TPUStrategyBaseV1
library = functions.library
shown_as = signatures.shown_as
Words = contexts.Words

# Operations that are documented where they are defined.
batch_reduce = reductions.batch_reduce
broadcast = reductions.broadcast
colocate = cross_replica.colocate
group = cross_replica.group
map_over = cross_replica.map_over
read = cross_replica.read
reduce_to = reductions.reduce_to
unwrap = reductions.unwrap
update = cross_replica.update
update_non_slot = cross_replica.update_non_slot
value_container = cross_replica.value_container
between_graph = layout.between_graph
configure = layout.configure
finalize = layout.stop_system
host_device = layout.host_device
is_single = layout.is_single
non_slot_devices = layout.non_slot_devices
num_hosts = layout.num_hosts
parameter_devices = layout.parameter_devices
replica_ids = layout.replica_ids
replicas_per_host = layout.replicas_per_host
should_checkpoint = layout.should_checkpoint
should_init = layout.should_init
should_save_summary = layout.should_save_summary
start_system = layout.start_system
steps_per_run = layout.steps_per_run
worker_devices = layout.worker_devices
run_steps = run_steps.run_steps
make_dataset_iterator = split_datasets.make_dataset_iterator
make_input_fn_iterator = split_datasets.make_input_fn_iterator


class ScalingStrategyBaseV1(loss_scaling.ScalesMeanLoss, strategies.TPUStrategyBaseV1):
    """A strategy whose ``tf.train`` optimizers divide a mean loss."""


def build(strategy, resolver, steps_per_run, num_cores=None, assignment=None):
    """See :func:`tpudist.core.strategies.initialize`."""
    strategies.initialize(strategy, resolver, assignment, steps_per_run, num_cores)


def initialize(strategy, resolver, assignment=None, steps_per_run=None, num_cores=None):
    """See :func:`tpudist.core.strategies.initialize`."""
    strategies.initialize(strategy, resolver, assignment, steps_per_run, num_cores)


def run(strategy, fn, args=(), kwargs=None, options=None, refuse_eager=False):
    """Runs `fn` on every replica.

    Context: cross-replica; ``tf.function``, graph, or eager with `fn` a
    ``tf.function``.

    Args:
      strategy: the strategy.
      fn: the replica function.
      args, kwargs: its arguments; a distributed value becomes the replica's
        component.
      options: ``tf.distribute.RunOptions`` or None.
      refuse_eager: refuse a plain Python function in eager mode.

    Returns:
      What `fn` returned, with a per-replica value for each tensor.

    Raises:
      EagerRunError: (a NotImplementedError) a plain function in eager mode.
      ContextError: called inside a replica function.
    """
    _require_cross_replica(strategy, "run")
    if refuse_eager:
        _refuse_eager(fn)
    if strategies.is_virtual(strategy):
        with labels.scope_if_needed(strategy):
            return distributed.as_per_replica(
                strategy.extended,
                strategy.extended.call_for_each_replica(fn, args=args, kwargs=kwargs),
            )
    return distributed.run(strategy, fn, args, kwargs, options)


def run_on_input(strategy, fn, iterator=None):
    """Runs `fn` on every replica, with the iterator's next element if any."""
    with strategy.scope():
        args = () if iterator is None else (iterator.get_next(),)
        return run(strategy, fn, args=args)


def replicate(strategy, fn, args, kwargs):
    """Runs `fn` on every replica; in a native TPU computation, as part of it.

    Context: cross-replica, in the scope; graph, ``tf.function`` or eager.

    Args:
      strategy: the strategy.
      fn: the replica function.
      args, kwargs: its arguments, as of :func:`run`; the keyword
        ``run_concurrently`` (how to schedule replicas) has no meaning.

    Returns:
      What `fn` returned, with a per-replica value for each tensor.

    Raises:
      ContextError: (a RuntimeError) outside of the scope or in a replica.
    """
    contexts.require_cross_replica(strategy, contexts.words_of(strategy).call)
    kwargs = {name: value for name, value in kwargs.items() if name != "run_concurrently"}
    if strategies.is_virtual(strategy) or tpu_ops.in_computation():
        return strategy.extended.call_for_each_replica(fn, args=args, kwargs=kwargs)
    return distributed.run(strategy, fn, args, kwargs, None)


def _refuse_eager(fn):
    if not tf.executing_eagerly() or functions.is_traceable(fn):
        return
    if os.environ.get(ALLOW_EAGER_RUN) == "1":
        return
    raise EagerRunError(
        "run(%s, ...) of a plain Python function in eager mode: TPUStrategy "
        "does not support pure eager execution" % getattr(fn, "__name__", repr(fn)),
        "a TPU runs compiled programs only",
        "decorate the function with @tf.function, or call run inside a "
        "tf.function; or set %s=1 to have it wrapped, as TensorFlow 2.0 did" % ALLOW_EAGER_RUN,
    )


def _require_cross_replica(strategy, method):
    context = tf.distribute.get_replica_context()
    if context is None or context.strategy is not strategy:
        return
    contexts.refuse_compiled(context, method)
    raise ContextError(
        "%s() was called inside a replica function" % method,
        "a replica cannot start further replicas; Method requires being in "
        "cross-replica context, use get_replica_context().merge_call()",
        "call it outside of the replica function, or in a merge_fn given to "
        "tf.distribute.get_replica_context().merge_call(merge_fn, args=...)",
    )


def local_results(strategy, value):
    """The components of `value` on this client, one per replica.

    Context: cross-replica.

    Returns:
      A tuple; ``(value,)`` if `value` is not distributed.
    """
    return strategies.native_call(strategy, distributed.LOCAL_RESULTS, value)


def reduce(strategy, reduce_op, value, axis):
    """Sums or averages `value` over replicas, and over `axis` if not None.

    Context: cross-replica.

    Args:
      strategy: the strategy.
      reduce_op: ``tf.distribute.ReduceOp`` or its name.
      value: a per-replica value or a nest of them.
      axis: None, or the batch dimension of each component. MEAN along an
        axis divides by the true number of examples.

    Returns:
      A tensor, or a nest of them.

    Raises:
      CollectiveError: (a ValueError) components of different shapes and no
        axis.
    """
    _require_cross_replica(strategy, "reduce")
    if axis is not None and strategies.is_virtual(strategy):
        reduce_op = distributed.reduce_op(reduce_op)
        return nests.map_structure(
            lambda leaf: strategy.extended.reduce_along(reduce_op, leaf, axis), value
        )
    reduce_op, options = distributed.reduce_arguments(reduce_op, axis)
    with labels.scope_if_needed(strategy):
        return distributed.map_distributed(
            lambda leaf: strategies.native_call(strategy, "reduce", reduce_op, leaf, **options),
            value,
        )


def per_replica_dataset(strategy, dataset_fn, dataset_class=per_replica_datasets.PerReplicaDataset):
    """See :class:`tpudist.core.per_replica_datasets.PerReplicaDataset`."""
    if not versions.HAS_INPUT_LIB and not strategies.is_virtual(strategy):
        return strategies.native_call(strategy, "distribute_dataset", dataset_fn)
    return dataset_class(strategy, dataset_fn)


def distribute_dataset(strategy, dataset, options=None):
    """`dataset` of global batches, split among hosts and replicas.

    Context: cross-replica.

    Returns:
      A distributed dataset, which yields per-replica values.

    Raises:
      ArgumentError: (a ValueError) `dataset` is not batched: it has scalars.
    """
    per_replica_datasets.require_batches(strategy, dataset)
    return (
        split_datasets.split_dataset(strategy, dataset)
        or (per_replica_datasets.graph_dataset(strategy, dataset))
        or strategies.native_call(
            strategy, "experimental_distribute_dataset", dataset, **_input_options(options)
        )
    )


def distribute_datasets_from_function(strategy, dataset_fn, options=None):
    """A dataset of per-replica batches for each host.

    Context: cross-replica.

    Args:
      strategy: the strategy.
      dataset_fn: ``dataset_fn(InputContext) -> tf.data.Dataset``, called once
        per host.
      options: ``tf.distribute.InputOptions`` or None.

    Returns:
      A distributed dataset, which yields per-replica values.
    """
    if not versions.HAS_DATASETS_FROM_FUNCTION:
        return split_datasets.FunctionDataset(strategy, dataset_fn)
    name = (
        "distribute_datasets_from_function"
        if versions.DATASETS_FROM_FUNCTION_RENAMED
        else "experimental_distribute_datasets_from_function"
    )
    return per_replica_datasets.graph_dataset_from_function(
        strategy, dataset_fn
    ) or strategies.native_call(strategy, name, dataset_fn, **_input_options(options))


def _input_options(options):
    return {} if options is None else {"options": options}


def distribute_values(strategy, value_fn, context_class):
    """A per-replica value made by calling `value_fn` once per replica.

    Context: cross-replica.

    Args:
      strategy: the strategy.
      value_fn: ``value_fn(context)`` returns a tensor or what becomes one.
      context_class: ``context_class(replica_id, num_replicas)`` makes the
        context.

    Returns:
      A per-replica value.
    """
    _require_cross_replica(strategy, "distribute_values_from_function")
    count = strategy.num_replicas_in_sync
    return distributed.per_replica(
        strategy.extended, [value_fn(context_class(i, count)) for i in range(count)]
    )


def make_numpy_dataset(strategy, numpy_input, session=None):
    """A dataset of the rows of numpy arrays, held in variables on the host.

    Context: cross-replica; in a graph, `session` initialises the variables.

    Returns:
      A ``tf.data.Dataset``.

    Raises:
      ContextError: (a RuntimeError) in a graph without a Session.
    """
    if session is None and not tf.executing_eagerly():
        session = per_replica_datasets.default_session("experimental_make_numpy_dataset")
    if not versions.HAS_INPUT_LIB:
        return tf.data.Dataset.from_tensor_slices(numpy_input)
    with strategy.scope():
        return strategy.extended.experimental_make_numpy_dataset(numpy_input, session=session)


def split_to_logical_devices(strategy, tensor, partition_dimensions):
    """See :func:`tpudist.core.logical_devices.split`."""
    return logical_devices.split(strategy, tensor, partition_dimensions)


def replicate_to_logical_devices(strategy, tensor):
    """See :func:`tpudist.core.logical_devices.replicate`."""
    return logical_devices.replicate(strategy, tensor)


def assign_to_logical_device(strategy, tensor, logical_device_id):
    """See :func:`tpudist.core.logical_devices.assign`."""
    return logical_devices.assign(strategy, tensor, logical_device_id)


def scope(strategy):
    """Context manager: `strategy` is current, in cross-replica context."""
    return labels.scope(strategy)


def extended(strategy):
    """The ``StrategyExtended`` of `strategy`."""
    return strategies.native_property(strategy, "extended")


def num_replicas(strategy):
    """Number of replicas over which gradients are aggregated."""
    return strategies.native_property(strategy, "num_replicas_in_sync")
