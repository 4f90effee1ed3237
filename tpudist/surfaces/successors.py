"""The table of what names of one era are called in the next.

Keys are eras (and "latest", plain TensorFlow of today), values what became of
the names of the era before. The codemod reads it; so that the step from
contrib to 2.2 is the step to 2.0 and then the step to 2.2, each era lists only
its own changes.
"""

from tpudist.surfaces.contrib_names import MOVED
from tpudist.surfaces.gone import RENAMED_TODAY

# fmt: off
#: Dotted names below ``tf``.
NAMES = {
    "v2_0": {
        **MOVED,
        "get_tower_context": "distribute.get_replica_context",
        "contrib.distribute.DistributionStrategy": "distribute.Strategy",
        "contrib.distribute.MirroredStrategy": "distribute.MirroredStrategy",
        "contrib.distribute.OneDeviceStrategy": "distribute.OneDeviceStrategy",
        "contrib.distribute.TPUStrategy": "distribute.experimental.TPUStrategy",
        "contrib.distribute.TowerContext": "distribute.ReplicaContext",
        "contrib.distribute.get_distribution_strategy": "distribute.get_strategy",
        "contrib.distribute.get_replica_context": "distribute.get_replica_context",
        "contrib.distribute.get_strategy": "distribute.get_strategy",
        "contrib.distribute.get_tower_context": "distribute.get_replica_context",
        "contrib.distribute.has_distribution_strategy": "distribute.has_strategy",
        "contrib.distribute.has_strategy": "distribute.has_strategy",
        "contrib.distribute.initialize_tpu_system":
            "tpu.experimental.initialize_tpu_system",
        "contrib.distribute.python.tpu_strategy.TPUStrategy":
            "distribute.experimental.TPUStrategy",
        "contrib.cluster_resolver.TPUClusterResolver":
            "distribute.cluster_resolver.TPUClusterResolver",
        "contrib.cluster_resolver.python.training.tpu_cluster_resolver.TPUClusterResolver":
            "distribute.cluster_resolver.TPUClusterResolver",
        "contrib.tpu.CrossShardOptimizer": "tpu.CrossShardOptimizer",
        "contrib.tpu.DeviceAssignment": "tpu.experimental.DeviceAssignment",
        "contrib.tpu.Topology": "tpu.experimental.Topology",
        "contrib.tpu.bfloat16_scope": "tpu.bfloat16_scope",
        "contrib.tpu.cross_replica_sum": "tpu.cross_replica_sum",
        "contrib.tpu.replicate": "tpu.replicate",
        "contrib.tpu.rewrite": "tpu.rewrite",
        "contrib.tpu.shard": "tpu.shard",
        "contrib.tpu.batch_parallel": "tpu.batch_parallel",
        "VariableAggregation.ONLY_FIRST_TOWER": "VariableAggregation.ONLY_FIRST_REPLICA",
    },
    "v2_2": {},
    "latest": {
        "distribute.experimental.TPUStrategy": "distribute.TPUStrategy",
        "distribute.ValueContext": "distribute.experimental.ValueContext",
        **RENAMED_TODAY,
    },
}

_EXTENDED = ("non_slot_devices", "parameter_devices", "should_checkpoint",
             "should_save_summary", "worker_devices", "num_hosts", "colocate_vars_with",
             "read_var", "value_container")

#: (kind of object, member): a strategy, or the context of a tower.
MEMBERS = {
    "v2_0": {
        **{("strategy", name): "extended." + name for name in _EXTENDED},
        ("strategy", "between_graph"): "extended.experimental_between_graph",
        ("strategy", "num_towers_per_host"): "extended.num_replicas_per_host",
        ("strategy", "should_init"): "extended.experimental_should_init",
        ("strategy", "require_static_shapes"): "extended.experimental_require_static_shapes",
        ("strategy", "num_towers"): "num_replicas_in_sync",
        ("strategy", "num_replicas"): "num_replicas_in_sync",
        ("strategy", "unwrap"): "experimental_local_results",
        ("strategy", "call_for_each_tower"): "experimental_run_v2",
        ("strategy", "call_for_each_replica"): "experimental_run_v2",
        ("strategy", "batch_reduce"): "extended.batch_reduce_to",
        ("strategy", "broadcast"): "extended.broadcast_to",
        ("strategy", "update"): "extended.update",
        ("strategy", "update_non_slot"): "extended.update_non_slot",
        ("context", "tower_id"): "replica_id_in_sync_group",
        ("context", "num_towers"): "num_replicas_in_sync",
        ("context", "distribution_strategy"): "strategy",
    },
    "v2_2": {("strategy", "experimental_run_v2"): "run"},
    "latest": {("strategy", "experimental_distribute_datasets_from_function"):
                   "distribute_datasets_from_function"},
}
