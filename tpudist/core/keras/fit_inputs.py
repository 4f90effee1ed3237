"""What is given to ``fit`` of a model on the cores of a TPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpudist.core.keras import whole_batches
from tpudist.errors import ArgumentError, ArgumentTypeError
from tpudist.tfcompat import functions

if TYPE_CHECKING:
    from typing import Any

    from tpudist.core.annotations import Dataset


def of_function(x: Any, y: Any, cores: Any, steps: Any, steps_name: str) -> Any:
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
    return _global(dataset, cores)


def _global(dataset: Dataset, cores: Any) -> Any:
    shapes = whole_batches.shapes_of(dataset)
    if not isinstance(shapes, tuple) or len(shapes) != 2:
        raise ArgumentError(
            "a dataset of %s" % (shapes,),
            "a model of keras_to_tpu_model takes pairs of a tensor of rows and one of labels",
            "dataset.map(lambda ...: (x, y))",
        )
    return whole_batches.joined(dataset, cores)
