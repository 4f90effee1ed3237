"""Names that are gone, and what to type: `GONE` of the three eras, `GONE_TODAY` of the newest.

`GONE` is what tpudist does not bring back. It is consulted only when the installed TensorFlow
does not have the name either, so a line costs nothing on the releases that still have it. The
longest matching prefix wins. `GONE_TODAY` are other public names of TensorFlow 1.13 to 2.15 that
the newest release has not: `python -m compat.gone_names` compares them with those releases.
Names of TensorFlow 1 alone are in `tpudist.surfaces.first_generation`. A module that is here
stands for all below it.
"""

from __future__ import annotations

# fmt: off
_SLIM = "pip install tf_slim; import tf_slim, which carries %s on"
_LOOP = ("a loop over strategy.experimental_distribute_dataset and strategy.run; "
         "or tpudist run, with the package tensorflow-estimator")
_ADDONS = ("copy the few lines you use; TensorFlow Addons, which took it over, "
           "ended in 2024")
_KERAS_2_LAYERS = ("with Keras 3 tf.keras.layers.%s; or the package tf_keras, which brings the "
            "old functions back: tpudist doctor has the line to install it")
_FORESTS = "the tensorflow_decision_forests package"
_IO = "the tensorflow_io package, which took it over"
_OPTIMIZED = "the tensorflow_model_optimization package"
_STATS = "the tf.profiler, which replaced the statistics of tf.data"
_TENSORRT = ("TensorFlow 2.17, the last release with TensorRT, or NVIDIA's own tools "
             "for a saved model")
_EMBEDDING = "tf.tpu.experimental.embedding.%s"
_SCALE = "tf.keras.mixed_precision.LossScaleOptimizer"

_ESTIMATOR = ("tpudist run, which runs it unmodified on every release, or from tpudist.contrib "
              "import tensorflow as tf; nothing was rewritten, for the Estimator itself calls the "
              "model function, runs the steps and saves: with strategy.run it is another program")

GONE = {
    "contrib": "copy the few lines you use, or run it on TensorFlow 1.15, the last that has it; "
               "from tpudist.contrib import tensorflow as tf has contrib.distribute, contrib.tpu "
               "and contrib.cluster_resolver",
    "contrib.all_reduce": "strategy.reduce, or a class of tf.distribute.CrossDeviceOps",
    "contrib.autograph": "tf.autograph",
    "contrib.batching": "tf.nondifferentiable_batch_function",
    "contrib.bayesflow": "tensorflow_probability",
    "contrib.bigtable": _IO,
    "contrib.boosted_trees": _FORESTS,
    "contrib.checkpoint": "tf.train.Checkpoint, which tracks lists and dicts "
                          "by itself",
    "contrib.cloud": _IO,
    "contrib.cluster_resolver": "tf.distribute.cluster_resolver",
    "contrib.compiler": "tf.xla.experimental.compile, or "
                        "tf.function(jit_compile=True)",
    "contrib.constrained_optimization": "the tensorflow_constrained_optimization package",
    "contrib.crf": _ADDONS,
    "contrib.cudnn_rnn": "tf.keras.layers.LSTM or GRU, which use cuDNN where "
                         "they can",
    "contrib.data": "tf.data.experimental, or the method of the same name on "
                    "tf.data.Dataset",
    "contrib.decision_trees": _FORESTS,
    "contrib.distribute": "tf.distribute; tpudist covers TPUStrategy and the "
                          "tower functions around it",
    "contrib.distribute.CollectiveAllReduceStrategy":
        "tf.distribute.MultiWorkerMirroredStrategy",
    "contrib.distribute.DistributeConfig": _LOOP,
    "contrib.distribute.MirroredStrategy": "tf.distribute.MirroredStrategy",
    "contrib.distribute.OneDeviceStrategy": "tf.distribute.OneDeviceStrategy",
    "contrib.distribute.ParameterServerStrategy":
        "tf.distribute.experimental.ParameterServerStrategy",
    "contrib.distributions": "tfp.distributions of tensorflow_probability",
    "contrib.eager": "tf.executing_eagerly, tf.GradientTape, tf.Variable, ...: "
                     "the names moved to tf itself",
    "contrib.estimator": _LOOP,
    "contrib.factorization": _LOOP,
    "contrib.feature_column": "tf.feature_column",
    "contrib.ffmpeg": _IO,
    "contrib.framework": _SLIM % "arg_scope, get_variables and their kind",
    "contrib.graph_editor":
        "tf.recompute_grad, where it saved memory by computing activations again; else edit "
        "graph.as_graph_def() and tf.graph_util.import_graph_def(it, input_map=...)",
    "contrib.hadoop": _IO,
    "contrib.hooks": "tf.compat.v1.train.ProfilerHook",
    "contrib.ignite": _IO,
    "contrib.image": _ADDONS,
    "contrib.integrate": "tfp.math.ode of tensorflow_probability, or "
                         "scipy.integrate",
    "contrib.kafka": _IO,
    "contrib.keras": "tf.keras",
    "contrib.kinesis": _IO,
    "contrib.gan": "pip install tensorflow_gan tensorflow_probability; tensorflow_gan carries "
                   "tf.contrib.gan on, by itself on TensorFlow 2.1 to 2.15 with Python 3.10 or "
                   "older, on any newer under tpudist run",
    "contrib.layers": _SLIM % "tf.contrib.layers as tf_slim.layers",
    "contrib.learn": _LOOP,
    "contrib.libsvm": _IO,
    "contrib.lite": "tf.lite",
    "contrib.lookup": "tf.lookup",
    "contrib.losses": "tf.losses (tf.compat.v1.losses)",
    "contrib.memory_stats": 'tf.config.experimental.get_memory_info("GPU:0")',
    "contrib.metrics": "tf.metrics (tf.compat.v1.metrics), or "
                       "pip install tf_slim for streaming_*",
    "contrib.mixed_precision": "tf.keras.mixed_precision; on TPUs use "
                               "tf.contrib.tpu.bfloat16_scope, which is covered",
    "contrib.model_pruning": _OPTIMIZED,
    "contrib.nccl": "strategy.reduce, with tf.distribute.NcclAllReduce",
    "contrib.nn": "tf.nn",
    "contrib.opt": _ADDONS,
    "contrib.optimizer_v2": "the optimizer of the same name of tf.compat.v1.train",
    "contrib.predictor": "tf.saved_model.load, or tf.compat.v1.saved_model.load",
    "contrib.proto": "tf.io.decode_proto and tf.io.encode_proto",
    "contrib.quantization": "tf.quantization",
    "contrib.quantize": _OPTIMIZED,
    "contrib.resampler": _ADDONS,
    "contrib.rnn": "tf.nn.rnn_cell, tf.nn.dynamic_rnn and tf.nn.static_rnn "
                   "(tf.compat.v1.nn); with Keras 3 the cells need the package tf_keras",
    "contrib.saved_model": "tf.saved_model",
    "contrib.seq2seq": _ADDONS,
    "contrib.session_bundle": "tf.compat.v1.saved_model.load",
    "contrib.signal": "tf.signal",
    "contrib.slim": _SLIM % "tf.contrib.slim",
    "contrib.solvers": "tf.linalg.experimental.conjugate_gradient, or tf.linalg.lstsq",
    "contrib.sparsemax": _ADDONS,
    "contrib.staging": "from tensorflow.python.ops.data_flow_ops import StagingArea: no public "
                       "name has it",
    "contrib.stateless": "tf.random.stateless_normal, _uniform, ...",
    "contrib.summary": "tf.compat.v2.summary, or tf.summary.FileWriter in graph "
                       "mode",
    "contrib.tensor_forest": _FORESTS,
    "contrib.tensorrt": _TENSORRT,
    "contrib.testing": "tf.test",
    "contrib.text": _ADDONS,
    "contrib.tfprof": "tf.compat.v1.profiler",
    "contrib.timeseries": "tfp.sts of tensorflow_probability",
    "contrib.tpu": "tf.compat.v1.tpu or tf.tpu; tpudist covers "
                   "initialize_system, shutdown_system, replicate, rewrite, shard, "
                   "batch_parallel, repeat, while_loop, cross_replica_sum, InfeedQueue and what "
                   "it feeds, CrossShardOptimizer, keras_to_tpu_model and bfloat16_scope",
    "contrib.tpu.InputPipelineConfig": _ESTIMATOR,
    "contrib.tpu.RunConfig": _ESTIMATOR,
    "contrib.tpu.TPUConfig": _ESTIMATOR,
    "contrib.tpu.TPUEstimator": _ESTIMATOR,
    "contrib.tpu.TPUEstimatorSpec": _ESTIMATOR,
    **dict.fromkeys(
        ["contrib.tpu.InfeedQueue"] + ["contrib.tpu." + feed + end for end in ("", "_tuple")
                                       for feed in ("infeed_dequeue", "infeed_enqueue")],
        "strategy.experimental_distribute_dataset(dataset), or a dataset of per-host batches "
        "from strategy.experimental_distribute_datasets_from_function"),
    **dict.fromkeys(
        ["contrib.tpu." + feed + end for end in ("", "_tuple")
         for feed in ("outfeed_dequeue", "outfeed_enqueue")],
        "what the function that strategy.run runs returns"),
    "contrib.tpu.repeat": "strategy.run_steps_on_dataset(fn, iterator, n), or "
                          "tf.while_loop",
    "contrib.tpu.while_loop": "tf.while_loop",
    "contrib.training": "tf.train; for HParams a dict or types.SimpleNamespace",
    **dict.fromkeys(
        ("python.estimator", "python.tpu.error_handling", "python.tpu.tpu_context",
         "python.tpu.util"),
        "tensorflow_estimator.python.estimator, the package that has them: pip install --no-deps "
        "tensorflow-estimator==2.15.0"),
    "config.experimental_list_devices": "tf.config.list_logical_devices",
    "data.experimental.CheckpointInputPipelineHook": "tf.train.Checkpoint(iterator=iterator)",
    "data.experimental.MapVectorizationOptions":
        "nothing: tf.data.Options has no such optimization any more",
    "data.experimental.NestedStructure": "tf.nest, which reads the structure itself",
    "data.experimental.StatsAggregator": _STATS,
    "data.experimental.StatsOptions": _STATS,
    "data.experimental.bytes_produced_stats": _STATS,
    "data.experimental.filter_for_shard": "dataset.shard(num_shards, index)",
    "data.experimental.latency_stats": _STATS,
    "estimator.tpu.experimental":
        "tf.nn.embedding_lookup in the model function, and no embedding_config_spec: its tables "
        "lie in the embedding hardware of a TPU, and a virtual TPU has none",
    "estimator": _ESTIMATOR + "; its package for TensorFlow 2.16 and newer: pip install --no-deps "
                 "tensorflow-estimator==2.15.0",
    "layers": _KERAS_2_LAYERS % "Dense, Conv2D, ...",
    "lite.experimental.get_potentially_supported_ops":
        "https://www.tensorflow.org/lite/guide/ops_compatibility, the list of them",
    "lite.experimental.nn": "tf.keras.layers.LSTM, which the TFLite converter knows",
    "mixed_precision.experimental": "tf.keras.mixed_precision, or "
                                    "tf.compat.v1.mixed_precision",
    "nn.rnn_cell": _KERAS_2_LAYERS % "LSTMCell, GRUCell, ...",
    "tpu.experimental.AdagradParameters": _EMBEDDING % "Adagrad",
    "tpu.experimental.AdamParameters": _EMBEDDING % "Adam",
    "tpu.experimental.FtrlParameters": _EMBEDDING % "FTRL",
    "tpu.experimental.StochasticGradientDescentParameters": _EMBEDDING % "SGD",
    "train.experimental.DynamicLossScale": _SCALE,
    "train.experimental.FixedLossScale": _SCALE,
    "train.experimental.LossScale": _SCALE,
    "train.experimental.disable_mixed_precision_graph_rewrite":
        "tf.compat.v1.mixed_precision.disable_mixed_precision_graph_rewrite",
    "train.experimental.enable_mixed_precision_graph_rewrite":
        "tf.compat.v1.mixed_precision.enable_mixed_precision_graph_rewrite",
}

#: What a drop-in says in place of `GONE`, whose advice is what its program does already.
GONE_IN_A_DROPIN = {
    "contrib": "copy the few lines you use, or TensorFlow 1.15, the last that has it",
    "estimator": "an Estimator with a model function of your own, which runs on every release; or "
                 "its package: pip install --no-deps tensorflow-estimator==2.15.0",
}

#: Last TensorFlow release with a whole module, for the message.
LAST = {"contrib": "1.15", "estimator": "2.15"}

#: {member of `tf.data.Options.experimental_optimization`: what to type instead}.
GONE_DATA_OPTIONS = {
    **dict.fromkeys(
        ("autotune_algorithm", "autotune_buffers", "autotune_cpu_budget"),
        "nothing, tf.data tunes itself; or options.autotune.enabled, .cpu_budget, .ram_budget"),
    **dict.fromkeys(
        ("filter_with_random_uniform_fusion", "hoist_random_uniform"),
        "nothing: the line can go"),
    "map_vectorization": "nothing: the line can go; for the speed, batch before map",
}

#: {package beside TensorFlow: (why newer releases have it not, what to type instead)}.
ENDED_PACKAGES = {
    "tensorflow_addons": (
        "TensorFlow Addons ended in May 2024, and works up to TensorFlow 2.15",
        "the class of the same name of tf.keras, which has its optimizers, GroupNormalization, "
        "activations and metrics; copy the few lines of others"),
}

_KERAS_2 = "the package tf_keras with TF_USE_LEGACY_KERAS=1, which has it"
_KERAS_2_V1 = _KERAS_2 + " below tf.compat.v1"
_OWN = "copy the few lines that you use"
_LEARNING = "the argument training of a layer's call"
_FUNCTION = "tf.keras.Model(inputs, outputs), or tf.function"
_FIT = "Model.fit, which takes a generator, a keras.utils.PyDataset or a tf.data.Dataset"
_LAYERS = "tf.keras.layers.%s, with other defaults"
_POLICY = "tf.keras.mixed_precision.%s"
_DEBUG = "the raw op without GradAccumDebug"
_V1 = "tf.compat.v1.%s"

_REGNETS = [
    kind + size
    for kind in "XY"
    for size in "002 004 006 008 016 032 040 064 080 120 160 320".split()
]
_OPTIMIZER = ("the class of the same name of tf.keras.optimizers", _KERAS_2)
_OPTIMIZERS: dict[str, str | tuple[str, str]] = {
    "experimental legacy.Adadelta legacy.Adamax legacy.Nadam": _OPTIMIZER
}

#: {names above: {names: (what to type, what has it still)}}.
_TABLE: dict[str, dict[str, str | tuple[str, str]]] = {
    "": {
        "executing_eagerly_outside_functions": _V1 % "executing_eagerly_outside_functions",
        "mixed_precision": "tf.keras.mixed_precision; that of TensorFlow 1 is "
                           "tf.compat.v1.mixed_precision",
        "pywrap_tensorflow": "tf.train.load_checkpoint for NewCheckpointReader; other names are "
                             "no public API",
        "quantize_and_dequantize_v4": "tf.quantization.quantize_and_dequantize_v2",
        "tsl": "no public API",
    },
    "config.experimental": {
        "disable_mlir_graph_optimization enable_mlir_graph_optimization":
            "nothing: TensorFlow has no such switch",
    },
    "autograph.experimental": {
        "Verbosity": "tf.autograph.set_verbosity, which takes a number",
    },
    "losses": {
        "mean_squared_error": "tf.keras.losses.MSE; that of TensorFlow 1 is "
                              "tf.compat.v1.losses.mean_squared_error",
    },
    "metrics": {
        "experimental": ("a class below tf.keras.metrics.Metric", _KERAS_2),
        "MeanRelativeError MeanTensor": ("a class below tf.keras.metrics.Metric", _KERAS_2),
        "mean_absolute_error": "tf.keras.losses.MAE; that of TensorFlow 1 is "
                               "tf.compat.v1.metrics.mean_absolute_error",
        "mean_squared_error": "tf.keras.losses.MSE; that of TensorFlow 1 is "
                              "tf.compat.v1.metrics.mean_squared_error",
    },
    "lookup.experimental": {
        "DatasetInitializer": "tf.data.experimental.DatasetInitializer",
    },
    "raw_ops": {
        "CompareAndBitpack": "tf.bitwise",
        "LoadTPUEmbeddingFrequencyEstimatorParametersGradAccumDebug "
        "LoadTPUEmbeddingProximalYogiParametersGradAccumDebug "
        "LoadTPUEmbeddingStochasticGradientDescentParametersGradAccumDebug "
        "RetrieveTPUEmbeddingFrequencyEstimatorParametersGradAccumDebug "
        "RetrieveTPUEmbeddingProximalYogiParametersGradAccumDebug "
        "RetrieveTPUEmbeddingStochasticGradientDescentParametersGradAccumDebug "
        "LoadTPUEmbeddingADAMParametersGradAccumDebug "
        "LoadTPUEmbeddingAdadeltaParametersGradAccumDebug "
        "LoadTPUEmbeddingAdagradParametersGradAccumDebug "
        "LoadTPUEmbeddingFTRLParametersGradAccumDebug "
        "LoadTPUEmbeddingMomentumParametersGradAccumDebug "
        "LoadTPUEmbeddingProximalAdagradParametersGradAccumDebug "
        "LoadTPUEmbeddingRMSPropParametersGradAccumDebug "
        "RetrieveTPUEmbeddingADAMParametersGradAccumDebug "
        "RetrieveTPUEmbeddingAdadeltaParametersGradAccumDebug "
        "RetrieveTPUEmbeddingAdagradParametersGradAccumDebug "
        "RetrieveTPUEmbeddingFTRLParametersGradAccumDebug "
        "RetrieveTPUEmbeddingMomentumParametersGradAccumDebug "
        "RetrieveTPUEmbeddingProximalAdagradParametersGradAccumDebug "
        "RetrieveTPUEmbeddingRMSPropParametersGradAccumDebug": _DEBUG,
    },
    "test": {"mock": "unittest.mock"},
    "tpu": {"PaddingSpec": _V1 % "tpu.PaddingSpec"},
    "tpu.experimental": {
        "embedding_column shared_embedding_columns":
            "the names of tf.compat.v1.tpu.experimental, or tf.tpu.experimental.embedding",
    },
    "train.experimental": {
        "MixedPrecisionLossScaleOptimizer": _POLICY % "LossScaleOptimizer",
    },
    "keras": {
        "dtensor": ("tf.distribute", _KERAS_2),
        "saving": ("tf.keras.models for load_model and save_model, tf.keras.utils for the rest",
                   _KERAS_2),
        "estimator": "Model.fit with a strategy; for Estimators tpudist run, or "
                     "from tpudist.contrib import tensorflow as tf",
        "experimental": "keras.optimizers.schedules for its schedules; " + _OWN + " else",
    },
    "keras.applications": {
        " ".join("RegNet" + each for each in _REGNETS) + " regnet": ("keras_cv", _KERAS_2),
        "ResNetRS50 ResNetRS101 ResNetRS152 ResNetRS200 ResNetRS270 ResNetRS350 ResNetRS420 "
        "resnet_rs": ("keras_cv", _KERAS_2),
    },
    "keras.backend": {
        "binary_weighted_focal_crossentropy": (
            "tf.keras.losses.BinaryFocalCrossentropy(apply_class_balancing=True)", _KERAS_2),
        "experimental": ("nothing: Keras 3 draws from seeds alone", _KERAS_2),
        "function": (_FUNCTION, _KERAS_2),
        "get_session": ("tf.compat.v1.Session of your own where graphs stay; nothing where code "
                        "runs eagerly", _KERAS_2_V1),
        "set_session": ("tf.config (tf.config.experimental.set_memory_growth for allow_growth, "
                        "...)", _KERAS_2_V1),
        "in_test_phase in_train_phase learning_phase learning_phase_scope set_learning_phase":
            (_LEARNING, _KERAS_2),
        "local_conv1d local_conv2d": (_OWN, _KERAS_2),
        "manual_variable_initialization": ("nothing: variables are initialized as they are made",
                                           _KERAS_2),
        "normalize_batch_in_training": ("tf.nn.moments and tf.nn.batch_normalization", _KERAS_2),
        "placeholder": ("tf.keras.Input", _KERAS_2),
        "print_tensor": ("tf.print", _KERAS_2),
        "random_binomial": ("tf.keras.backend.random_bernoulli", _KERAS_2),
        "reset_uids": ("tf.keras.backend.clear_session", _KERAS_2),
    },
    "keras.callbacks": {
        "BaseLogger": ("nothing: Model.fit averages metrics itself", _KERAS_2),
        "SidecarEvaluatorModelExport": ("a callback of your own", _KERAS_2),
        "experimental": ("tf.keras.callbacks.BackupAndRestore", _KERAS_2),
    },
    "keras.constraints": {
        "RadialConstraint radial_constraint": ("a class below tf.keras.constraints.Constraint",
                                               _KERAS_2),
    },
    "keras.experimental": {
        "LinearCosineDecay NoisyLinearCosineDecay":
            "a class below tf.keras.optimizers.schedules.LearningRateSchedule",
        "LinearModel SequenceFeatures WideDeepModel": ("a tf.keras.Model of your own", _KERAS_2),
        "PeepholeLSTMCell": "a cell of your own for tf.keras.layers.RNN",
        "export_saved_model": "model.export, or tf.saved_model.save",
        "load_from_saved_model": "tf.saved_model.load, or tf.keras.layers.TFSMLayer",
        "terminate_keras_multiprocessing_pools": "nothing: Keras ends its processes itself",
    },
    "keras.initializers": {
        "normal": ("tf.keras.initializers.RandomNormal, without dtype", _KERAS_2_V1),
        "uniform": ("tf.keras.initializers.RandomUniform, without dtype", _KERAS_2_V1),
    },
    "keras.layers": {
        "AbstractRNNCell": ("a tf.keras.layers.Layer with state_size and call", _KERAS_2),
        "CuDNNGRU": (_LAYERS % "GRU" + " of positional arguments, which uses cuDNN where it can",
                     _KERAS_2_V1),
        "CuDNNLSTM": (_LAYERS % "LSTM" + " of positional arguments, which uses cuDNN where it can",
                      _KERAS_2_V1),
        "DenseFeatures": ("tf.keras.utils.FeatureSpace", _KERAS_2),
        "LocallyConnected1D LocallyConnected2D": ("a layer of your own", _KERAS_2),
        "disable_v2_dtype_behavior enable_v2_dtype_behavior": (
            "tf.keras.config.set_floatx; layers cast as TensorFlow 2's do", _KERAS_2_V1),
        "experimental": ("the layer of the same name of tf.keras.layers; its defaults may be "
                         "others", _KERAS_2),
    },
    "keras.layers.experimental": {
        "SyncBatchNormalization": ("tf.keras.layers.BatchNormalization(synchronized=True)",
                                   _KERAS_2),
    },
    "keras.metrics": {
        "experimental": ("a class below tf.keras.metrics.Metric", _KERAS_2),
        "MeanRelativeError MeanTensor": ("a class below tf.keras.metrics.Metric", _KERAS_2),
    },
    "keras.mixed_precision": {"experimental": _POLICY % "Policy, without loss_scale"},
    "keras.mixed_precision.experimental": {
        "LossScaleOptimizer": _POLICY % "LossScaleOptimizer, which has its own loss scale",
        "get_layer_policy": "layer.dtype_policy",
    },
    "keras.models": {
        "LinearModel WideDeepModel": ("a tf.keras.Model of your own", _KERAS_2),
        "experimental": ("tf.keras.layers.SharpnessAwareMinimization's few lines", _KERAS_2),
        "model_from_config": ("tf.keras.layers.deserialize, or Model.from_config", _KERAS_2),
        "model_from_yaml": "tf.keras.models.model_from_json, and model.to_json",
    },
    "keras.optimizers": _OPTIMIZERS,
    "optimizers": _OPTIMIZERS,
    "keras.utils": {
        "DeterministicRandomTestTool get_or_create_layer track_tf1_style_variables":
            ("layers of Keras, which track their variables", _KERAS_2),
        "SidecarEvaluator StepsPerExecutionTuner TimedThread warmstart_embedding_matrix":
            (_OWN, _KERAS_2),
        "experimental": ("tf.keras.utils.PyDataset", _KERAS_2),
        "to_ordinal": ("numpy.arange(num_classes - 1) < numpy.asarray(labels)[..., None]",
                       _KERAS_2),
        "GeneratorEnqueuer OrderedEnqueuer SequenceEnqueuer": (_FIT, _KERAS_2),
        "HDF5Matrix": "h5py.File(path)[dataset]",
        "convert_all_kernels_in_model": "nothing: kernels of Theano are no more",
        "multi_gpu_model": "tf.distribute.MirroredStrategy",
    },
    "keras.wrappers": {"scikit_learn": "the package scikeras, or keras.wrappers.SKLearnClassifier"},
}
# fmt: on


def _words(told: str | tuple[str, str]) -> str:
    return told if isinstance(told, str) else "%s; or %s" % told


#: {dotted name below ``tf``: what to type instead}.
GONE_TODAY = {
    (group + "." + name).lstrip("."): _words(told)
    for group, every in _TABLE.items()
    for names, told in every.items()
    for name in names.split()
}

#: Names that are there and that Keras 3 refuses to make, and what to type.
KERAS_REFUSES = {
    above + "optimizers.legacy." + name: _words(_OPTIMIZER)
    for above in ("", "keras.")
    for name in ("Adagrad", "Adam", "Ftrl", "Optimizer", "RMSprop", "SGD")
}

#: Names of 1.13 to 2.0 that 2.2 has not either, and what to type there.
GONE_BY_2_2 = {
    "autograph.experimental.Verbosity": GONE_TODAY["autograph.experimental.Verbosity"],
    "config.experimental_list_devices": "tf.config.list_logical_devices",
    "data.experimental.NestedStructure": "tf.nest, which reads the structure itself",
    "data.experimental.filter_for_shard": "dataset.shard(num_shards, index)",
    "keras.experimental.export_saved_model": "tf.saved_model.save",
    "keras.experimental.load_from_saved_model": "tf.keras.models.load_model",
    "pywrap_tensorflow": GONE_TODAY["pywrap_tensorflow"],
}
#: What of them its ``tf.compat.v1`` has.
GONE_BY_2_2_BUT_V1 = frozenset(
    ("keras.experimental.export_saved_model", "keras.experimental.load_from_saved_model")
)

#: What of it, and of `tpudist.surfaces.gone`, ``tf.compat.v1`` has still.
KEPT_IN_V1 = frozenset(
    """executing_eagerly_outside_functions losses.mean_squared_error
    metrics.mean_absolute_error metrics.mean_squared_error mixed_precision
    mixed_precision.experimental test.mock
    tpu.PaddingSpec tpu.experimental.embedding_column tpu.experimental.shared_embedding_columns
    train.experimental.DynamicLossScale train.experimental.FixedLossScale
    train.experimental.LossScale train.experimental.MixedPrecisionLossScaleOptimizer
    train.experimental.disable_mixed_precision_graph_rewrite
    train.experimental.enable_mixed_precision_graph_rewrite""".split()
)

_FUNCTIONS = {
    "mean_absolute_error": "MAE",
    "mean_absolute_percentage_error": "MAPE",
    "mean_squared_error": "MSE",
    "mean_squared_logarithmic_error": "MSLE",
    "kl_divergence": "KLD",
    "log_cosh": "logcosh",
}
_PREPROCESSING = "keras.layers.experimental.preprocessing."
_OLD_POLICY = "keras.mixed_precision.experimental."

#: Names that the newest release has under another one, the same otherwise: {old: new}.
RENAMED_TODAY = {
    **{"keras.losses." + old: "keras.losses." + new for old, new in _FUNCTIONS.items()},
    **{"keras.metrics." + old: "keras.metrics." + new for old, new in _FUNCTIONS.items()},
    **{
        module + "." + old: "keras.%s.%s" % (module, new)
        for module in ("losses", "metrics")
        for old, new in _FUNCTIONS.items()
        if module + "." + old not in GONE_TODAY
    },
    **{
        "keras.%s.%s" % (module, old): "keras.losses.cosine_similarity"
        for module in ("losses", "metrics")
        for old in ("cosine", "cosine_proximity")
    },
    **{
        "keras.experimental." + name: "keras.optimizers.schedules." + name
        for name in ("CosineDecay", "CosineDecayRestarts")
    },
    **{
        _PREPROCESSING + name: "keras.layers." + name
        for name in ("CenterCrop", "RandomFlip", "Rescaling", "Resizing")
    },
    _OLD_POLICY + "global_policy": "keras.mixed_precision.global_policy",
    _OLD_POLICY + "set_policy": "keras.mixed_precision.set_global_policy",
}
