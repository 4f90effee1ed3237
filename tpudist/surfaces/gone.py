"""Names of the three eras that tpudist does not bring back, and what to type.

Consulted only when the installed TensorFlow does not have the name either, so
a line costs nothing on the releases that still have it. The longest matching
prefix wins.
"""

# fmt: off
_SLIM = "pip install tf_slim; import tf_slim, which carries %s on"
_FIT = ("build and compile a tf.keras model inside strategy.scope() and call "
        "model.fit")
_LOOP = ("a training loop over strategy.experimental_distribute_dataset and "
         "strategy.run, or run the script on TensorFlow 2.15, the last release "
         "with tf.estimator")
_ADDONS = ("copy the few lines you use: TensorFlow Addons, which took it over, "
           "ended in 2024")
_KERAS_2 = ("with Keras 3 tf.keras.layers.%s; or the package tf_keras, which brings the "
            "old functions back: tpudist doctor has the line to install it")
_REAL = ("tf.compat.v1.tpu.%s, on a real TPU only; tpudist covers replicate and "
         "rewrite")

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
    "contrib.image": _ADDONS,
    "contrib.integrate": "tfp.math.ode of tensorflow_probability, or "
                         "scipy.integrate",
    "contrib.keras": "tf.keras",
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
                   "(tf.compat.v1.nn)",
    "contrib.saved_model": "tf.saved_model",
    "contrib.seq2seq": _ADDONS,
    "contrib.signal": "tf.signal",
    "contrib.slim": _SLIM % "tf.contrib.slim",
    "contrib.stateless": "tf.random.stateless_normal, _uniform, ...",
    "contrib.summary": "tf.compat.v2.summary, or tf.summary.FileWriter in graph "
                       "mode",
    "contrib.tensorrt": "tf.experimental.tensorrt",
    "contrib.tpu": "tf.compat.v1.tpu or tf.tpu; tpudist covers "
                   "initialize_system, shutdown_system, replicate, rewrite, "
                   "cross_replica_sum, CrossShardOptimizer and bfloat16_scope",
    "contrib.tpu.InputPipelineConfig": _ESTIMATOR,
    "contrib.tpu.RunConfig": _ESTIMATOR,
    "contrib.tpu.TPUConfig": _ESTIMATOR,
    "contrib.tpu.TPUEstimator": _ESTIMATOR,
    "contrib.tpu.TPUEstimatorSpec": _ESTIMATOR,
    "contrib.tpu.TPUDistributionStrategy":
        "tf.contrib.distribute.TPUStrategy and its scope(): the other class "
        "belonged to keras_to_tpu_model",
    "contrib.tpu.batch_parallel": _REAL % "batch_parallel",
    "contrib.tpu.keras_to_tpu_model": _FIT,
    "contrib.tpu.outside_compilation": _REAL % "outside_compilation",
    "contrib.tpu.python.tpu.keras_support": _FIT,
    "contrib.tpu.repeat": "strategy.run_steps_on_dataset(fn, iterator, n), or "
                          "tf.while_loop",
    "contrib.tpu.shard": _REAL % "shard",
    "contrib.tpu.while_loop": "tf.while_loop",
    "contrib.training": "tf.train; for HParams a dict or types.SimpleNamespace",
    "data.experimental.StatsAggregator": "the tf.profiler, which replaced the "
                                         "statistics of tf.data",
    "estimator": _ESTIMATOR + "; canned Estimators on TensorFlow 2.15, the last release with "
                 "tf.estimator",
    "layers": _KERAS_2 % "Dense, Conv2D, ...",
    "mixed_precision.experimental": "tf.mixed_precision, or "
                                    "tf.keras.mixed_precision",
    "nn.rnn_cell": _KERAS_2 % "LSTMCell, GRUCell, ...",
    "train.experimental.enable_mixed_precision_graph_rewrite":
        "tf.compat.v1.mixed_precision.enable_mixed_precision_graph_rewrite",
}

#: Last TensorFlow release with a whole module, for the message.
LAST = {"contrib": "1.15", "estimator": "2.15"}

#: Names directly below ``tf`` that only TensorFlow 1 has; a script that uses
#: them through ``import tensorflow as tf`` was written for it.
FIRST_GENERATION = frozenset("""
    ConfigProto GPUOptions InteractiveSession Session app assign assign_add
    data.make_initializable_iterator data.make_one_shot_iterator
    disable_eager_execution enable_eager_execution flags
    get_default_graph get_local_variable get_variable gfile global_variables
    global_variables_initializer layers local_variables_initializer logging
    log losses.get_total_loss losses.softmax_cross_entropy
    losses.sparse_softmax_cross_entropy placeholder placeholder_with_default
    py_func random_normal random_normal_initializer random_uniform
    reset_default_graph set_random_seed summary.FileWriter summary.merge_all
    tables_initializer to_float to_int32 train.AdagradOptimizer
    train.AdamOptimizer train.Coordinator train.GradientDescentOptimizer
    train.MomentumOptimizer train.MonitoredTrainingSession
    train.RMSPropOptimizer train.Saver train.SyncReplicasOptimizer
    train.get_or_create_global_step trainable_variables
    truncated_normal truncated_normal_initializer variable_scope
""".split())
