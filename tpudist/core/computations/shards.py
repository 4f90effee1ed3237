"""Parts of a computation's inputs and outputs, as ``tf.tpu.shard`` has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import tensorflow as tf

from tpudist.errors import ArgumentError, ArgumentTypeError

if TYPE_CHECKING:
    from typing import Any, Sequence


def split(inputs: Any, count: int, axes: Sequence[int] | None) -> list[list[Any]]:
    """The inputs of each part.

    Args:
      inputs: a list of tensors, or None.
      count: number of parts.
      axes: the dimension along which each input is split; None is 0 for all.

    Raises:
      ArgumentError: (a ValueError) no parts, or axes for another number of inputs.
      ArgumentTypeError: (a TypeError) inputs that are no list.
    """
    if count <= 0:
        raise ArgumentError(
            "num_shards=%r" % (count,), "each part runs on a core", "num_shards=1 or more"
        )
    if inputs is not None and not isinstance(inputs, list):
        raise ArgumentTypeError(
            "inputs=%.60r" % (inputs,), "each input is split for itself", "inputs=[tensor, ...]"
        )
    tensors = [tf.convert_to_tensor(each) for each in inputs or []]
    chosen = _one_each("input_shard_axes", axes, len(tensors), 0)
    columns = [tf.split(x, count, axis=axis) for x, axis in zip(tensors, chosen)]
    return [[column[i] for column in columns] for i in range(count)]


def joined(outputs: list[Any], every: Any, axes: Sequence[int] | None) -> list[Any]:
    """One output for those of all parts.

    Args:
      outputs: of each part a list of tensors, or an op where there are none.
      every: whether an output is joined, of all or of each; otherwise it is the first part's.
      axes: the dimension along which each output is joined; None is 0 for all.

    Raises:
      ArgumentError: (a ValueError) axes or choices for another number of outputs.
    """
    if not isinstance(outputs[0], (list, tuple)):
        return [outputs[0]]
    count = len(outputs[0])
    chosen = _one_each("output_shard_axes", axes, count, 0)
    given = None if isinstance(every, bool) else every
    joins = _one_each("outputs_from_all_shards", given, count, every)
    return [
        _concatenated(parts, axis) if join else parts[0]
        for parts, axis, join in zip(zip(*outputs), chosen, joins)
    ]


def _one_each(name: str, given: Any, count: int, default: Any) -> list[Any]:
    if given is None:
        return [default] * count
    if len(given) != count:
        raise ArgumentError(
            "%s=%r for %d tensors" % (name, given, count),
            "there is one for each tensor",
            "%s=%r" % (name, [default] * count),
        )
    return list(given)


def _concatenated(parts: Sequence[Any], axis: int) -> Any:
    scalars = parts[0].shape.ndims == 0
    return tf.stack(list(parts)) if scalars else tf.concat(list(parts), axis=axis)
