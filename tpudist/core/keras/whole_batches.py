"""Datasets given to Keras of which each core takes a whole batch a step.

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

from tpudist.core.input import distributed_datasets
from tpudist.errors import ArgumentError, ArgumentTypeError
from tpudist.tfcompat import functions, nests

if TYPE_CHECKING:
    import types

    from tpudist.core.annotations import Dataset, Strategy


_TOLD = (
    "tpudist: compile(distribute=strategy) is of TensorFlow 1.12, and as there each of the %d "
    "towers takes a batch of the dataset: a step has %d batches. From 1.13 on it has one"
)

#: Methods of a model that take datasets, and what the datasets are called in them.
_METHODS = ("fit", "evaluate", "predict")
_DATASETS = ("x", "validation_data")

#: The strategies of which this was said.
_told: weakref.WeakSet[Any] = weakref.WeakSet()


def are_whole(strategy: Strategy, dataset: Dataset) -> bool:
    """Whether each tower takes a whole batch of a dataset that is to be distributed.

    Says so once per strategy.

    Args:
      strategy: the strategy.
      dataset: what its ``make_dataset_iterator`` was given.
    """
    if not _compiled_with(strategy, dataset):
        return False
    count = strategy.num_replicas_in_sync
    if count > 1 and strategy not in _told:
        _told.add(strategy)
        tf.compat.v1.logging.warning(_TOLD, count, count)
    return True


def _compiled_with(strategy: Any, dataset: Any) -> bool:
    """Whether a dataset was given to a model whose ``compile(distribute=)`` named the strategy.

    Keras tells a strategy neither whose data it is nor how the strategy got to the model; the
    calls that are running do.

    Args:
      strategy: the strategy.
      dataset: what Keras asks it to distribute; one that Keras has made of arrays is not it.
    """
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name in _METHODS and "keras" in frame.f_globals.get("__name__", ""):
            names = frame.f_locals
            model = names.get("self")
            if getattr(model, "_distribution_strategy", None) is strategy:
                given = any(names.get(name) is dataset for name in _DATASETS)
                # Until 1.13 there is no other way for a strategy to get to a model.
                return given and getattr(model, "_compile_distribution", True)
        frame = frame.f_back
    return False


def global_batches(dataset: Dataset, count: int) -> Any:
    """A dataset of global batches: each is `count` batches of `dataset`, concatenated in order.

    Args:
      dataset: a ``tf.data.Dataset`` of batches, all of one size.
      count: how many replicas share a global batch.

    Raises:
      ArgumentError: (a ValueError) batches of no fixed size.
    """
    shapes = distributed_datasets.shapes_of(dataset)
    if not all(shape.is_fully_defined() and shape.ndims for shape in nests.flatten(shapes)):
        raise ArgumentError(
            "a dataset of %s" % (shapes,),
            "on a TPU all sizes are fixed, and each core takes a batch",
            "dataset.batch(ROWS, drop_remainder=True)",
        )
    if count == 1:
        return dataset

    def concatenated(*stacked: Any) -> Any:
        flat = nests.map_structure(
            lambda tensor: tf.reshape(tensor, [-1] + tensor.shape.as_list()[2:]), stacked
        )
        return flat if len(stacked) > 1 else flat[0]

    return dataset.batch(count, drop_remainder=True).map(concatenated)


def of_function(x: Any, y: Any, cores: int, steps: int | None, steps_name: str) -> Any:
    """The data of a step, from a function that returns a dataset of one core's batches.

    Args:
      x: what was passed: such a function, or what Keras takes itself.
      y: what was passed beside it.
      cores: how many cores take a batch of the dataset in a step.
      steps: number of steps that was passed, or None.
      steps_name: the name of that argument.

    Returns:
      `x`, or a dataset of global batches.

    Raises:
      ArgumentError: (a ValueError) a dataset that is not from a function, whose shapes are not
        fixed or that is not of pairs; `y` beside a function, or no `steps`.
      ArgumentTypeError: (a TypeError) the function returns something else.
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
