"""Names of Keras below ``tf``, and what Keras 3 has not of them."""

from __future__ import annotations

# fmt: off
#: {generation of the API: {dotted name below ``tf``: dotted name below that generation's Keras}}.
#: From TensorFlow 2.16 on the installed Keras has no first generation, and the second one is of
#: other classes.
KERAS = {
    "compat.v1": {
        "keras": "",
        "layers": "__internal__.legacy.layers",
        "nn.rnn_cell": "__internal__.legacy.rnn_cell",
    },
    "compat.v2": {
        "initializers": "initializers",
        "keras": "",
        "keras.optimizers": "optimizers",
        "losses": "losses",
        "metrics": "metrics",
        "optimizers": "optimizers",
    },
}

#: What a program is written with, if it names one of these below ``tf``.
USED = frozenset(name for names in KERAS.values() for name in names) - {"initializers", "losses",
                                                                       "metrics"}

# What Keras 3 has not of the Keras of TensorFlow 1.13 to 2.15, and what to type: each line was
# tried with Keras 3 (`tests/tools/migrate/test_keras_3.py` calls them).

_QUEUE = (
    "(generator, ...), the rest by keyword; workers, use_multiprocessing and max_queue_size "
    "are arguments of a keras.utils.PyDataset"
)
_OUTPUT = "layer.output of a layer that is called once; else keep what the call returns"
_ASSIGN = "nothing: in call, variable.assign(...) is enough"
#: Methods of models, layers and metrics that Keras 3 has not, and what to type.
KERAS_MEMBERS = {
    "add_update": _ASSIGN,
    "evaluate_generator": "evaluate" + _QUEUE,
    "fit_generator": "fit" + _QUEUE,
    "get_input_at": _OUTPUT.replace("output", "input"),
    "get_input_shape_at": "layer.input.shape of a layer that is called once",
    "get_losses_for": "model.losses",
    "get_output_at": _OUTPUT,
    "get_output_shape_at": "layer.output.shape of a layer that is called once",
    "get_updates_for": _ASSIGN,
    "predict_classes": "predict(x).argmax(axis=-1), or (predict(x) > 0.5) of one sigmoid unit",
    "predict_generator": "predict" + _QUEUE,
    "predict_proba": "predict",
    "reset_states": "reset_state() of a metric; of a model, reset_state() of each recurrent layer",
    "to_yaml": "to_json",
}

#: Optimizers whose ``lr`` and ``decay`` Keras 3 refuses.
KERAS_OPTIMIZERS = tuple(
    "keras.optimizers." + name
    for name in ("Adadelta", "Adagrad", "Adam", "Adamax", "Ftrl", "Nadam", "RMSprop", "SGD")
)

_DATASET = "workers, use_multiprocessing and max_queue_size of a keras.utils.PyDataset"
_LOADING = dict.fromkeys(("workers", "use_multiprocessing", "max_queue_size"), _DATASET)
_LEAVE_OUT = "nothing: leave it out"
_ON_BATCH = {"reset_metrics": "model.reset_metrics() before it"}
_TIME = {"time_major": "tf.transpose before and after the layer"}
_EPSILON = {"epsilon=None": "epsilon=1e-7, which None meant"}
_VARIABLE = {
    "getter": _LEAVE_OUT,
    "partitioner": _LEAVE_OUT,
    "synchronization": _LEAVE_OUT,
    "use_resource": _LEAVE_OUT,
}
#: {a class below ``tf``, or "." and a method: {argument: what to type}}; an argument with "="
#: counts with that value alone.
KERAS_ARGUMENTS: dict[str, dict[str, str]] = {
    ".add_loss": {"inputs": _LEAVE_OUT},
    ".add_weight": _VARIABLE,
    ".apply_gradients": {
        "experimental_aggregate_gradients": "gradients that are summed already are applied in a "
        "strategy of your own; leave it out else"
    },
    ".compile": {
        "experimental_run_tf_function": "run_eagerly=True for False; leave it out else",
        "experimental_steps_per_execution": "steps_per_execution",
        "sample_weight_mode": "nothing: weights of (samples, timesteps) are taken as they are",
        "target_tensors": "the targets as y of fit",
    },
    ".evaluate": _LOADING,
    ".fit": _LOADING,
    ".predict": _LOADING,
    ".save": {
        "save_format='tf'": 'model.export(path), or model.save("name.keras")',
        "save_traces": "nothing: .keras files have no traces",
    },
    ".save_weights": {"save_format": 'a path that ends in ".weights.h5"'},
    ".test_on_batch": _ON_BATCH,
    ".train_on_batch": _ON_BATCH,
    "keras.callbacks.ModelCheckpoint": {
        "load_weights_on_restart": "model.load_weights before fit, or keras.callbacks."
        "BackupAndRestore",
        "period": 'save_freq="epoch", or a number of batches',
    },
    "keras.callbacks.ProgbarLogger": {"count_mode": _LEAVE_OUT, "stateful_metrics": _LEAVE_OUT},
    "keras.callbacks.TensorBoard": {
        "batch_size": _LEAVE_OUT,
        "embeddings_data": "embeddings_freq and embeddings_metadata",
        "embeddings_layer_names": "embeddings_freq and embeddings_metadata",
        "write_grads": "a callback of your own with tf.GradientTape and tf.summary.histogram",
    },
    "keras.layers.AdditiveAttention": {"causal": "use_causal_mask=True of its call"},
    "keras.layers.Attention": {"causal": "use_causal_mask=True of its call"},
    "keras.layers.BatchNormalization": {
        "adjustment": "a layer of your own",
        "fused": "nothing: Keras uses the fused kernel where it can",
        "virtual_batch_size": "a layer of your own, or GroupNormalization",
    },
    "keras.layers.GRU": _TIME,
    "keras.layers.LSTM": _TIME,
    "keras.layers.RNN": _TIME,
    "keras.layers.SimpleRNN": _TIME,
    "keras.optimizers.Adadelta": _EPSILON,
    "keras.optimizers.Adagrad": _EPSILON,
    "keras.optimizers.Adam": _EPSILON,
    "keras.optimizers.Adamax": _EPSILON,
    "keras.optimizers.Nadam": {**_EPSILON, "schedule_decay": _LEAVE_OUT},
    "keras.optimizers.RMSprop": _EPSILON,
}
_INITIALIZERS = """Constant GlorotNormal GlorotUniform HeNormal HeUniform Identity LecunNormal
    LecunUniform Ones Orthogonal RandomNormal RandomUniform TruncatedNormal VarianceScaling Zeros
    constant glorot_normal glorot_uniform he_normal he_uniform identity lecun_normal lecun_uniform
    ones orthogonal random_normal random_uniform truncated_normal variance_scaling zeros""".split()
KERAS_ARGUMENTS.update(
    ("keras.initializers." + name, {"dtype": "dtype of the call: initializer(shape, dtype)"})
    for name in _INITIALIZERS
)
#: What each layer but InputLayer had.
KERAS_LAYERS = {"batch_input_shape": "tf.keras.Input(batch_shape=...) before the layer"}
#: The same, which Embedding has still.
KERAS_WEIGHTS = {"weights": "layer.set_weights(...) once it is built"}
_MODEL = {"input": "inputs", "output": "outputs"}
#: {a class or function below ``tf``: {argument: its name in Keras 3}}.
KERAS_RENAMED = {
    "keras.Model": _MODEL,
    "keras.models.Model": _MODEL,
    **{"keras.regularizers." + name: {"l": name.lower()} for name in ("L1", "L2", "l1", "l2")},
}
#: Attributes of models, which layers had too.
KERAS_SHAPES = {
    "input_shape": "layer.input.shape of a layer that is called once",
    "output_shape": "layer.output.shape of a layer that is called once",
}
