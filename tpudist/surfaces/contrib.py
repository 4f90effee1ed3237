"""Rows of the contrib era (TensorFlow 1.11 to 1.15).

The strategy's page is that of 1.11; the last lines are what code of 1.13 to
1.15 calls on the same class. ``until`` is the last release whose strategy
object still has the name with that signature: most of them moved to
``strategy.extended`` in 1.14.
"""

from tpudist.surfaces.rows import rows_for

_PAGES = "https://github.com/tensorflow/docs/blob/r1.11/site/en/api_docs/python/tf/"
URL = _PAGES + "contrib/distribute/TPUStrategy.md"
_R115 = "https://github.com/tensorflow/docs/blob/r1.15/site/en/api_docs/python/tf/"
_LATER = _R115 + "contrib/distribute/TPUStrategy.md"
_D = _PAGES + "contrib/distribute/"
_CONTEXT = _D + "TowerContext.md"
_TPU = _PAGES + "contrib/tpu/"
_RESOLVER = (
    "(tpu=None, zone=None, project=None, job_name='worker', "
    "coordinator_name=None, coordinator_address=None, "
    "credentials='default', service=None, discovery_url=None)"
)

# fmt: off
_S = "TPUStrategy."
ROWS = rows_for("contrib", URL, [
    ("contrib.distribute.TPUStrategy", "class", "", "", "", "1.11", "1.15"),
    (_S + "__init__", "init", "initialize",
     "(tpu_cluster_resolver, steps_per_run, num_cores=None)",
     "tpu_cluster_resolver -> resolver", "1.11", "1.13"),
    (_S + "between_graph", "property", "between_graph", "", "", "1.11", "1.13"),
    (_S + "is_single_tower", "property", "is_single", "", "", "1.11", "1.12"),
    (_S + "num_hosts", "property", "num_hosts", "", "", "1.11", "1.12"),
    (_S + "num_towers", "property", "num_replicas", "", "", "1.11", "1.12"),
    (_S + "num_towers_per_host", "property", "replicas_per_host", "", "",
     "1.11", "1.12"),
    (_S + "parameter_devices", "property", "parameter_devices", "", "",
     "1.11", "1.13"),
    (_S + "should_checkpoint", "property", "should_checkpoint", "", "",
     "1.11", "1.13"),
    (_S + "should_init", "property", "should_init", "", "", "1.11", "1.13"),
    (_S + "should_save_summary", "property", "should_save_summary", "", "",
     "1.11", "1.13"),
    (_S + "worker_device_index", "property", "replica_ids", "", "",
     "1.11", "1.12"),
    (_S + "worker_devices", "property", "worker_devices", "", "", "1.11", "1.13"),
    (_S + "batch_reduce", "method", "batch_reduce",
     "(aggregation, value_destination_pairs)",
     "aggregation -> op, value_destination_pairs -> pairs", "1.11", "1.13"),
    (_S + "broadcast", "method", "broadcast", "(tensor, destinations=None)",
     "", "1.11", "1.13"),
    (_S + "call_for_each_tower", "method", "replicate", "(fn, *args, **kwargs)",
     "kwargs minus run_concurrently -> kwargs", "1.11", "1.12"),
    (_S + "colocate_vars_with", "method", "colocate",
     "(colocate_with_variable)", "colocate_with_variable -> variable",
     "1.11", ""),
    (_S + "configure", "method", "configure",
     "(session_config=None, cluster_spec=None, task_type=None, task_id=None)",
     "", "1.11", ""),
    (_S + "distribute_dataset", "method", "per_replica_dataset",
     "(dataset_fn)", "", "1.11", "1.13"),
    (_S + "finalize", "method", "finalize", "()", "", "1.11", "1.13"),
    (_S + "get_host_cpu_device", "method", "host_device", "(host_id)", "",
     "1.11", "1.12"),
    (_S + "group", "method", "group", "(value, name=None)", "", "1.11", ""),
    (_S + "initialize", "method", "start_system", "()", "", "1.11", "1.13"),
    (_S + "map", "method", "map_over", "(map_over, fn, *args, **kwargs)",
     "map_over -> items", "1.11", "1.12"),
    (_S + "non_slot_devices", "method", "non_slot_devices", "(var_list)", "",
     "1.11", "1.13"),
    (_S + "read_var", "method", "read", "(tower_local_var)",
     "tower_local_var -> variable", "1.11", "1.13"),
    (_S + "reduce", "method", "reduce_to", "(aggregation, value, destinations)",
     "aggregation -> op", "1.11", "1.12"),
    (_S + "run_steps_on_dataset", "method", "run_steps",
     "(fn, iterator, iterations=1, initial_loop_values=None)", "",
     "1.11", "1.13"),
    (_S + "scope", "method", "scope", "()", "", "1.11", ""),
    (_S + "unwrap", "method", "unwrap", "(value)", "", "1.11", ""),
    (_S + "update", "method", "update", "(var, fn, *args, **kwargs)",
     "kwargs['grouped'] -> group", "1.11", "1.13"),
    (_S + "update_non_slot", "method", "update_non_slot",
     "(colocate_with, fn, *args, **kwargs)", "kwargs['grouped'] -> group",
     "1.11", "1.13"),
    (_S + "value_container", "method", "value_container", "(value)", "",
     "1.11", "1.13"),

    # What the same class answers to in code of 1.13 to 1.15.
    (_S + "extended", "property", "extended", "", "", "1.13", "", _LATER),
    (_S + "steps_per_run", "property", "steps_per_run", "", "", "1.13", "", _LATER),
    (_S + "num_replicas", "property", "num_replicas", "", "", "", "", _LATER),
    (_S + "num_replicas_in_sync", "property", "num_replicas", "", "",
     "1.13", "", _LATER),
    (_S + "call_for_each_replica", "method", "replicate",
     "(fn, *args, **kwargs)", "", "1.13", "1.13", _LATER),
    (_S + "make_dataset_iterator", "method", "make_dataset_iterator",
     "(dataset)", "", "1.13", "", _LATER),
    (_S + "make_input_fn_iterator", "method", "make_input_fn_iterator",
     "(input_fn, *replication_mode)", "", "1.13", "", _LATER),
    (_S + "experimental_run", "method", "run_on_input",
     "(fn, input_iterator=None)", "input_iterator -> iterator", "1.13", "", _LATER),

    # Contexts.
    ("get_tower_context", "function", "", "()", "", "", "",
     _D + "get_tower_context.md"),
    ("contrib.distribute.get_tower_context", "function", "", "()", "",
     "1.11", "1.12", _D + "get_tower_context.md"),
    ("contrib.distribute.get_cross_tower_context", "function", "", "()", "",
     "1.11", "1.12", _D + "get_cross_tower_context.md"),
    ("contrib.distribute.get_distribution_strategy", "function", "", "()", "",
     "1.11", "1.15", _D + "get_distribution_strategy.md"),
    ("contrib.distribute.has_distribution_strategy", "function", "", "()", "",
     "1.11", "1.15", _D + "has_distribution_strategy.md"),
    ("contrib.distribute.get_loss_reduction", "function", "", "()", "",
     "1.11", "1.15", _D + "get_loss_reduction.md"),
    ("contrib.distribute.TowerContext", "class", "", "", "",
     "1.11", "1.12", _CONTEXT),
    ("TowerContext.distribution_strategy", "property", "", "", "",
     "1.11", "1.12", _CONTEXT),
    ("TowerContext.tower_id", "property", "", "", "", "1.11", "1.12", _CONTEXT),
    ("TowerContext.num_towers", "property", "", "", "", "1.11", "1.12", _CONTEXT),
    ("TowerContext.is_single_tower", "property", "", "", "",
     "1.11", "1.12", _CONTEXT),
    ("TowerContext.device", "property", "", "", "", "1.11", "1.12", _CONTEXT),
    ("TowerContext.merge_call", "method", "",
     "(merge_fn, *args, **kwargs)", "", "1.11", "1.12", _CONTEXT),
    ("MultiStepContext.set_last_step_output", "method", "",
     "(name, output, aggregation=VariableAggregation.NONE)",
     "aggregation -> op", "1.11", "1.12"),
    ("MultiStepContext.set_non_tensor_output", "method", "", "(name, output)",
     "", "1.11", ""),
    ("VariableAggregation.ONLY_FIRST_TOWER", "property", "", "", "",
     "1.11", "1.15", _PAGES + "VariableAggregation.md"),

    # The cluster, and the TPU module.
    ("contrib.cluster_resolver.TPUClusterResolver", "class", "", _RESOLVER, "",
     "1.11", "1.15", _PAGES + "contrib/cluster_resolver/TPUClusterResolver.md"),
    ("contrib.distribute.initialize_tpu_system", "function", "",
     "(cluster_resolver=None)", "cluster_resolver -> resolver",
     "1.14", "1.15", _R115 + "contrib/distribute/initialize_tpu_system.md"),
    ("contrib.tpu.initialize_system", "function", "",
     "(embedding_config=None, job=None)", "", "1.11", "1.15",
     _TPU + "initialize_system.md"),
    ("contrib.tpu.shutdown_system", "function", "", "(job=None)", "",
     "1.11", "1.15", _TPU + "shutdown_system.md"),
    ("contrib.tpu.replicate", "function", "",
     "(computation, inputs=None, infeed_queue=None, device_assignment=None, "
     "name=None)", "", "1.11", "1.15", _TPU + "replicate.md"),
    ("contrib.tpu.rewrite", "function", "",
     "(computation, inputs=None, infeed_queue=None, device_assignment=None, "
     "name=None)", "", "1.11", "1.15", _TPU + "rewrite.md"),
    ("contrib.tpu.cross_replica_sum", "function", "",
     "(x, group_assignment=None)", "", "1.11", "1.15",
     _TPU + "cross_replica_sum.md"),
    ("contrib.tpu.CrossShardOptimizer", "class", "",
     "(opt, reduction='weighted_mean', name='CrossShardOptimizer', "
     "group_assignment=None)", "", "1.11", "1.15",
     _TPU + "CrossShardOptimizer.md"),
    ("contrib.tpu.bfloat16_scope", "function", "", "()", "", "1.11", "1.15",
     _TPU + "bfloat16_scope.md"),
])
