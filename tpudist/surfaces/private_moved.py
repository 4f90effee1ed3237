"""Where private modules of TensorFlow went, and names out of them.

Read off the wheels of 1.13 to 2.21: a module or name is here if training code of 2017 to
2021 imports it and a release of today has it elsewhere. Old spellings stand on the left,
also where a release is older than the spelling (``python.tpu`` was below contrib in 1.13).
"""

from __future__ import annotations

# fmt: off
_DISTRIBUTE = "python.distribute."
_TRACKING = {
    "base": "python.trackable.base python.trackable.constants python.training.tracking.base "
            "python.training.checkpointable.base",
    "data_structures": "python.trackable.data_structures python.training.tracking.data_structures "
                       "python.training.checkpointable.data_structures",
    "graph_view": "python.checkpoint.graph_view python.training.tracking.graph_view",
    "layer_utils": "python.trackable.layer_utils python.training.tracking.layer_utils "
                   "python.training.checkpointable.layer_utils",
    "python_state": "python.trackable.python_state python.training.tracking.python_state",
    "tracking": "python.trackable.autotrackable python.trackable.resource python.trackable.asset "
                "python.training.tracking.tracking python.training.checkpointable.tracking",
    "util": "python.checkpoint.checkpoint python.checkpoint.util "
            "python.training.tracking.util python.training.checkpointable.util",
}
_TPU = """async_checkpoint bfloat16 datasets device_assignment error_handling feature_column
    functional keras_support session_support tensor_tracer topology tpu tpu_config tpu_context
    tpu_embedding tpu_estimator tpu_feed tpu_function tpu_optimizer tpu_sharding
    tpu_system_metadata training_loop util""".split()

#: {module: the modules of today with its names}, first found first.
MODULES = {
    **{"python.training.tracking." + name: homes for name, homes in _TRACKING.items()},
    **{"python.training.checkpointable." + name: homes for name, homes in _TRACKING.items()
       if name not in ("graph_view", "python_state")},
    **{"python.tpu." + name: "contrib.tpu.python.tpu." + name for name in _TPU},
    "python.tpu.ops.tpu_ops": "contrib.tpu.python.ops.tpu_ops",
    "python.context": "python.eager.context",
    "python.data.experimental.ops.optimization": "python.data.experimental.ops.testing",
    "python.data.experimental.ops.optimization_options": "python.data.ops.options",
    "python.data.experimental.ops.threading_options": "python.data.ops.options",
    "python.data.experimental.ops.distribute_options": "python.data.ops.options",
    "python.distribute.all_reduce": "python.distribute.v1.all_reduce",
    "python.distribute.distribution_strategy_context": "python.distribute.distribute_lib",
    "python.distribute.summary_op_util": "python.ops.summary_op_util",
    "python.eager.profiler_client": "python.profiler.profiler_client",
    "python.framework.composite_tensor": "python.framework.ops",
    "python.framework.tensor_conversion_registry": "python.framework.ops",
    "python.ops.rnn_cell_wrapper_impl": "python.keras.layers.legacy_rnn.rnn_cell_wrapper_impl",
    "python.saved_model.load_context": "python.distribute.load_context",
    "python.saved_model.nested_structure_coder":
        "python.saved_model.nested_structure_coder python.eager.function",
    "python.training.distribute": "python.distribute.distribute_lib",
    "python.training.distribution_strategy_context":
        "python.distribute.distribution_strategy_context python.distribute.distribute_lib",
    "python.training.gen_training_ops": "python.ops.gen_training_ops",
    "python.training.learning_rate_decay_v2": "python.training.learning_rate_decay",
    "python.training.saving.checkpoint_options": "python.checkpoint.checkpoint_options",
    "python.training.saving.functional_saver": "python.checkpoint.functional_saver",
    "python.training.training_ops":
        "python.ops.gen_training_ops python.training.gen_training_ops",
    "python.util.compat_internal": "python.util.compat",
}


def _below(prefix: str, homes: dict[str, str]) -> dict[str, str]:
    """{name: "module:name"}; ``old=new|newer`` is a name that changed on its way."""
    moved = {}
    for home, names in homes.items():
        for name in names.split():
            old, _, new = name.partition("=")
            moved[old] = "%s%s:%s" % (prefix, home, new or old)
    return moved


_OPS = "python.ops."
_CONTEXT = _below("", {"contrib.distribute":
    "get_tower_context get_cross_tower_context TowerContext get_distribution_strategy "
    "has_distribution_strategy get_strategy has_strategy get_replica_context "
    "in_cross_replica_context"})

#: {module: {name: its home}} of modules that are still there without the name, or whose
#: names are in more modules than `MODULES` says.
MEMBERS = {
    "python.data.ops.dataset_ops": _below("python.data.ops.", {"options": "Options"}),
    "python.data.util.nest": _below("python.data.util.", {"nest": "is_sequence=is_nested"}),
    "python.distribute.cross_device_ops": _below(_DISTRIBUTE, {
        "cross_device_ops": "ReductionToOneDeviceCrossDeviceOps=ReductionToOneDevice"}),
    "python.distribute.distribute_lib": _below(_DISTRIBUTE, {
        "distribute_utils": "create_mirrored_variable get_loss_reduction"}),
    "python.distribute.distribution_strategy_context": _CONTEXT,
    "python.distribute.input_lib": _below(_DISTRIBUTE, {
        "v1.input_lib": "DatasetIterator DistributedDatasetV1 DistributedDatasetsFromFunctionV1 "
                        "DistributedIteratorV1 InputFunctionIterator",
        "input_util": "get_distributed_dataset get_distributed_datasets_from_function"}),
    "python.distribute.values": _below(_DISTRIBUTE, {
        "tpu_values": "TPUMirroredVariable TPUSyncOnReadVariable TPUVariableMixin",
        "distribute_utils": "create_mirrored_variable is_distributed_variable regroup "
                            "select_replica select_replica_mirrored update_regroup "
                            "validate_colocate validate_colocate_distributed_variable "
                            "value_container",
        "input_lib": "MultiStepContext",
        "v1.input_lib": "DatasetIterator InputFunctionIterator",
        "ps_values": "AggregatingVariable",
        "values": "PerDevice=PerReplica SyncOnReadVariable=ReplicaLocalVariable "
                  "TowerLocalVariable=SyncOnReadVariable|ReplicaLocalVariable"}),
    "python.eager.function": _below("python.eager.polymorphic_function.", {
        "polymorphic_function": "Function", "concrete_function": "ConcreteFunction"}),
    "python.eager.tape": _below("python.eager.", {
        "record": "VariableWatcher could_possibly_record record_operation "
                  "should_record_backprop stop_recording"}),
    "python.framework.func_graph": _below("python.eager.polymorphic_function.", {
        "polymorphic_function": "function"}),
    "python.framework.graph_util": _below("python.framework.", {
        "convert_to_constants": "convert_variables_to_constants"}),
    "python.framework.graph_util_impl": _below("python.framework.", {
        "convert_to_constants": "convert_variables_to_constants"}),
    "python.framework.ops": {
        **_below("python.framework.", {
            "tensor": "Tensor disable_tensor_equality enable_tensor_equality",
            "tensor_conversion": "convert_to_tensor_v1 convert_to_tensor_v1_with_dispatch "
                                 "convert_to_tensor_v2 convert_to_tensor_v2_with_dispatch",
            "indexed_slices": "IndexedSlices IndexedSlicesValue "
                              "convert_n_to_tensor_or_indexed_slices "
                              "convert_to_tensor_or_indexed_slices "
                              "internal_convert_n_to_tensor_or_indexed_slices "
                              "internal_convert_to_tensor_or_indexed_slices",
            "tensor_conversion_registry": "register_tensor_conversion_function",
            "stack": "default_session"}),
        **_below(_OPS, {"handle_data_util": "get_handle_data"})},
    "python.framework.tensor_spec": _below("python.framework.", {"tensor": "TensorSpec"}),
    "python.framework.tensor_util": {
        **_below(_OPS, {"shape_util": "maybe_set_static_shape shape_tensor"}),
        **_below("python.framework.", {"tensor_util": "is_tensor=is_tf_type"})},
    "python.ops.array_ops": _below(_OPS, {"array_ops_stack": "stack unstack"}),
    "python.ops.control_flow_ops": _below(_OPS, {
        "while_loop": "while_loop while_loop_v2", "cond": "cond cond_for_tf_v2",
        "control_flow_case": "case case_v2", "control_flow_assert": "Assert",
        "control_flow_switch_case": "switch_case execute_fn_for_device"}),
    "python.ops.custom_gradient": _below(_OPS, {"handle_data_util": "copy_handle_data"}),
    "python.ops.functional_ops": _below(_OPS, {"map_fn": "map_fn"}),
    "python.ops.gen_array_ops": _below(_OPS, {"gen_array_ops": "_concat_v2=concat_v2"}),
    "python.ops.gradients_impl": _below(_OPS, {"gradients_util": "AggregationMethod"}),
    "python.ops.lookup_ops": _below("python.data.experimental.ops.", {
        "lookup_ops": "DatasetInitializer"}),
    "python.ops.random_ops": _below(_OPS, {
        "random_crop_ops": "random_crop stateless_random_crop"}),
    "python.ops.summary_op_util": _below(_DISTRIBUTE, {"summary_op_util": "skip_summary"}),
    "python.ops.variable_scope": {
        **_below(_OPS, {
            "resource_variables_toggle": "disable_resource_variables enable_resource_variables "
                                         "resource_variables_enabled",
            "ref_variable": "default_variable_creator",
            "resource_variable_ops": "default_variable_creator_v2",
            "variable_v1": "variable=VariableV1"})},
    "python.ops.variables": _below(_OPS, {
        "variable_v1": "VariableV1 is_variable_initialized", "ref_variable": "RefVariable"}),
    "python.pywrap_tensorflow": _below("python.training.", {
        "py_checkpoint_reader": "NewCheckpointReader"}),
    "python.saved_model.utils_impl": _below("python.saved_model.", {
        "path_helpers": "get_assets_dir get_debug_dir get_or_create_assets_dir "
                        "get_or_create_debug_dir get_or_create_variables_dir "
                        "get_saved_model_pb_path get_saved_model_pbtxt_path "
                        "get_variables_dir get_variables_path"}),
    "python.tpu.tpu": _below("python.tpu.", {
        "tpu_replication": "TPUReplicateContext outside_compilation is_tpu_strategy"}),
    "python.training.checkpointable.base": _below("python.training.tracking.", {
        "base": "CheckpointableBase=Trackable CheckpointableReference=TrackableReference"}),
    "python.training.checkpointable.data_structures": _below("python.training.tracking.", {
        "data_structures": "CheckpointableDataStructure=TrackableDataStructure"}),
    "python.training.checkpointable.tracking": _below("python.training.tracking.", {
        "tracking": "Checkpointable=AutoTrackable"}),
    "python.training.checkpointable.util": _below("python.training.tracking.", {
        "util": "CheckpointableSaver=TrackableSaver"}),
    "python.training.tracking.base": _below("python.training.checkpointable.", {
        "base": "Trackable=CheckpointableBase TrackableReference=CheckpointableReference"}),
    "python.training.tracking.data_structures": _below("python.training.checkpointable.", {
        "data_structures": "TrackableDataStructure=CheckpointableDataStructure"}),
    "python.training.tracking.tracking": _below("python.training.checkpointable.", {
        "tracking": "AutoTrackable=Checkpointable"}),
    "python.training.tracking.util": _below("python.training.checkpointable.", {
        "util": "TrackableSaver=CheckpointableSaver"}),
    "python.training.distribute": {
        **_CONTEXT,
        **_below("", {"python.distribute.distribute_lib": "DistributionStrategy=Strategy"})},
    "python.training.distribution_strategy_context": _CONTEXT,
    "python.util.nest": _below("python.util.", {"nest": "is_sequence=is_nested"}),
    "python.training.saver": _below("python.checkpoint.", {
        "checkpoint_management": "CheckpointManager checkpoint_exists get_checkpoint_mtimes "
                                 "get_checkpoint_state latest_checkpoint "
                                 "remove_checkpoint update_checkpoint_state"}),
}
