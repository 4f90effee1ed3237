"""The table of names that tpudist defines in each era's drop-in namespace.

Keys are dotted names below ``tf`` (also below ``tf.compat.v1`` and
``tf.compat.v2``), values are ``module:attribute``. ``tensorflow:`` targets are
the installed TensorFlow's own names under an older spelling. Names that stand
nowhere here are the installed TensorFlow's.
"""

from __future__ import annotations

from typing import Iterable

# fmt: off
_STRATEGY = "tpudist.contrib.distribute:TPUStrategy"
_STRATEGY_V1 = "tpudist.contrib.distribute:TPUStrategyV1"
_RESOLVER = "tpudist.core.system.cluster:TPUClusterResolver"
_CONTRIB_RESOLVER = "tpudist.contrib.cluster_resolver:TPUClusterResolver"
_KERAS_SUPPORT = "contrib.tpu.python.tpu.keras_support."
_INITIALIZE = "tpudist.core.system.cluster:initialize_tpu_system"

_CLUSTER = {
    "config.experimental_connect_to_cluster":
        "tpudist.core.system.cluster:connect_to_cluster",
    "config.list_logical_devices": "tpudist.core.system.workers:list_logical_devices",
    "config.experimental.list_logical_devices":
        "tpudist.core.system.workers:list_logical_devices",
    "config.experimental_connect_to_host": "tpudist.dropin.hosts:connect_to_host",
    "device": "tpudist.core.system.workers:device",
    "distribute.cluster_resolver.TPUClusterResolver": _RESOLVER,
    "python.distribute.cluster_resolver.TPUClusterResolver": _RESOLVER,
    "python.distribute.cluster_resolver.tpu_cluster_resolver"
    ".TPUClusterResolver": _RESOLVER,
    "python.tpu.tpu_strategy_util.initialize_tpu_system": _INITIALIZE,
    "python.tpu.tpu_strategy_util.shutdown_tpu_system":
        "tpudist.core.system.cluster:shutdown_tpu_system",
    "tpu.experimental.DeviceAssignment": "tpudist.core.system.placement:DeviceAssignment",
    "tpu.experimental.Topology": "tpudist.tfcompat.tpu:Topology",
    "tpu.experimental.initialize_tpu_system": _INITIALIZE,
    "tpu.experimental.shutdown_tpu_system":
        "tpudist.core.system.cluster:shutdown_tpu_system",
}


def _second_generation(strategy: str) -> dict[str, str]:
    v1 = strategy.replace(".strategy:", ".compat_v1:")
    return {
        "compat.v1.distribute.experimental.TPUStrategy": v1,
        "python.distribute.tpu_strategy.TPUStrategyV1": v1,
        "distribute.TPUStrategy": strategy,
        "distribute.experimental.TPUStrategy": strategy,
        "python.distribute.tpu_strategy.TPUStrategy": strategy,
        "python.distribute.tpu_strategy.TPUStrategyV2": strategy,
    }


def _below(module: str, prefixes: Iterable[str], names: Iterable[str]) -> dict[str, str]:
    return {prefix + name: module + ":" + name
            for prefix in prefixes for name in names}


#: Of TensorFlow 1, below ``tf.compat.v1`` in 2.x.
_SESSIONS = ("Session", "InteractiveSession")


def _same(prefix: str, target: str, names: Iterable[str]) -> dict[str, str]:
    return {prefix + name: target + name for name in names}


#: What the core's program and the host's exchange, and the loops of the core's program.
_FEEDS = tuple(feed + end for feed in ("infeed_dequeue", "infeed_enqueue", "outfeed_dequeue",
                                       "outfeed_enqueue") for end in ("", "_tuple"))
_LOOPS = ("repeat", "while_loop")


def _loops(tpu: str, ops: str) -> dict[str, str]:
    """The names of a training loop without an Estimator, below the modules that have them."""
    return {
        **_below("tpudist.contrib.tpu", (tpu + "training_loop.",), _LOOPS),
        **_below("tpudist.contrib.tpu", (tpu + "tpu_feed.",), ("InfeedQueue",)),
        **_below("tpudist.contrib.tpu", (ops + "tpu_ops.",), ("cross_replica_sum", *_FEEDS)),
    }


_CONTRIB = {
    **_loops("python.tpu.", "python.tpu.ops."),
    **_loops("contrib.tpu.python.tpu.", "contrib.tpu.python.ops."),
    **_below("tpudist.contrib.tpu", ("contrib.tpu.",), (*_LOOPS, *_FEEDS, "InfeedQueue")),
    "VariableAggregation": "tpudist.contrib.context:VariableAggregation",
    "contrib.cluster_resolver.TPUClusterResolver": _CONTRIB_RESOLVER,
    "contrib.cluster_resolver.python.training.tpu_cluster_resolver"
    ".TPUClusterResolver": _CONTRIB_RESOLVER,
    "contrib.distribute.DistributionStrategy":
        "tensorflow:compat.v1.distribute.Strategy",
    "contrib.distribute.TPUStrategy": _STRATEGY,
    "contrib.distribute.initialize_tpu_system": _INITIALIZE,
    "contrib.distribute.python.tpu_strategy.TPUStrategy": _STRATEGY,
    **dict.fromkeys(
        (
            "contrib.tpu.AsyncCheckpointSaverHook",
            "contrib.tpu.python.tpu.async_checkpoint.AsyncCheckpointSaverHook",
            "python.tpu.async_checkpoint.AsyncCheckpointSaverHook",
        ),
        "tpudist.estimator.checkpoints:AsyncCheckpointSaverHook",
    ),
    "contrib.tpu.DeviceAssignment": "tpudist.core.system.placement:DeviceAssignment",
    "contrib.tpu.Topology": "tpudist.tfcompat.tpu:Topology",
    "python.tpu.tpu_function.get_tpu_context": "tpudist.core.computations.tpu_ops:get_tpu_context",
    "contrib.tpu.python.tpu.tpu_function.get_tpu_context":
        "tpudist.core.computations.tpu_ops:get_tpu_context",
    "contrib.tpu.python.tpu.tpu_optimizer.CrossShardOptimizer":
        "tpudist.contrib.tpu:CrossShardOptimizer",
    "distribute.TPUStrategy": _STRATEGY_V1,
    "distribute.cluster_resolver.TPUClusterResolver": _CONTRIB_RESOLVER,
    "distribute.experimental.TPUStrategy": _STRATEGY_V1,
    "python.distribute.tpu_strategy.TPUStrategy": _STRATEGY_V1,
    "python.distribute.tpu_strategy.TPUStrategyV1": _STRATEGY_V1,
}

#: Names below ``tf.estimator.tpu`` and, in contrib, below ``tf.contrib.tpu``.
TPU_ESTIMATOR = ("InputPipelineConfig", "RunConfig", "TPUConfig", "TPUEstimator",
                 "TPUEstimatorSpec")

#: Where ``from tensorflow.python.tpu import tpu_config, tpu_estimator`` finds them.
_TPU_CONFIG = ("InputPipelineConfig", "RunConfig", "TPUConfig")
_TPU_ESTIMATOR = ("TPUEstimator", "TPUEstimatorSpec")

#: Names below ``tf.estimator``; ended in 2.15.
ESTIMATOR = ("BestExporter", "Estimator", "EstimatorSpec", "EvalSpec", "Exporter",
             "FinalExporter", "LatestExporter", "ModeKeys", "RunConfig", "TrainSpec",
             "WarmStartSettings", "train_and_evaluate")
ESTIMATOR_EXPORT = ("ClassificationOutput", "ExportOutput", "PredictOutput", "RegressionOutput",
                    "ServingInputReceiver", "TensorServingInputReceiver",
                    "build_parsing_serving_input_receiver_fn",
                    "build_raw_serving_input_receiver_fn")
#: Those that are ``tf.train``'s own.
ESTIMATOR_HOOKS = ("CheckpointSaverHook", "CheckpointSaverListener", "FeedFnHook",
                   "FinalOpsHook", "GlobalStepWaiterHook", "LoggingTensorHook",
                   "NanLossDuringTrainingError", "NanTensorHook", "ProfilerHook",
                   "SecondOrStepTimer", "SessionRunArgs", "SessionRunContext",
                   "SessionRunHook", "SessionRunValues", "StepCounterHook",
                   "StopAtStepHook", "SummarySaverHook", "VocabInfo")
#: Where ``from tensorflow.python.estimator import estimator`` finds them.
_PRIVATE = "python.estimator."
_ESTIMATORS = {
    **_below("tpudist.estimator.tpu", ("estimator.tpu.",), TPU_ESTIMATOR),
    **_below("tpudist.estimator", ("estimator.",), ESTIMATOR),
    **_below("tpudist.estimator.export", ("estimator.export.",), ESTIMATOR_EXPORT),
    **_same("estimator.", "tensorflow:compat.v1.train.", ESTIMATOR_HOOKS),
    **_below("tpudist.estimator", (_PRIVATE + "estimator_lib.",), ESTIMATOR),
    **_below("tpudist.estimator", (_PRIVATE + "estimator.",), ("Estimator", "WarmStartSettings")),
    **_below("tpudist.estimator", (_PRIVATE + "exporter.",), (
        "BestExporter", "Exporter", "FinalExporter", "LatestExporter")),
    **_below("tpudist.estimator", (_PRIVATE + "model_fn.",), ("EstimatorSpec", "ModeKeys")),
    **_below("tpudist.estimator", (_PRIVATE + "run_config.",), ("RunConfig",)),
    **_below("tpudist.estimator", (_PRIVATE + "training.",), (
        "EvalSpec", "TrainSpec", "train_and_evaluate")),
    **_below("tpudist.estimator.export",
             tuple(_PRIVATE + "export.%s." % each for each in ("export", "export_lib",
                                                               "export_output")),
             ESTIMATOR_EXPORT),
    **_below("tpudist.estimator.tpu", ("python.tpu.tpu_config.",), _TPU_CONFIG),
    **_below("tpudist.estimator.tpu", ("python.tpu.tpu_estimator.",), _TPU_ESTIMATOR),
    _PRIVATE + "estimator._load_global_step_from_checkpoint_dir":
        "tpudist.estimator.checkpoints:trained_steps",
}

#: What starts a computation on cores, without a strategy.
_COMPUTATIONS = ("batch_parallel", "initialize_system", "replicate", "rewrite", "shard",
                 "shutdown_system")

#: What a TPUEstimator's model function calls in 2.x: ``tf.compat.v1.tpu``.
_OF_CORES = {
    **_below("tpudist.contrib.tpu", ("tpu.", "python.tpu.tpu."), _COMPUTATIONS),
    "python.tpu.tpu_function.get_tpu_context": "tpudist.core.computations.tpu_ops:get_tpu_context",
    "python.tpu.tpu_optimizer.CrossShardOptimizer":
        "tpudist.core.computations.cross_shard_optimizer:CrossShardOptimizer",
    **_loops("python.tpu.", "python.tpu.ops."),
    "tpu.CrossShardOptimizer":
        "tpudist.core.computations.cross_shard_optimizer:CrossShardOptimizer",
    "tpu.cross_replica_sum": "tpudist.contrib.tpu:cross_replica_sum",
}

#: What programs of 2.1 to 2.3 choose bfloat16 by.
_POLICIES = _below("tpudist.core.keras.old_policies", ("keras.mixed_precision.experimental.",), (
    "LossScaleOptimizer", "Policy", "get_layer_policy", "global_policy", "set_policy"))

_OPTIONS = {
    "data.Options": "tpudist.core.input.old_options:Options",
    "data.experimental.OptimizationOptions":
        "tpudist.core.input.old_options:OptimizationOptions",
}

_VALUE_CONTEXT = {
    "distribute.InputOptions": "tpudist.core.input.old_options:InputOptions",
    "distribute.ValueContext": "tpudist.v2_2.context:ValueContext",
    "distribute.experimental.ValueContext": "tpudist.v2_2.context:ValueContext",
}

DROPINS = {
    "contrib": {
        **_CLUSTER,
        **_OPTIONS,
        **_below("tpudist.core.system.workers", ("",), _SESSIONS),
        **_ESTIMATORS,
        **_below("tpudist.contrib.context", ("", "contrib.distribute."), (
            "get_tower_context", "get_cross_tower_context")),
        **_below("tpudist.contrib.context", ("contrib.distribute.",), (
            "get_distribution_strategy", "has_distribution_strategy",
            "get_loss_reduction", "TowerContext", "MultiStepContext")),
        **_below("tpudist.contrib.tpu", ("contrib.tpu.", "tpu."), (
            *_COMPUTATIONS, "cross_replica_sum", "CrossShardOptimizer", "bfloat16_scope")),
        **_below("tpudist.contrib.tpu", ("contrib.tpu.python.tpu.tpu.", "python.tpu.tpu."),
                 _COMPUTATIONS),
        "contrib.tpu.keras_to_tpu_model": "tpudist.contrib.tpu:keras_to_tpu_model",
        **_below("tpudist.estimator.tpu", ("contrib.tpu.",), TPU_ESTIMATOR),
        **_below("tpudist.estimator.tpu", ("contrib.tpu.python.tpu.tpu_config.",), _TPU_CONFIG),
        **_below("tpudist.estimator.tpu", ("contrib.tpu.python.tpu.tpu_estimator.",),
                 _TPU_ESTIMATOR),
        **_below("tpudist.core.keras.tpu_models", ("contrib.tpu.", _KERAS_SUPPORT), (
            "TPUDistributionStrategy",)),
        _KERAS_SUPPORT + "tpu_model": "tpudist.contrib.tpu:keras_to_tpu_model",
        **_same("contrib.distribute.", "tensorflow:distribute.", (
            "ReplicaContext", "get_replica_context", "get_strategy",
            "has_strategy", "in_cross_replica_context")),
        **_CONTRIB,
    },
    "v2_0": {
        **_CLUSTER,
        **_OPTIONS,
        **_ESTIMATORS,
        **_OF_CORES,
        **_POLICIES,
        **_below("tpudist.core.system.workers", ("compat.v1.",), _SESSIONS),
        **_second_generation("tpudist.v2_0.strategy:TPUStrategy"),
    },
    "v2_2": {
        **_CLUSTER,
        **_OPTIONS,
        **_ESTIMATORS,
        **_OF_CORES,
        **_POLICIES,
        **_below("tpudist.core.system.workers", ("compat.v1.",), _SESSIONS),
        **_second_generation("tpudist.v2_2.strategy:TPUStrategy"),
        "distribute.TPUStrategy": "tpudist.v2_2.later:TPUStrategy",
        "python.distribute.tpu_strategy.TPUStrategyV2": "tpudist.v2_2.later:TPUStrategy",
        **_VALUE_CONTEXT,
    },
}

#: What ``tpudist.<era>`` itself re-exports, each loaded when first asked for.
EXPORTS = {
    "contrib": dict(
        _below("tpudist.contrib.context", ("",), (
            "get_tower_context", "get_cross_tower_context", "TowerContext",
            "MultiStepContext", "VariableAggregation",
            "get_distribution_strategy", "has_distribution_strategy",
            "get_loss_reduction")),
        TPUStrategy=_STRATEGY,
        TPUClusterResolver=_CONTRIB_RESOLVER),
    "v2_0": {"TPUStrategy": "tpudist.v2_0.strategy:TPUStrategy",
             "TPUClusterResolver": _RESOLVER},
    "v2_2": {"TPUStrategy": "tpudist.v2_2.strategy:TPUStrategy",
             "TPUClusterResolver": _RESOLVER,
             "ValueContext": "tpudist.v2_2.context:ValueContext"},
}
for _names in EXPORTS.values():
    _names.update(
        _below("tpudist.core.system.cluster", ("",), (
            "initialize_tpu_system", "shutdown_tpu_system",
            "connect_to_cluster")),
        DeviceAssignment="tpudist.core.system.placement:DeviceAssignment",
        Topology="tpudist.tfcompat.tpu:Topology",
        InputContext="tensorflow:distribute.InputContext",
        ReduceOp="tensorflow:distribute.ReduceOp")
