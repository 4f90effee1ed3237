"""What lies where: devices, hosts, and what each of them is for."""

import tensorflow as tf
from tensorflow.python.distribute import device_util

from tpudist.core import cluster, contexts, strategies, tpu_ops
from tpudist.errors import ArgumentError
from tpudist.tfcompat import distributed, versions


def worker_devices(strategy):
    """List of the devices that replicas run on, one each."""
    return list(strategy.extended.worker_devices)


def parameter_devices(strategy):
    """List of the devices that hold variables."""
    return list(strategy.extended.parameter_devices)


def non_slot_devices(strategy, variables):
    """List of the devices for an optimizer's variables that are no slots."""
    found = strategy.extended.non_slot_devices(variables)
    return [found] if isinstance(found, str) else list(found)


def num_hosts(strategy):
    """Number of hosts that feed the replicas."""
    return strategy.extended.num_hosts


def replicas_per_host(strategy):
    """Number of replicas that one host feeds."""
    return strategy.extended.num_replicas_per_host


def host_device(strategy, host_id):
    """The CPU device of a host.

    Args:
      strategy: the strategy.
      host_id: 0 to `num_hosts` - 1.

    Raises:
      ArgumentError: (a ValueError) there is no such host.
    """
    hosts = num_hosts(strategy)
    if isinstance(host_id, bool) or host_id not in range(hosts):
        raise ArgumentError(
            "host_id=%r" % (host_id,),
            "the TPU has %d host(s)" % hosts,
            "an integer from 0 to %d" % (hosts - 1),
        )
    if strategies.is_virtual(strategy):
        return strategy.extended.get_host_cpu_device(host_id)
    return pipeline_devices(strategy)[host_id]


def pipeline_devices(strategy):
    """The device of each host on which its input pipeline runs."""
    if strategies.is_virtual(strategy):
        return [strategy.extended._host] * num_hosts(strategy)
    hosts = []
    for worker in worker_devices(strategy):
        host = _host_of(worker)
        if host not in hosts:
            hosts.append(host)
    return hosts


def _host_of(device):
    if versions.HAS_INPUT_LIB:
        return device_util.get_host_for_device(device)
    spec = tf.DeviceSpec.from_string(device)
    return tf.DeviceSpec(
        job=spec.job, replica=spec.replica, task=spec.task, device_type="CPU", device_index=0
    ).to_string()


def replica_ids(strategy):
    """0 to N - 1, one per replica, to be given to a replica function.

    Context: cross-replica.

    Returns:
      A per-replica value; the integer 0 if there is only one replica.
    """
    contexts.require_cross_replica(strategy, "the index of replicas")
    count = strategy.num_replicas_in_sync
    if count == 1:
        return 0
    ids = range(count)
    if tf.executing_eagerly():  # they become arguments of a tf.function
        ids = [tf.constant(i) for i in ids]
    return distributed.per_replica(strategy.extended, ids)


def between_graph(strategy):
    """Whether each worker builds its own graph."""
    return strategy.extended.experimental_between_graph


def should_init(strategy):
    """Whether this process initialises variables."""
    return strategy.extended.experimental_should_init


def should_checkpoint(strategy):
    """Whether this process writes checkpoints."""
    return strategy.extended.should_checkpoint


def should_save_summary(strategy):
    """Whether this process writes summaries."""
    return strategy.extended.should_save_summary


def is_single(strategy):
    """Whether there is only one replica."""
    return strategy.num_replicas_in_sync == 1


def steps_per_run(strategy):
    """Steps in one device-side loop of Keras and Estimator."""
    return strategy.extended.steps_per_run


def start_system(strategy):
    """Starts the TPU system.

    Returns:
      In a graph the list of ops that start it, empty for a virtual TPU; in
      eager mode it is started at once, and the result is None.
    """
    return _system(strategy, cluster.initialize_tpu_system, tpu_ops.native("initialize_system"))


def stop_system(strategy):
    """Stops the TPU system; results as :func:`start_system`."""
    return _system(strategy, cluster.shutdown_tpu_system, tpu_ops.native("shutdown_system"))


def _system(strategy, at_once, as_op):
    virtual = strategies.is_virtual(strategy)
    if not tf.executing_eagerly():
        return [] if virtual else [as_op()]
    if not virtual:
        at_once(strategy.extended._tpu_cluster_resolver)
    return None


def configure(strategy, session_config=None, cluster_spec=None, task_type=None, task_id=None):
    """Adapts a ``ConfigProto``, in place, to the strategy.

    A virtual TPU lives in this process: it needs neither cluster nor task.
    """
    if strategies.is_virtual(strategy):
        if session_config is not None:
            session_config.isolate_session_state = True
        return
    strategies.native_call(strategy, "configure", session_config, cluster_spec, task_type, task_id)
