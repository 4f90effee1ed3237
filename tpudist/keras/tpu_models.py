"""``keras_to_tpu_model``: a Keras model whose batches are split over the cores of a TPU.

Reference: ``tensorflow/contrib/tpu/python/tpu/keras_support.py`` of TensorFlow 1.13 to 1.15.
There each core computes its rows, and the rows of all cores come together again before loss
and metrics: these are of the global batch, and so are gradients. What a layer keeps, such as
moving averages, is each core's own; the first core's are saved.

Here this is a model of Keras that says so itself: the batch is split, each core has its copy of
the layers on the same trained variables, and the outputs are put together. Everything else
(fit, generators, callbacks, weights of samples) is Keras' own.
"""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING, Any, Iterator, Mapping

import tensorflow as tf

from tpudist.errors import ArgumentError, ArgumentTypeError, ContextError, ContribNameError
from tpudist.keras import split_models, whole_batches
from tpudist.system import cluster
from tpudist.tfcompat import keras_packages

if TYPE_CHECKING:
    from types import ModuleType

    from tpudist.annotations import Args, Fn
    from tpudist.tfcompat.annotations import Model, Nest, Strategy, Variable


#: Arguments of ``compile`` that no model for TPUs has taken.
_NO_ARGUMENTS = ("sample_weight_mode", "weighted_metrics", "target_tensors")

#: Keras' callbacks that set ``model.optimizer.lr``, which optimizers of ``tf.train`` do not have.
_SETTERS = ("LearningRateScheduler", "ReduceLROnPlateau")

#: Said of a TensorBoard callback: what, how many cores, why, what to type.
_NO_HISTOGRAMS = (
    "histogram_freq=%s of a TensorBoard callback, for a model on %d core(s): the outputs of a "
    "core's layers are of its share of the rows, which Keras does not feed. Histograms are left "
    "out, the rest is written. Instead: histogram_freq=0, or fit of model.sync_to_cpu()"
)

#: What Python says where a callback of the program's own sets it.
_MISSED = re.compile("TFOptimizer.*attribute '(lr|learning_rate)'")

#: The optimizers of ``tf.train`` whose class has another name in Keras.
_NAMES = {"GradientDescent": "SGD", "Momentum": "SGD"}


class TPUDistributionStrategy:
    """The cores that `keras_to_tpu_model` uses.

    On a real TPU it is TensorFlow's own class (1.13 to 1.15).

    Args:
      tpu_cluster_resolver: a `TPUClusterResolver`; None for the local TPU.
      using_single_core: whether only one core is used.
    """

    cores: int

    def __new__(cls, tpu_cluster_resolver: object = None, using_single_core: bool = False) -> Any:
        """TensorFlow's own for a real TPU."""
        resolver = cluster.resolve(tpu_cluster_resolver)
        system = cluster.system_of(resolver)
        if system is None:
            native = _native("TPUDistributionStrategy")
            return native(resolver, using_single_core)
        made: Any = super().__new__(cls)
        made.cores = 1 if using_single_core else system.cores
        return made


def keras_to_tpu_model(model: object, strategy: Strategy | None = None) -> Any:
    """Copies a model of Keras and its weights to the cores of a TPU.

    Context: cross-replica, outside of any strategy's scope.

    Args:
      model: a ``tf.keras.Model`` made of layers that were called on an ``Input``, compiled or
        not. It is left as it is.
      strategy: a `TPUDistributionStrategy`; None for all cores of the local TPU.

    Returns:
      A ``tf.keras.Model`` with ``sync_to_cpu()``.

    Raises:
      ArgumentTypeError: (a TypeError) `strategy` or `model` is something else.
      ArgumentError: (a ValueError) the model cannot be copied, or has sizes that are not fixed.
      ContribNameError: (a NotImplementedError) the installed Keras is Keras 3.
    """
    strategy = TPUDistributionStrategy() if strategy is None else strategy
    if keras_packages.contrib_keras_support() and not isinstance(strategy, TPUDistributionStrategy):
        if isinstance(strategy, _native("TPUDistributionStrategy")):
            return _native("keras_to_tpu_model")(model, strategy)
    if not isinstance(strategy, TPUDistributionStrategy):
        raise ArgumentTypeError(
            "keras_to_tpu_model(model, strategy=%r)" % (strategy,),
            "it tells which cores of a TPU to use",
            "strategy=tf.contrib.tpu.TPUDistributionStrategy(resolver)",
        )
    keras = _keras()
    _check(keras, model)
    return _class(keras)(keras, _copy(keras, model), strategy.cores)


def _native(name: str) -> Any:
    support = keras_packages.contrib_keras_support()
    if support is None:
        raise ContextError(
            "tf.contrib.tpu.%s on a real TPU" % name,
            "it ended with TensorFlow 1.15, and was that release's own TPU code",
            "with tf.contrib.distribute.TPUStrategy(resolver).scope(): model = ..., "
            "or TPUDIST_TPU=virtual:8 without a TPU",
        )
    return getattr(support, "tpu_model" if name == "keras_to_tpu_model" else name)


def _keras() -> ModuleType:
    if keras_packages.is_keras_3():
        raise ContribNameError(
            "tf.contrib.tpu.keras_to_tpu_model with Keras 3",
            "it is part of Keras 2, which tf.keras was until TensorFlow 2.15",
            'pip install "tf_keras~=%s.0"' % keras_packages.minor(),
        )
    return keras_packages.of_graphs()


def _check(keras: Any, model: object) -> None:
    if not isinstance(model, keras.Model):
        raise ArgumentTypeError(
            "keras_to_tpu_model(%r)" % (model,),
            "it is no model of tf.keras",
            "tf.keras.Model(inputs, outputs), or tf.keras.Sequential([...])",
        )
    if not getattr(model, "inputs", None) or not getattr(model, "outputs", None):
        raise ArgumentError(
            "the model %r has no inputs yet" % model.name,
            "its layers are copied by the sizes that they were called with",
            "tf.keras.Input, or input_shape=(...) in the first layer",
        )
    for tensor in list(model.inputs) + list(model.outputs):
        if None in tensor.shape.as_list()[1:]:
            raise ArgumentError(
                "the model %r has a tensor of shape %s" % (model.name, tensor.shape),
                "on a TPU all sizes but that of the batch are fixed",
                "a fixed size in tf.keras.Input(shape=...) or input_length=",
            )


def _copy(keras: Any, model: Any) -> Model:
    """A copy of the CPU's model: same layers, weights and compile arguments."""
    made = keras.models.clone_model(model)
    made.set_weights(model.get_weights())
    arguments = keras_packages.compile_arguments(model)
    if arguments:
        _refuse_arguments(arguments)
        made.compile(**_copied(arguments))
    return made


def _refuse_arguments(arguments: Any) -> None:
    for name in _NO_ARGUMENTS:
        if arguments.get(name):
            raise ArgumentError(
                "compile(%s=%r) of a model for TPUs" % (name, arguments[name]),
                "keras_to_tpu_model never took it",
                "fit(sample_weight=...) with one weight a row, metrics=[...] and data in fit",
            )


def _copied(arguments: Any) -> dict[str, Any]:
    """Compile arguments with optimizers and metrics of their own."""
    keep = {k: v for k, v in arguments.items() if k not in _NO_ARGUMENTS and v is not None}
    keep["optimizer"] = _copied_optimizer(keep["optimizer"])
    if "metrics" in keep:
        keep["metrics"] = _copied_metrics(keep["metrics"])
    return keep


def _copied_optimizer(optimizer: Any) -> object:
    if type(optimizer).__name__ == "TFOptimizer":
        return optimizer.optimizer
    if isinstance(optimizer, (str, tf.compat.v1.train.Optimizer)):
        return optimizer
    return type(optimizer).from_config(optimizer.get_config())


def _copied_metrics(metrics: Any) -> Nest:
    if isinstance(metrics, dict):
        return {name: _copied_metrics(metric) for name, metric in metrics.items()}
    if isinstance(metrics, (list, tuple)):
        return [_copied_metrics(metric) for metric in metrics]
    if hasattr(metrics, "get_config"):
        return type(metrics).from_config(metrics.get_config())
    return metrics


def _class(keras: Any) -> type[Any]:
    """A class for one model: Keras changes the bases of a class as it is first used."""
    return type("KerasTPUModel", (keras.Model,), dict(_METHODS))


def _over(self: object) -> Any:
    """`self` with the methods and properties of Keras' own class."""
    made = next(each for each in type(self).__mro__ if "sync_to_cpu" in vars(each))
    return super(made, self)


def _init(self: Any, keras: object, model: Any, cores: int) -> None:
    parts = split_models.Cores(keras, model, cores)
    inputs, outputs = parts.build()
    _over(self).__init__(inputs=inputs, outputs=outputs, name=model.name)
    self._tpudist_parts = parts
    parts.to_cores()
    arguments = keras_packages.compile_arguments(model)
    if arguments:
        _over(self).compile(**_copied(arguments))


def _compile(
    self: Any,
    optimizer: object,
    loss: object = None,
    metrics: object = None,
    loss_weights: object = None,
    **kwargs: Any,
) -> None:
    """Keras' compile, for the cores and for the CPU's model."""
    parts = self._tpudist_parts
    _refuse_arguments(kwargs)
    arguments = dict(
        kwargs, optimizer=optimizer, loss=loss, metrics=metrics, loss_weights=loss_weights
    )
    parts.model.compile(**_copied(arguments))
    _over(self).compile(**{k: v for k, v in arguments.items() if k not in _NO_ARGUMENTS})


def _fit(self: Any, x: object = None, y: object = None, *args: Any, **kwargs: Any) -> object:
    """Keras' fit; `x` and `validation_data` may be functions that return a dataset."""
    parts = self._tpudist_parts
    kwargs.pop("_pipeline", None)
    _leave_histograms_out(parts.count, args, kwargs)
    steps = kwargs.get("steps_per_epoch")
    x = whole_batches.of_function(x, y, parts.count, steps, "steps_per_epoch")
    data, steps = kwargs.get("validation_data"), kwargs.get("validation_steps")
    if data is not None:
        data = whole_batches.of_function(data, None, parts.count, steps, "validation_steps")
        kwargs["validation_data"] = data
    refused = _lr_callbacks_refused(parts.keras, self, args, kwargs)
    with refused, split_models.uneven_batches_refused(parts), parts.training():
        return _over(self).fit(x, y, *args, **kwargs)


def _evaluate(self: Any, x: object = None, y: object = None, *args: Any, **kwargs: Any) -> object:
    """Keras' evaluate; `x` may be a function that returns a dataset."""
    parts = self._tpudist_parts
    if callable(x) or not parts.in_training:  # Keras' fit gives it a dataset of its own.
        x = whole_batches.of_function(x, y, parts.count, kwargs.get("steps"), "steps")
    with split_models.uneven_batches_refused(parts):
        return _over(self).evaluate(x, y, *args, **kwargs)


def _fit_generator(self: Any, *args: Any, **kwargs: Any) -> object:
    """Trains as Keras' ``fit_generator`` does, on batches that the cores can split evenly."""
    parts = self._tpudist_parts
    _leave_histograms_out(parts.count, args, kwargs)
    refused = _lr_callbacks_refused(parts.keras, self, args, kwargs)
    with refused, split_models.uneven_batches_refused(parts):
        return _over(self).fit_generator(*args, **kwargs)


def _objects(args: Args, kwargs: Mapping[str, Any]) -> Iterator[Any]:
    """Yields the objects among a training's positional arguments and callbacks."""
    for given in list(args) + [kwargs.get("callbacks")]:
        yield from given if isinstance(given, (list, tuple)) else [given]


def _leave_histograms_out(cores: int, args: Args, kwargs: Mapping[str, Any]) -> None:
    """Has TensorBoard callbacks write no histograms, and says so."""
    for each in _objects(args, kwargs):
        if getattr(each, "histogram_freq", 0):
            tf.compat.v1.logging.warning(_NO_HISTOGRAMS, each.histogram_freq, cores)
            each.histogram_freq = 0


@contextlib.contextmanager
def _lr_callbacks_refused(
    keras: Any, model: object, args: Args, kwargs: Mapping[str, Any]
) -> Iterator[Any]:
    """Context manager: a training refuses callbacks that set ``model.optimizer.lr``."""
    if type(getattr(model, "optimizer", None)).__name__ != "TFOptimizer":
        yield
        return
    setters = tuple(getattr(keras.callbacks, name) for name in _SETTERS)
    for each in _objects(args, kwargs):
        if isinstance(each, setters):
            raise _callback_error(model, type(each).__name__)
    try:
        yield
    except AttributeError as error:
        missed = _MISSED.search(str(error))
        if missed is None:
            raise
        raise _callback_error(
            model, "a callback that reads model.optimizer.%s" % missed.group(1)
        ) from error


def _callback_error(model: Any, callback: object) -> Exception:
    optimizer = type(model.optimizer.optimizer).__name__
    name = re.sub("(V1|Optimizer)", "", optimizer)
    return ArgumentError(
        "%s for a model that was compiled with tf.train.%s" % (callback, optimizer),
        "it sets model.optimizer.lr, which Keras' optimizers have and those of tf.train have not",
        "model.compile(tf.keras.optimizers.%s(LEARNING_RATE), ...), or without the callback a "
        "tf.Variable as learning rate of the optimizer" % _NAMES.get(name, name),
    )


def _checked(name: str) -> Fn:
    """A method of Keras whose batches the cores must be able to split evenly."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Nest:
        with split_models.uneven_batches_refused(self._tpudist_parts):
            return getattr(_over(self), name)(*args, **kwargs)

    method.__name__ = name
    return method


def _of_cpu_model(name: str, fresh: bool = True) -> Fn:
    """A method that is the CPU model's, after its weights are the cores'."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Nest:
        model = self.sync_to_cpu() if fresh else self._tpudist_parts.model
        return getattr(model, name)(*args, **kwargs)

    method.__name__ = name
    return method


def _sync_to_cpu(self: Any) -> Model:
    """Copies the cores' weights to the CPU's model, and returns that."""
    return self._tpudist_parts.to_cpu(getattr(self, "optimizer", None))


def _to_cores(name: str) -> Fn:
    """A method that changes the CPU model's weights, and then the cores'."""

    def method(self: Any, *args: Any, **kwargs: Any) -> None:
        result = getattr(self._tpudist_parts.model, name)(*args, **kwargs)
        self._tpudist_parts.to_cores()
        return result

    method.__name__ = name
    return method


def _of_first_core(name: str) -> property:
    def weights(self: object) -> list[Variable]:
        parts = getattr(self, "_tpudist_parts", None)
        own = _over(self)
        return getattr(own, name) if parts is None else getattr(parts.copies[0], name)

    return property(weights)


def _get_layer(self: Any, *args: Any, **kwargs: Any) -> object:
    """A layer of the first core."""
    return self._tpudist_parts.copies[0].get_layer(*args, **kwargs)


def _losses(self: object) -> list[Any]:
    """Losses of layers: each core's share of the mean."""
    parts = getattr(self, "_tpudist_parts", None)
    losses = _over(self).losses
    if parts is None or parts.count == 1:
        return losses
    return [_share(loss, parts.count) for loss in losses]


def _share(loss: Any, cores: int) -> Nest:
    share = loss / cores
    if hasattr(loss, "_unconditional_loss"):
        share._unconditional_loss = loss._unconditional_loss
    return share


_METHODS = {
    "__init__": _init,
    "compile": _compile,
    "fit": _fit,
    "evaluate": _evaluate,
    "fit_generator": _fit_generator,
    "sync_to_cpu": _sync_to_cpu,
    "get_layer": _get_layer,
    "losses": property(_losses),
    "trainable_weights": _of_first_core("trainable_weights"),
}
_METHODS.update(
    {
        name: _checked(name)
        for name in (
            "predict train_on_batch test_on_batch predict_on_batch "
            "evaluate_generator predict_generator"
        ).split()
    }
)
_METHODS.update({name: _of_cpu_model(name) for name in ("get_weights", "save_weights", "save")})
_METHODS.update({name: _of_cpu_model(name, False) for name in ("summary", "get_config", "to_json")})
_METHODS.update({name: _to_cores(name) for name in ("set_weights", "load_weights")})
