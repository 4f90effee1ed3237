"""Rows of the 2.0 and the 2.2 era: what both pages have, and what only one has."""

from tpudist.surfaces.rows import rows_for

_R20 = "https://www.tensorflow.org/versions/r2.0/api_docs/python/tf/"
_R22 = "https://www.tensorflow.org/versions/r2.2/api_docs/python/tf/"
_CLASS = "distribute/experimental/TPUStrategy"
_RESOLVER = (
    "(tpu=None, zone=None, project=None, job_name='worker', "
    "coordinator_name=None, coordinator_address=None, "
    "credentials='default', service=None, discovery_url=None)"
)

_S = "TPUStrategy."
# fmt: off


def _common(pages):
    return [
        ("distribute.experimental.TPUStrategy", "class", "", "", "",
         "1.14", ""),
        (_S + "__init__", "init", "initialize",
         "(tpu_cluster_resolver=None, device_assignment=None)",
         "tpu_cluster_resolver -> resolver, device_assignment -> assignment",
         "1.15", ""),
        (_S + "extended", "property", "extended", "", "", "1.13", ""),
        (_S + "num_replicas_in_sync", "property", "num_replicas", "", "",
         "1.13", ""),
        (_S + "experimental_distribute_dataset", "method",
         "distribute_dataset", "(dataset)", "", "1.14", ""),
        (_S + "experimental_distribute_datasets_from_function", "method",
         "distribute_datasets_from_function", "(dataset_fn)", "", "1.15", ""),
        (_S + "experimental_local_results", "method", "local_results", "(value)", "",
         "1.14", ""),
        (_S + "experimental_make_numpy_dataset", "method", "make_numpy_dataset",
         "(numpy_input)", "", "1.14", "2.3"),
        (_S + "reduce", "method", "reduce", "(reduce_op, value, axis)",
         "", "1.14", ""),
        (_S + "scope", "method", "scope", "()", "", "1.13", ""),
        ("distribute.cluster_resolver.TPUClusterResolver", "class", "",
         _RESOLVER, "", "1.14", "",
         pages + "distribute/cluster_resolver/TPUClusterResolver"),
        ("config.experimental_connect_to_cluster", "function", "",
         "(cluster_spec_or_resolver, job_name='localhost', task_index=0, "
         "protocol=None)", "cluster_spec_or_resolver -> resolver", "1.15", "",
         pages + "config/experimental_connect_to_cluster"),
        ("config.experimental_connect_to_host", "function", "",
         "(remote_host=None, job_name='worker')", "", "1.15", "",
         pages + "config/experimental_connect_to_host"),
        ("tpu.experimental.initialize_tpu_system", "function", "",
         "(cluster_resolver=None)", "cluster_resolver -> resolver", "1.14", "",
         pages + "tpu/experimental/initialize_tpu_system"),
        ("tpu.experimental.shutdown_tpu_system", "function", "",
         "(cluster_resolver=None)", "cluster_resolver -> resolver", "2.1", "",
         _R22 + "tpu/experimental/shutdown_tpu_system"),
        ("tpu.experimental.DeviceAssignment", "class", "",
         "(topology, core_assignment)", "", "1.14", "",
         pages + "tpu/experimental/DeviceAssignment"),
        ("tpu.experimental.DeviceAssignment.build", "function", "",
         "(topology, computation_shape=None, computation_stride=None, "
         "num_replicas=1)", "", "1.14", "",
         pages + "tpu/experimental/DeviceAssignment"),
        ("tpu.experimental.Topology", "class", "",
         "(serialized=None, mesh_shape=None, device_coordinates=None)", "",
         "2.3", "", "https://www.tensorflow.org/api_docs/python/tf/tpu/"
         "experimental/Topology"),
        ("distribute.InputContext", "class", "",
         "(num_input_pipelines=1, input_pipeline_id=0, "
         "num_replicas_in_sync=1)", "", "1.13", "",
         pages + "distribute/InputContext"),
        ("distribute.ReduceOp", "class", "", "", "", "1.13", "",
         pages + "distribute/ReduceOp"),
    ]


V2_0 = rows_for("v2_0", _R20 + _CLASS, _common(_R20) + [
    (_S + "experimental_run_v2", "method", "run",
     "(fn, args=(), kwargs=None)", "", "1.14", "2.3"),
])

V2_2 = rows_for("v2_2", _R22 + _CLASS, _common(_R22) + [
    ("distribute.TPUStrategy", "class", "", "", "", "2.3", ""),
    (_S + "run", "method", "run", "(fn, args=(), kwargs=None, options=None)",
     "", "2.2", ""),
    (_S + "experimental_assign_to_logical_device", "method",
     "assign_to_logical_device",
     "(tensor, logical_device_id)", "",
     "2.2", "2.3"),
    (_S + "experimental_split_to_logical_devices", "method",
     "split_to_logical_devices",
     "(tensor, partition_dimensions)", "",
     "2.2", "2.3"),
    (_S + "experimental_replicate_to_logical_devices", "method",
     "replicate_to_logical_devices", "(tensor)", "", "2.2", "2.3"),
    (_S + "experimental_distribute_values_from_function", "method",
     "distribute_values", "(value_fn)", "", "2.2", ""),
    ("distribute.ValueContext", "class", "",
     "(replica_id_in_sync_group=0, num_replicas_in_sync=1)", "", "", "",
     _R22 + "distribute/experimental/ValueContext"),
    ("distribute.experimental.ValueContext", "class", "",
     "(replica_id_in_sync_group=0, num_replicas_in_sync=1)", "", "2.2", "",
     _R22 + "distribute/experimental/ValueContext"),
])
