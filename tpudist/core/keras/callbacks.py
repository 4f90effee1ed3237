"""Callbacks that set ``model.optimizer.lr``, which optimizers of ``tf.train`` do not have."""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING

from tpudist.errors import ArgumentError

if TYPE_CHECKING:
    from typing import Any, Iterator, Mapping

    from tpudist.core.annotations import Args


#: Keras' callbacks that do.
_SETTERS = ("LearningRateScheduler", "ReduceLROnPlateau")

#: What Python says where a callback of the program's own does.
_MISSED = re.compile("TFOptimizer.*attribute '(lr|learning_rate)'")

#: The optimizers of ``tf.train`` whose class has another name in Keras.
_NAMES = {"GradientDescent": "SGD", "Momentum": "SGD"}


@contextlib.contextmanager
def refused(keras: Any, model: Any, args: Args, kwargs: Mapping[str, Any]) -> Iterator[Any]:
    """Context of a training in which callbacks that set ``model.optimizer.lr`` are explained.

    Those of Keras are refused before anything is trained, the program's own where they fail.

    Args:
      keras: the module.
      model: the model that is to be trained.
      args, kwargs: what its ``fit`` or ``fit_generator`` was given.

    Raises:
      ArgumentError: (a ValueError) there is one, and the optimizer is of ``tf.train``.
    """
    if type(getattr(model, "optimizer", None)).__name__ != "TFOptimizer":
        yield
        return
    setters = tuple(getattr(keras.callbacks, name) for name in _SETTERS)
    for given in list(args) + [kwargs.get("callbacks")]:
        for each in given if isinstance(given, (list, tuple)) else [given]:
            if isinstance(each, setters):
                raise _error(model, type(each).__name__)
    try:
        yield
    except AttributeError as error:
        missed = _MISSED.search(str(error))
        if missed is None:
            raise
        raise _error(model, "a callback that reads model.optimizer.%s" % missed.group(1)) from error


def _error(model: Any, callback: Any) -> Any:
    optimizer = type(model.optimizer.optimizer).__name__
    name = re.sub("(V1|Optimizer)", "", optimizer)
    return ArgumentError(
        "%s for a model that was compiled with tf.train.%s" % (callback, optimizer),
        "it sets model.optimizer.lr, which Keras' optimizers have and those of tf.train have not",
        "model.compile(tf.keras.optimizers.%s(LEARNING_RATE), ...), or without the callback a "
        "tf.Variable as learning rate of the optimizer" % _NAMES.get(name, name),
    )
