"""Callbacks that set ``model.optimizer.lr``, which optimizers of ``tf.train`` do not have."""

import contextlib
import re

from tpudist.errors import ArgumentError

#: Keras' callbacks that do.
_SETTERS = ("LearningRateScheduler", "ReduceLROnPlateau")

#: What Python says where a callback of the program's own does.
_MISSED = re.compile("TFOptimizer.*attribute '(lr|learning_rate)'")

#: The optimizers of ``tf.train`` whose class has another name in Keras.
_NAMES = {"GradientDescent": "SGD", "Momentum": "SGD"}


def check(keras, model, args, kwargs):
    """Refuses, before anything is trained, callbacks of Keras' that set the learning rate.

    Args:
      keras: the module.
      model: the model that is to be trained.
      args, kwargs: what its ``fit`` or ``fit_generator`` was given.

    Raises:
      ArgumentError: (a ValueError) there is one, and the optimizer is of ``tf.train``.
    """
    if _of_train(model) is None:
        return
    setters = tuple(getattr(keras.callbacks, name) for name in _SETTERS)
    given = list(args) + [kwargs.get("callbacks")]
    lists = [each if isinstance(each, (list, tuple)) else [each] for each in given]
    for callback in [callback for each in lists for callback in each]:
        if isinstance(callback, setters):
            raise _refused(model, type(callback).__name__)


@contextlib.contextmanager
def rates_are_set(model):
    """Context manager: a callback that misses ``model.optimizer.lr`` is told in our words."""
    try:
        yield
    except AttributeError as error:
        found = _MISSED.search(str(error))
        if found is None or _of_train(model) is None:
            raise
        raise _refused(
            model, "a callback that reads model.optimizer.%s" % found.group(1)
        ) from error


def _of_train(model):
    """The optimizer of ``tf.train`` that a model was compiled with, or None."""
    optimizer = getattr(model, "optimizer", None)
    return optimizer.optimizer if type(optimizer).__name__ == "TFOptimizer" else None


def _refused(model, callback):
    optimizer = type(_of_train(model)).__name__
    name = re.sub("(V1|Optimizer)", "", optimizer)
    return ArgumentError(
        "%s for a model that was compiled with tf.train.%s" % (callback, optimizer),
        "it sets model.optimizer.lr, which Keras' optimizers have and those of tf.train have not",
        "model.compile(tf.keras.optimizers.%s(LEARNING_RATE), ...), or without the callback a "
        "tf.Variable as learning rate of the optimizer" % _NAMES.get(name, name),
    )
