"""Modules of TensorFlow's own code that 1.13 to 2.2 had and the newest release has not.

Programs of the eras import them though they are no public API. They are read off the
wheels of TensorFlow 1.13, 1.15, 2.2 and 2.21; a package that is gone stands for all below it.
"""

from __future__ import annotations

from tpudist.surfaces.private_moved import MODULES

# fmt: off
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
GONE_MODULES = frozenset(
    (package + "." + name).lstrip(".")
    for package, names in _BELOW.items()
    for name in names.split()
)
_INSTEAD = {
    "examples.tutorials.mnist": "tf.keras.datasets.mnist",
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
    known = next((MODULES[each] for each in above if each in MODULES), "")
    homes = [each for each in known.split() if gone_module(each) is None]
    if homes and not homes[0].startswith("contrib."):
        return "tensorflow.%s has its names today, and is no public API either" % homes[0]
    for start, words in _INSTEAD.items():
        if (name + ".").startswith(start + "."):
            return words
    if any(part.startswith("gen_") for part in parts):
        return "tf.raw_ops, which has the ops that TensorFlow's kernels implement"
    return "a public name of tf; where there is none, copy the lines that you use"
