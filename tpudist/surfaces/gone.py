"""Names of the three eras that tpudist does not bring back, and what to type.

Consulted only when the installed TensorFlow does not have the name either, so
a line costs nothing on the releases that still have it. The longest matching
prefix wins.
"""

# fmt: off
_SLIM = "pip install tf_slim; import tf_slim, which carries %s on"
_LOOP = ("a training loop over strategy.experimental_distribute_dataset and "
         "strategy.run, or run the script on TensorFlow 2.15, the last release "
         "with tf.estimator")
_ADDONS = ("copy the few lines you use: TensorFlow Addons, which took it over, "
           "ended in 2024")
_KERAS_2 = ("with Keras 3 tf.keras.layers.%s; or the package tf_keras, which brings the "
            "old functions back: tpudist doctor has the line to install it")
_STATS = "the tf.profiler, which replaced the statistics of tf.data"
_TENSORRT = ("TensorFlow 2.17, the last release with TensorRT, or NVIDIA's own tools "
             "for a saved model")
_EMBEDDING = "tf.tpu.experimental.embedding.%s"
_SCALE = "tf.keras.mixed_precision.LossScaleOptimizer"

_ESTIMATOR = ("tpudist run, which runs it unmodified on every release, or from tpudist.contrib "
              "import tensorflow as tf; nothing was rewritten, for the Estimator itself calls the "
              "model function, runs the steps and saves: with strategy.run it is another program")

GONE = {
    "contrib": "from tpudist.contrib import tensorflow as tf, for "
               "contrib.distribute, contrib.tpu and contrib.cluster_resolver; "
               "other modules went with TensorFlow 1.15 and have no single "
               "successor",
    "contrib.autograph": "tf.autograph",
    "contrib.checkpoint": "tf.train.Checkpoint, which tracks lists and dicts "
                          "by itself",
    "contrib.cluster_resolver": "tf.distribute.cluster_resolver",
    "contrib.compiler": "tf.xla.experimental.compile, or "
                        "tf.function(jit_compile=True)",
    "contrib.crf": _ADDONS,
    "contrib.cudnn_rnn": "tf.keras.layers.LSTM or GRU, which use cuDNN where "
                         "they can",
    "contrib.data": "tf.data.experimental, or the method of the same name on "
                    "tf.data.Dataset",
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
    "contrib.framework": _SLIM % "arg_scope, get_variables and their kind",
    "contrib.graph_editor":
        "tf.recompute_grad, where it saved memory by computing activations again; else edit "
        "graph.as_graph_def() and tf.graph_util.import_graph_def(it, input_map=...)",
    "contrib.image": _ADDONS,
    "contrib.integrate": "tfp.math.ode of tensorflow_probability, or "
                         "scipy.integrate",
    "contrib.keras": "tf.keras",
    "contrib.gan": "pip install tensorflow_gan tensorflow_probability; tensorflow_gan carries "
                   "tf.contrib.gan on, by itself on TensorFlow 2.1 to 2.15 with Python 3.10 or "
                   "older, on any newer under tpudist run",
    "contrib.layers": _SLIM % "tf.contrib.layers as tf_slim.layers",
    "contrib.learn": _LOOP,
    "contrib.lite": "tf.lite",
    "contrib.lookup": "tf.lookup",
    "contrib.losses": "tf.losses (tf.compat.v1.losses)",
    "contrib.metrics": "tf.metrics (tf.compat.v1.metrics), or "
                       "pip install tf_slim for streaming_*",
    "contrib.mixed_precision": "tf.keras.mixed_precision; on TPUs use "
                               "tf.contrib.tpu.bfloat16_scope, which is covered",
    "contrib.nn": "tf.nn",
    "contrib.opt": _ADDONS,
    "contrib.predictor": "tf.saved_model.load, or tf.compat.v1.saved_model.load",
    "contrib.quantize": "the tensorflow_model_optimization package",
    "contrib.rnn": "tf.nn.rnn_cell, tf.nn.dynamic_rnn and tf.nn.static_rnn "
                   "(tf.compat.v1.nn); with Keras 3 the cells need the package tf_keras",
    "contrib.saved_model": "tf.saved_model",
    "contrib.seq2seq": _ADDONS,
    "contrib.signal": "tf.signal",
    "contrib.slim": _SLIM % "tf.contrib.slim",
    "contrib.stateless": "tf.random.stateless_normal, _uniform, ...",
    "contrib.summary": "tf.compat.v2.summary, or tf.summary.FileWriter in graph "
                       "mode",
    "contrib.tensorrt": _TENSORRT,
    "contrib.tpu": "tf.compat.v1.tpu or tf.tpu; tpudist covers "
                   "initialize_system, shutdown_system, replicate, rewrite, shard, "
                   "batch_parallel, cross_replica_sum, CrossShardOptimizer, keras_to_tpu_model "
                   "and bfloat16_scope",
    "contrib.tpu.InputPipelineConfig": _ESTIMATOR,
    "contrib.tpu.RunConfig": _ESTIMATOR,
    "contrib.tpu.TPUConfig": _ESTIMATOR,
    "contrib.tpu.TPUEstimator": _ESTIMATOR,
    "contrib.tpu.TPUEstimatorSpec": _ESTIMATOR,
    "contrib.tpu.repeat": "strategy.run_steps_on_dataset(fn, iterator, n), or "
                          "tf.while_loop",
    "contrib.tpu.while_loop": "tf.while_loop",
    "contrib.training": "tf.train; for HParams a dict or types.SimpleNamespace",
    **dict.fromkeys(
        ("python.estimator", "python.tpu.error_handling", "python.tpu.tpu_context",
         "python.tpu.util"),
        "tf.estimator.Estimator or tf.contrib.tpu.TPUEstimator themselves, which tpudist has on "
        "every release, also as tensorflow.python.estimator.{estimator, exporter, model_fn, "
        "run_config, training}; an Estimator of a program's own that is built of TensorFlow's "
        "other modules needs TensorFlow 2.15, the last that has them"),
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
    "estimator": _ESTIMATOR + "; canned Estimators on TensorFlow 2.15, the last release with "
                 "tf.estimator",
    "layers": _KERAS_2 % "Dense, Conv2D, ...",
    "lite.experimental.get_potentially_supported_ops":
        "https://www.tensorflow.org/lite/guide/ops_compatibility, the list of them",
    "lite.experimental.nn": "tf.keras.layers.LSTM, which the TFLite converter knows",
    "mixed_precision.experimental": "tf.keras.mixed_precision, or "
                                    "tf.compat.v1.mixed_precision",
    "nn.rnn_cell": _KERAS_2 % "LSTMCell, GRUCell, ...",
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

#: Last TensorFlow release with a whole module, for the message.
LAST = {"contrib": "1.15", "estimator": "2.15"}
