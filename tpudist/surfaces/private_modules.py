"""Private modules of TensorFlow that code of the eras imports: where they went, and what is gone.

Read off the wheels of 1.13 to 2.21: a module or name is here if training code of 2017 to
2021 imports it and a release of today has it elsewhere, or not. Old spellings stand on the left,
also where a release is older than the spelling (``python.tpu`` was below contrib in 1.13).
"""

from __future__ import annotations

import functools
import os

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
    "python.eager.profiler": "python.profiler.profiler_v2",
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
#: names are in more modules than `MODULES` says. What TensorFlow has nowhere is in tpudist.
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
    "python.eager.function": {
        **_below("python.eager.polymorphic_function.", {
            "polymorphic_function": "Function defun=function",
            "concrete_function": "ConcreteFunction"}),
        **_below("tpudist.core.", {"old_functions": "defun_with_attributes register"})},
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
# fmt: on


@functools.lru_cache(maxsize=None)
def private_names() -> dict[str, str]:
    """{dotted name: what to type} of names that are gone from modules that are still there.

    Names are below ``tensorflow``, such as "python.framework.ops.Tensor". ``private_names.txt``
    lists them; ``python -m compat.private_names`` writes it.
    """
    words = {}
    with open(os.path.join(os.path.dirname(__file__), "private_names.txt")) as lines:
        rows = [line.split() for line in lines if not line.startswith("#")]
    for module, *names in rows:
        for name, _, instead in (each.partition("=") for each in names):
            words[module + "." + name] = _words(module, name, instead)
    return words


def _words(module: str, name: str, instead: str) -> str:
    if instead.startswith("tensorflow."):
        instead += "." + name
    home, _, today = MEMBERS.get(module, {}).get(name, "").partition(":")
    if home and not instead and not home.startswith("tpudist."):
        instead = "tensorflow.%s.%s" % (home, today.partition("|")[0])
    if instead.startswith("tensorflow."):
        return instead + ", which is no public API either"
    return instead or "copy the few lines that you use"


# fmt: off
#: {package: its modules that 1.13 to 2.2 had and the newest release has not}.
_BELOW: dict[str, str] = {
    "compiler.xla": "experimental python_api",
    "core.framework": "remote_fused_graph_execute_info_pb2",
    "core.profiler":
        "op_profile_pb2 profiler_analysis_pb2 profiler_analysis_pb2_grpc "
        "profiler_service_monitor_result_pb2 profiler_service_pb2 profiler_service_pb2_grpc "
        "protobuf",
    "core.protobuf": "data graph_debug_info_pb2 trace_events_pb2",
    "core.protobuf.tpu": "tpu_embedding_output_layout_pb2",
    "": "examples",
    "lite.experimental": "examples tensorboard",
    "lite.toco": "model_flags_pb2 python",
    "python.autograph.converters":
        "arg_defaults control_flow_deprecated_py2 function_scopes list_comprehensions",
    "python.autograph.core": "naming",
    "python.autograph.operators": "control_flow_deprecated_py2 special_values symbols",
    "python.autograph.pyct": "compiler loader_deprecated_py2",
    "python.autograph.utils": "compat_util py_func type_check",
    "python.data.experimental.ops":
        "distribute_options optimization optimization_options sleep stats_aggregator "
        "stats_ops stats_options threading_options threadpool",
    "python.debug.cli": "curses_ui curses_widgets",
    "python.debug": "examples",
    "python.distribute":
        "all_reduce distributed_file_utils distribution_strategy_context estimator_training "
        "model_collection model_combinations",
    "python.eager": "execution_callbacks profiler profiler_client",
    "python": "estimator",
    "python.feature_column": "dense_features dense_features_v2",
    "python.framework": "composite_tensor_utils tensor_like",
    "python.keras": "api applications datasets estimator ops premade preprocessing wrappers",
    "python.keras.distribute": "multi_worker_training_state",
    "python.keras.engine":
        "base_preprocessing_layer_v1 network training_arrays training_distributed "
        "training_eager training_generator training_v2 training_v2_utils",
    "python.keras.layers":
        "cudnn_recurrent kernelized local noise normalization normalization_v2 preprocessing "
        "recurrent_v2 wrappers",
    "python.keras.mixed_precision": "experimental",
    "python.keras.utils": "multi_gpu_utils",
    "python.ops.distributions": "transformed_distribution",
    "python.ops": "gen_tensor_forest_ops gen_user_ops rnn_cell_wrapper_impl tensor_forest_ops",
    "python.ops.linalg":
        "adjoint_registrations cholesky_registrations inverse_registrations "
        "linear_operator_algebra matmul_registrations registrations_util solve_registrations",
    "python.ops.losses": "loss_reduction",
    "python.platform": "control_imports parameterized status_bar",
    "python.profiler": "profile_context traceme",
    "python.tpu":
        "_tpu_estimator_embedding async_checkpoint error_handling profiler session_support "
        "tpu_config tpu_context tpu_embedding tpu_embedding_gradient tpu_estimator util",
    "python.training":
        "distribute distribution_strategy_context gen_training_ops tensorboard_logging "
        "tracking training_ops",
    "python.training.experimental": "loss_scaling_gradient_tape",
    "python.training.saving": "functional_saver saveable_hook",
    "python.util": "deprecation_wrapper future_api memory",
    "tools.docs": "doc_generator_visitor generate_lib parser pretty_docs py_guide_parser",
    "tools": "graph_transforms",
}
# fmt: on

#: The same, dotted; a package stands for all below it.
GONE_MODULES = frozenset(
    (package + "." + name).lstrip(".")
    for package, names in _BELOW.items()
    for name in names.split()
)
_INSTEAD = {
    "examples.tutorials.mnist": "tf.keras.datasets.mnist",
    "python.eager.profiler": "tf.profiler.experimental, whose start takes the folder",
    "python.keras": "tf_keras, the package of Keras 2 that has it, or tf.keras",
}


def gone_module(name: str) -> str | None:
    """The module that is gone of a dotted name below ``tensorflow``, itself or one above it.

    Args:
      name: such as "python.training.tracking.base".
    """
    parts = name.split(".")
    prefixes = (".".join(parts[:end]) for end in range(len(parts), 0, -1))
    return next((each for each in prefixes if each in GONE_MODULES), None)


def instead_of_module(name: str) -> str:
    """What to type instead of a module that is gone.

    Args:
      name: dotted name below ``tensorflow``.
    """
    parts = name.split(".")
    above = [".".join(parts[:end]) for end in range(len(parts), 0, -1)]
    for start, words in _INSTEAD.items():
        if (name + ".").startswith(start + "."):
            return words
    known = next((MODULES[each] for each in above if each in MODULES), "")
    homes = [each for each in known.split() if gone_module(each) is None]
    if homes and not homes[0].startswith("contrib."):
        return "tensorflow.%s has its names today, and is no public API either" % homes[0]
    if any(part.startswith("gen_") for part in parts):
        return "tf.raw_ops, which has the ops that TensorFlow's kernels implement"
    return "a public name of tf; where there is none, copy the lines that you use"
