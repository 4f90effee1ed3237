"""Keras' datasets from which each core takes a whole batch a step.

So it is in ``keras_to_tpu_model``, and was in TensorFlow 1.12, where only
``model.compile(distribute=strategy)`` distributed Keras. From 1.13 on the batches are of all
towers together, as they are here for a model in ``strategy.scope()``, which 1.12 did not have,
and for arrays, which its TPUStrategy refused.
"""

from __future__ import annotations

import sys
import weakref
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from tpudist.errors import ArgumentError, ArgumentTypeError
from tpudist.input import distributed_datasets
from tpudist.tfcompat import functions, nests

if TYPE_CHECKING:
    import types

    from tpudist.annotations import Dataset
    from tpudist.tfcompat.annotations import Nest, Strategy


_TOLD = (
    "tpudist: compile(distribute=strategy) is of TensorFlow 1.12, and as there each of the %d "
    "towers takes a batch of the dataset: a step has %d batches. From 1.13 on it has one"
)

#: Methods of a model that take datasets, and what the datasets are called in them.
_METHODS = ("fit", "evaluate", "predict")
_DATASETS = ("x", "validation_data")

#: The loops, with or without an underscore before and words between, that train nothing.
_TRAINS_NOTHING = ("test_loop", "predict_loop")

#: The strategies of which this was said.
_told: weakref.WeakSet[Any] = weakref.WeakSet()


def of_keras(strategy: Strategy, dataset: Dataset, completes: bool) -> tuple[Dataset, bool]:
    """Returns the dataset to distribute, and whether each tower takes a whole batch of it.

    Says the latter once per strategy. If it `completes`, towers for which the last step has no
    batch may take one without rows.
    """
    call = _running(strategy)
    if call is None:
        return dataset, False
    verb, names, trains = call
    model, given = names["self"], dataset
    if is_subclassed(model):
        raise subclassed_model()
    if verb == "predict":
        given = names.get("x")
        dataset = _without_labels(model, dataset)
    elif not any(names.get(name) is dataset for name in _DATASETS):
        given = None
    if not isinstance(given, functions.DatasetV2):  # Keras has made the dataset of arrays.
        return dataset, False
    _check(verb, given)
    # Until 1.13 there is no other way for a strategy to get to a model.
    if not getattr(model, "_compile_distribution", True):
        return dataset, False
    count = strategy.num_replicas_in_sync
    if count > 1 and strategy not in _told:
        _told.add(strategy)
        tf.compat.v1.logging.warning(_TOLD, count, count)
    return (_completed(dataset, given, count) if completes and not trains else dataset), True


def _running(strategy: object) -> tuple[str, Any, bool] | None:
    """The call of the strategy's model that is on the stack: its name and names, if it trains."""
    frame: types.FrameType | None = sys._getframe(1)
    trains = True
    while frame is not None:
        code, names = frame.f_code, frame.f_locals
        trains = trains and not code.co_name.endswith(_TRAINS_NOTHING)
        if code.co_name in _METHODS and "keras" in frame.f_globals.get("__name__", ""):
            if getattr(names.get("self"), "_distribution_strategy", None) is strategy:
                return code.co_name, names, trains
        frame = frame.f_back
    return None


def is_subclassed(model: object) -> bool:
    """Whether a model of Keras has a ``call`` of its own in place of layers that are known."""
    is_sequential = any(base.__name__ == "Sequential" for base in type(model).__mro__)
    return not is_sequential and not getattr(model, "_is_graph_network", True)


def subclassed_model() -> ArgumentError:
    """Returns the error that refuses a subclassed model under a strategy, in a graph."""
    return ArgumentError(
        "a subclassed model of Keras under a strategy, in a graph",
        "Keras copies it there for each replica, layer by layer, and sees no layers of one with a "
        "call() of its own: plain TensorFlow fails too",
        "tf.keras.Model(inputs, outputs), or tf.keras.Sequential([...])",
    )


def _without_labels(model: Any, dataset: Any) -> Nest:
    """The rows of a dataset of rows, of (rows, labels), or of (rows, labels, weights)."""
    shapes = distributed_datasets.shapes_of(dataset)
    if not isinstance(shapes, tuple) or len(nests.flatten(shapes)) == len(model.inputs or []):
        return dataset
    return dataset.map(lambda rows, *others: rows)


def _check(verb: str, dataset: object) -> None:
    """Refuses what Keras would take for something else, or never come to the end of."""
    shapes = distributed_datasets.shapes_of(dataset)
    if verb != "predict" and isinstance(shapes, tuple) and len(shapes) == 3:
        raise ArgumentError(
            "%s of a dataset of (rows, labels, weights)" % verb,
            "Keras takes no weights of samples in a graph under a TPUStrategy",
            "dataset.map(lambda x, y, w: (x, y)), or a loss that weighs",
        )
    if verb == "predict" and not _is_fixed(shapes) and _batches(dataset) == _ENDLESS:
        raise ArgumentError(
            "predict of a dataset without an end, of %s" % (shapes,),
            "Keras counts the rows of all its batches where their size is not fixed",
            "dataset.batch(ROWS, drop_remainder=True), or no repeat()",
        )


def _completed(dataset: Any, given: object, count: int) -> Dataset:
    """A dataset whose last step has a batch for each tower, some of them without rows.

    `given` is what the program passed: Keras pads its last batch to make `dataset`.
    """
    number = _batches(given)
    if number == _ENDLESS or number >= 0 and number % count == 0:
        return dataset
    loose = dataset.map(lambda *leaves: _rows(leaves, -1))
    return loose.concatenate(loose.take(1).map(lambda *leaves: _rows(leaves, 0)).repeat(count - 1))


def _rows(leaves: Any, limit: int) -> Dataset:
    """The first rows of tensors, of a number that their shapes do not have; -1 is all of them."""

    def some(tensor: Any) -> Dataset:
        rows = tf.shape(tensor)[0] if limit < 0 else limit
        return tensor[: tf.compat.v1.placeholder_with_default(rows, [])]

    made = nests.map_structure(some, leaves)
    return made if len(made) > 1 else made[0]


#: What TensorFlow says of the number of batches of a dataset that repeats for ever.
_ENDLESS = -1


def _batches(dataset: object) -> int:
    """The number of batches, `_ENDLESS`, or another negative number if it is not known."""
    number = tf.data.experimental.cardinality(dataset)
    if tf.executing_eagerly():
        return int(number)
    with tf.compat.v1.Session(graph=number.graph) as session:
        return int(session.run(number))


def _is_fixed(shapes: object) -> bool:
    """Whether the sizes of all tensors are known, and each has rows."""
    return all(shape.is_fully_defined() and shape.ndims for shape in nests.flatten(shapes))


def global_batches(dataset: Dataset, count: int) -> Dataset:
    """A dataset of global batches: each is `count` batches of `dataset`, concatenated in order."""
    shapes = distributed_datasets.shapes_of(dataset)
    if not _is_fixed(shapes):
        raise ArgumentError(
            "a dataset of %s" % (shapes,),
            "on a TPU all sizes are fixed, and each core takes a batch",
            "dataset.batch(ROWS, drop_remainder=True)",
        )
    if count == 1:
        return dataset

    def concatenated(*stacked: Any) -> Nest:
        flat = nests.map_structure(
            lambda tensor: tf.reshape(tensor, [-1] + tensor.shape.as_list()[2:]), stacked
        )
        return flat if len(stacked) > 1 else flat[0]

    return dataset.batch(count, drop_remainder=True).map(concatenated)


def of_function(x: object, y: object, cores: int, steps: int | None, steps_name: str) -> Nest:
    """The data of a step, from a function `x` that returns a dataset of one core's batches.

    Any other `x`, which Keras takes itself, is returned. `steps_name` is the name of the argument
    `steps`.
    """
    if isinstance(x, functions.DatasetV2):
        raise ArgumentError(
            "a dataset for a model of keras_to_tpu_model",
            "it takes a function that returns one, and makes the dataset itself",
            "lambda: dataset, batched for one core",
        )
    if not callable(x):
        return x
    if steps is None or y is not None:
        raise ArgumentError(
            "a function as data, with %s" % ("y" if y is not None else "%s=None" % steps_name),
            "its dataset has rows and labels, and no length",
            "y=None, %s=NUMBER" % steps_name,
        )
    dataset = x()
    if not isinstance(dataset, functions.DatasetV2):
        raise ArgumentTypeError(
            "the function passed as data returned %r" % (dataset,),
            "it is called for a dataset of pairs",
            "return tf.data.Dataset.from_tensor_slices((x, y)).batch(ROWS, drop_remainder=True)",
        )
    shapes = distributed_datasets.shapes_of(dataset)
    if not isinstance(shapes, tuple) or len(shapes) != 2:
        raise ArgumentError(
            "a dataset of %s" % (shapes,),
            "a model of keras_to_tpu_model takes pairs of a tensor of rows and one of labels",
            "dataset.map(lambda ...: (x, y))",
        )
    return global_batches(dataset, cores)
