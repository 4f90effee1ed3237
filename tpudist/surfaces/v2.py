"""Rows of the 2.0 and the 2.2 era: what both pages have, and what only one has."""

from __future__ import annotations

from tpudist.surfaces.rows import beside_class, of_class

_R20 = "https://www.tensorflow.org/versions/r2.0/api_docs/python/tf/"
_R22 = "https://www.tensorflow.org/versions/r2.2/api_docs/python/tf/"
_NOW = "https://www.tensorflow.org/api_docs/python/tf/"
_CLASS = "distribute/experimental/TPUStrategy"
_SOURCE = "https://github.com/tensorflow/tensorflow/blob/%s/tensorflow/python/distribute/%s.py"
_RESOLVER = (
    "(tpu=None, zone=None, project=None, job_name='worker', "
    "coordinator_name=None, coordinator_address=None, "
    "credentials='default', service=None, discovery_url=None)"
)

# fmt: off
_BOTH = [
    ("__init__", "initialize", "(tpu_cluster_resolver=None, device_assignment=None)", "1.15", ""),
    ("extended", "extended", None, "1.14", ""),
    ("num_replicas_in_sync", "num_replicas", None, "1.14", ""),
    ("experimental_distribute_dataset", "distribute_dataset", "(dataset)", "1.14", ""),
    ("experimental_distribute_datasets_from_function", "distribute_datasets_from_function",
     "(dataset_fn)", "1.15", ""),
    ("experimental_local_results", "local_results", "(value)", "1.14", ""),
    ("experimental_make_numpy_dataset", "make_numpy_dataset", "(numpy_input)", "1.14", "2.3"),
    ("reduce", "reduce", "(reduce_op, value, axis)", "1.14", ""),
    ("scope", "scope", "()", "1.14", ""),
]

#: Names of TensorFlow 1 that the class of every 2.x release still answers to.
_CARRIED = [
    ("colocate_vars_with", "colocate", "(colocate_with_variable)", "1.14", ""),
    ("configure", "configure",
     "(session_config=None, cluster_spec=None, task_type=None, task_id=None)", "1.14", ""),
    ("experimental_run", "run_on_input", "(fn, input_iterator=None)", "1.14", ""),
    ("group", "group", "(value, name=None)", "1.14", ""),
    ("make_dataset_iterator", "make_dataset_iterator", "(dataset)", "1.14", ""),
    ("make_input_fn_iterator", "make_input_fn_iterator",
     "(input_fn, replication_mode=InputReplicationMode.PER_WORKER)", "1.14", ""),
    ("unwrap", "local_results", "(value)", "1.14", ""),
    ("update_config_proto", "update_config_proto", "(config_proto)", "1.14", ""),
]


def _beside(pages: str) -> list[tuple[str, ...]]:
    tpu = pages + "tpu/experimental/"
    return [
        ("distribute.experimental.TPUStrategy", "class", "", "1.14", "", pages + _CLASS),
        ("distribute.cluster_resolver.TPUClusterResolver", "class", _RESOLVER, "1.14", "",
         pages + "distribute/cluster_resolver/TPUClusterResolver"),
        ("config.experimental_connect_to_cluster", "function",
         "(cluster_spec_or_resolver, job_name='localhost', task_index=0, protocol=None)",
         "1.15", "", pages + "config/experimental_connect_to_cluster"),
        ("config.experimental_connect_to_host", "function",
         "(remote_host=None, job_name='worker')",
         "1.14", "", pages + "config/experimental_connect_to_host"),
        ("tpu.experimental.initialize_tpu_system", "function", "(cluster_resolver=None)",
         "1.14", "", tpu + "initialize_tpu_system"),
        ("tpu.experimental.shutdown_tpu_system", "function", "(cluster_resolver=None)",
         "2.1", "", _R22 + "tpu/experimental/shutdown_tpu_system"),
        ("tpu.experimental.DeviceAssignment", "class", "(topology, core_assignment)",
         "1.14", "", tpu + "DeviceAssignment"),
        ("tpu.experimental.DeviceAssignment.build", "function",
         "(topology, computation_shape=None, computation_stride=None, num_replicas=1)",
         "1.14", "", tpu + "DeviceAssignment"),
        ("tpu.experimental.Topology", "class",
         "(serialized=None, mesh_shape=None, device_coordinates=None)",
         "2.3", "", _NOW + "tpu/experimental/Topology"),
        ("distribute.InputContext", "class",
         "(num_input_pipelines=1, input_pipeline_id=0, num_replicas_in_sync=1)",
         "1.13", "", pages + "distribute/InputContext"),
        ("distribute.ReduceOp", "class", "", "1.13", "", pages + "distribute/ReduceOp"),
    ]


V2_0 = (
    of_class("v2_0", _R20 + _CLASS, _BOTH + [
        ("experimental_run_v2", "run", "(fn, args=(), kwargs=None)", "1.14", "2.3"),
    ])
    + of_class("v2_0", _SOURCE % ("r2.0", "distribute_lib"), _CARRIED, carried=True)
    + beside_class("v2_0", _beside(_R20))
)

V2_2 = (
    of_class("v2_2", _R22 + _CLASS, _BOTH + [
        ("run", "run", "(fn, args=(), kwargs=None, options=None)", "2.2", ""),
        ("experimental_assign_to_logical_device", "assign_to_logical_device",
         "(tensor, logical_device_id)", "2.2", "2.3"),
        ("experimental_split_to_logical_devices", "split_to_logical_devices",
         "(tensor, partition_dimensions)", "2.2", "2.3"),
        ("experimental_replicate_to_logical_devices", "replicate_to_logical_devices",
         "(tensor)", "2.2", "2.3"),
        ("experimental_distribute_values_from_function", "distribute_values",
         "(value_fn)", "2.2", ""),
    ])
    + of_class("v2_2", _SOURCE % ("r2.2", "distribute_lib"), _CARRIED, carried=True)
    + of_class("v2_2", _SOURCE % ("r2.2", "tpu_strategy"), [
        ("experimental_run_v2", "run",
         "(fn, args=(), kwargs=None, options=None)", "2.2", "2.3"),
    ], carried=True)
    + beside_class("v2_2", _beside(_R22) + [
        ("distribute.TPUStrategy", "class", "", "2.3", "", _NOW + "distribute/TPUStrategy"),
        ("distribute.ValueContext", "class",
         "(replica_id_in_sync_group=0, num_replicas_in_sync=1)", "", "",
         _R22 + "distribute/experimental/ValueContext"),
        ("distribute.experimental.ValueContext", "class",
         "(replica_id_in_sync_group=0, num_replicas_in_sync=1)", "2.2", "",
         _R22 + "distribute/experimental/ValueContext"),
    ])
)
