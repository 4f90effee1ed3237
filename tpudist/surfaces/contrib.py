"""Rows of the contrib era (TensorFlow 1.11 to 1.15).

The strategy's page is that of 1.11; the second list is what code of 1.13 to
1.15 calls on the same class. ``until`` is the last release whose strategy
object still has the name with that signature: most of them moved to
``strategy.extended`` in 1.14.
"""

from tpudist.surfaces.rows import beside_class, of_class

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
_PAGE = of_class("contrib", URL, [
    ("__init__", "initialize", "(tpu_cluster_resolver, steps_per_run, num_cores=None)",
     "1.11", "1.13"),
    ("between_graph", "between_graph", None, "1.11", "1.13"),
    ("is_single_tower", "is_single", None, "1.11", "1.12"),
    ("num_hosts", "num_hosts", None, "1.11", "1.12"),
    ("num_towers", "num_replicas", None, "1.11", "1.12"),
    ("num_towers_per_host", "replicas_per_host", None, "1.11", "1.12"),
    ("parameter_devices", "parameter_devices", None, "1.11", "1.13"),
    ("should_checkpoint", "should_checkpoint", None, "1.11", "1.13"),
    ("should_init", "should_init", None, "1.11", "1.13"),
    ("should_save_summary", "should_save_summary", None, "1.11", "1.13"),
    ("worker_device_index", "replica_ids", None, "1.11", "1.12"),
    ("worker_devices", "worker_devices", None, "1.11", "1.13"),
    ("batch_reduce", "batch_reduce", "(aggregation, value_destination_pairs)", "1.11", "1.13"),
    ("broadcast", "broadcast", "(tensor, destinations=None)", "1.11", "1.13"),
    ("call_for_each_tower", "replicate_dividing_losses", "(fn, *args, **kwargs)", "1.11", "1.12"),
    ("colocate_vars_with", "colocate", "(colocate_with_variable)", "1.11", ""),
    ("configure", "configure",
     "(session_config=None, cluster_spec=None, task_type=None, task_id=None)", "1.11", ""),
    ("distribute_dataset", "per_replica_dataset", "(dataset_fn)", "1.11", "1.13"),
    ("finalize", "finalize", "()", "1.11", "1.13"),
    ("get_host_cpu_device", "host_device", "(host_id)", "1.11", "1.12"),
    ("group", "group", "(value, name=None)", "1.11", ""),
    ("initialize", "start_system", "()", "1.11", "1.13"),
    ("map", "map_over", "(map_over, fn, *args, **kwargs)", "1.11", "1.12"),
    ("non_slot_devices", "non_slot_devices", "(var_list)", "1.11", "1.13"),
    ("read_var", "read", "(tower_local_var)", "1.11", "1.13"),
    ("reduce", "reduce_to", "(aggregation, value, destinations)", "1.11", "1.12"),
    ("run_steps_on_dataset", "run_steps",
     "(fn, iterator, iterations=1, initial_loop_values=None)", "1.11", "1.13"),
    ("scope", "scope", "()", "1.11", ""),
    ("unwrap", "unwrap", "(value)", "1.11", ""),
    ("update", "update", "(var, fn, *args, **kwargs)", "1.11", "1.13"),
    ("update_non_slot", "update_non_slot", "(colocate_with, fn, *args, **kwargs)", "1.11", "1.13"),
    ("value_container", "value_container", "(value)", "1.11", "1.13"),
])

# What the same class answers to in code of 1.13 to 1.15.
_AFTER_THE_PAGE = of_class("contrib", _LATER, [
    ("extended", "extended", None, "1.13", ""),
    ("steps_per_run", "steps_per_run", None, "1.13", ""),
    ("num_replicas", "num_replicas", None, "", ""),
    ("num_replicas_in_sync", "num_replicas", None, "1.13", ""),
    ("call_for_each_replica", "replicate_dividing_losses", "(fn, *args, **kwargs)", "1.13", "1.13"),
    ("make_dataset_iterator", "make_dataset_iterator", "(dataset)", "1.13", ""),
    ("make_input_fn_iterator", "make_input_fn_iterator",
     "(input_fn, replication_mode=InputReplicationMode.PER_WORKER)", "1.13", ""),
    ("experimental_run", "run_on_input", "(fn, input_iterator=None)", "1.13", ""),
    ("experimental_run_v2", "run_keeping_losses", "(fn, args=(), kwargs=None)", "1.14", "2.3"),
    ("experimental_local_results", "local_results", "(value)", "1.14", ""),
    ("experimental_distribute_dataset", "distribute_dataset", "(dataset)", "1.14", ""),
    ("experimental_distribute_datasets_from_function", "distribute_datasets_from_function",
     "(dataset_fn)", "1.15", ""),
    ("experimental_make_numpy_dataset", "make_numpy_dataset", "(numpy_input, session=None)",
     "1.14", ""),
    ("experimental_initialize", "start_system", "()", "1.13", "1.13"),
    ("experimental_finalize", "finalize", "()", "1.13", "1.13"),
    ("require_static_shapes", "require_static_shapes", None, "1.13", "1.13"),
    ("update_config_proto", "update_config_proto", "(config_proto)", "1.13", ""),
])

ROWS = _PAGE + _AFTER_THE_PAGE + beside_class("contrib", [
    ("contrib.distribute.TPUStrategy", "class", "", "1.11", "1.15", URL),
    # Contexts.
    ("get_tower_context", "function", "()", "", "", _D + "get_tower_context.md"),
    ("contrib.distribute.get_tower_context", "function",
     "()", "1.11", "1.12", _D + "get_tower_context.md"),
    ("contrib.distribute.get_cross_tower_context", "function",
     "()", "1.11", "1.12", _D + "get_cross_tower_context.md"),
    ("contrib.distribute.get_distribution_strategy", "function",
     "()", "1.11", "1.15", _D + "get_distribution_strategy.md"),
    ("contrib.distribute.has_distribution_strategy", "function",
     "()", "1.11", "1.15", _D + "has_distribution_strategy.md"),
    ("contrib.distribute.get_loss_reduction", "function",
     "()", "1.11", "1.15", _D + "get_loss_reduction.md"),
    ("contrib.distribute.TowerContext", "class", "", "1.11", "1.12", _CONTEXT),
    ("TowerContext.distribution_strategy", "property", "", "1.11", "1.12", _CONTEXT),
    ("TowerContext.tower_id", "property", "", "1.11", "1.12", _CONTEXT),
    ("TowerContext.num_towers", "property", "", "1.11", "1.12", _CONTEXT),
    ("TowerContext.is_single_tower", "property", "", "1.11", "1.12", _CONTEXT),
    ("TowerContext.device", "property", "", "1.11", "1.12", _CONTEXT),
    ("TowerContext.merge_call", "method", "(merge_fn, *args, **kwargs)", "1.11", "1.12", _CONTEXT),
    ("MultiStepContext.set_last_step_output", "method",
     "(name, output, aggregation=VariableAggregation.NONE)", "1.11", "1.12", URL),
    ("MultiStepContext.set_non_tensor_output", "method", "(name, output)", "1.11", "", URL),
    ("VariableAggregation.ONLY_FIRST_TOWER", "property",
     "", "1.11", "1.15", _PAGES + "VariableAggregation.md"),

    # The cluster, and the TPU module.
    ("contrib.cluster_resolver.TPUClusterResolver", "class",
     _RESOLVER, "1.11", "1.15", _PAGES + "contrib/cluster_resolver/TPUClusterResolver.md"),
    ("contrib.distribute.initialize_tpu_system", "function",
     "(cluster_resolver=None)", "1.14", "1.15",
     _R115 + "contrib/distribute/initialize_tpu_system.md"),
    ("contrib.tpu.initialize_system", "function",
     "(embedding_config=None, job=None)", "1.11", "1.15", _TPU + "initialize_system.md"),
    ("contrib.tpu.shutdown_system", "function",
     "(job=None)", "1.11", "1.15", _TPU + "shutdown_system.md"),
    ("contrib.tpu.replicate", "function",
     "(computation, inputs=None, infeed_queue=None, device_assignment=None, name=None)", "1.11",
     "1.15", _TPU + "replicate.md"),
    ("contrib.tpu.rewrite", "function",
     "(computation, inputs=None, infeed_queue=None, device_assignment=None, name=None)", "1.11",
     "1.15", _TPU + "rewrite.md"),
    ("contrib.tpu.shard", "function",
     "(computation, inputs=None, num_shards=1, input_shard_axes=None, "
     "outputs_from_all_shards=True, output_shard_axes=None, infeed_queue=None, "
     "device_assignment=None, name=None)", "1.11", "1.15", _TPU + "shard.md"),
    ("contrib.tpu.batch_parallel", "function",
     "(computation, inputs=None, num_shards=1, infeed_queue=None, device_assignment=None, "
     "name=None)", "1.11", "1.15", _TPU + "batch_parallel.md"),
    ("contrib.tpu.cross_replica_sum", "function",
     "(x, group_assignment=None)", "1.11", "1.15", _TPU + "cross_replica_sum.md"),
    ("contrib.tpu.repeat", "function",
     "(n, body, inputs=None, infeed_queue=None, name=None)", "1.11", "1.15", _TPU + "repeat.md"),
    ("contrib.tpu.while_loop", "function",
     "(condition, body, inputs=None, infeed_queue=None, name=None)", "1.11", "1.15",
     _TPU + "while_loop.md"),
    ("contrib.tpu.infeed_enqueue", "function",
     "(input, shape=[], layout=[], device_ordinal=-1, name=None)", "1.11", "1.15",
     _TPU + "infeed_enqueue.md"),
    ("contrib.tpu.infeed_enqueue_tuple", "function",
     "(inputs, shapes, layouts=[], device_ordinal=-1, name=None)", "1.11", "1.15",
     _TPU + "infeed_enqueue_tuple.md"),
    ("contrib.tpu.infeed_dequeue", "function",
     "(dtype, shape, name=None)", "1.11", "1.15", _TPU + "infeed_dequeue.md"),
    ("contrib.tpu.infeed_dequeue_tuple", "function",
     "(dtypes, shapes, name=None)", "1.11", "1.15", _TPU + "infeed_dequeue_tuple.md"),
    ("contrib.tpu.outfeed_enqueue", "function",
     "(input, name=None)", "1.11", "1.15", _TPU + "outfeed_enqueue.md"),
    ("contrib.tpu.outfeed_enqueue_tuple", "function",
     "(inputs, name=None)", "1.11", "1.15", _TPU + "outfeed_enqueue_tuple.md"),
    ("contrib.tpu.outfeed_dequeue", "function",
     "(dtype, shape, device_ordinal=-1, name=None)", "1.11", "1.15",
     _TPU + "outfeed_dequeue.md"),
    ("contrib.tpu.outfeed_dequeue_tuple", "function",
     "(dtypes, shapes, device_ordinal=-1, name=None)", "1.11", "1.15",
     _TPU + "outfeed_dequeue_tuple.md"),
    ("contrib.tpu.InfeedQueue", "class",
     "(number_of_tuple_elements=None, tuple_types=None, tuple_shapes=None, "
     "shard_dimensions=None, name=None)", "1.11", "1.15", _TPU + "InfeedQueue.md"),
    ("contrib.tpu.CrossShardOptimizer", "class",
     "(opt, reduction='weighted_mean', name='CrossShardOptimizer', group_assignment=None)",
     "1.11", "1.15", _TPU + "CrossShardOptimizer.md"),
    ("contrib.tpu.bfloat16_scope", "function", "()", "1.11", "1.15", _TPU + "bfloat16_scope.md"),
    ("contrib.tpu.TPUDistributionStrategy", "class",
     "(tpu_cluster_resolver=None, using_single_core=False)", "1.11", "1.15",
     _R115 + "contrib/tpu/TPUDistributionStrategy.md"),
    ("contrib.tpu.keras_to_tpu_model", "function",
     "(model, strategy=None)", "1.11", "1.15", _R115 + "contrib/tpu/keras_to_tpu_model.md"),
])
