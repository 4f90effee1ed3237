"""``tpu.split_compile_and_replicate``, ``split_compile_and_shard`` and ``rewrite_for_inference``.

The first two also return an op that compiles the computation before it runs. A virtual TPU compiles
nothing: there the op gives the answer of a compilation that went well.

Reference: tensorflow/python/tpu/tpu.py, r1.15.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tensorflow as tf

from tpudist.computations import tpu_ops
from tpudist.tfcompat import tpu

if TYPE_CHECKING:
    from tpudist.annotations import Fn
    from tpudist.tfcompat.annotations import Tensor

#: A serialized CompilationResultProto without an error.
_NO_ERROR = b""


def split_compile_and_replicate(
    computation: Fn,
    inputs: object = None,
    infeed_queue: object = None,
    device_assignment: object = None,
    name: str | None = None,
    *options: Any,
    **more: Any,
) -> list[Any]:
    """Returns [the op that compiles, what ``tpu.replicate`` returns].

    Args:
      computation, inputs, infeed_queue, device_assignment, name: as of ``tpu.replicate``.
      *options, **more: a real TPU's, such as ``maximum_shapes``.
    """
    where = tpu_ops.here()
    common = (computation, inputs, infeed_queue, device_assignment, name)
    if where is tpu.Computations:
        return list(where.split_compile_and_replicate(*common, *options, **more))
    return [_compiled(), where.replicate(*common)]


def split_compile_and_shard(
    computation: Fn,
    inputs: object = None,
    num_shards: int = 1,
    input_shard_axes: object = None,
    outputs_from_all_shards: object = True,
    output_shard_axes: object = None,
    infeed_queue: object = None,
    device_assignment: object = None,
    name: str | None = None,
    **more: Any,
) -> tuple[Any, list[Any]]:
    """Returns (the op that compiles, what ``tpu.shard`` returns).

    Args:
      computation, inputs, num_shards, input_shard_axes, outputs_from_all_shards,
        output_shard_axes, infeed_queue, device_assignment, name: as of ``tpu.shard``.
      **more: a real TPU's.
    """
    where = tpu_ops.here()
    sharded = (computation, inputs, num_shards, input_shard_axes, outputs_from_all_shards)
    options = (output_shard_axes, infeed_queue, device_assignment, name)
    if where is tpu.Computations:
        compiled, outputs = where.split_compile_and_shard(*sharded, *options, **more)
        return compiled, outputs
    return _compiled(), where.shard(*sharded, *options)


def rewrite_for_inference(
    computation: Fn,
    inputs: object = None,
    infeed_queue: object = None,
    device_assignment: object = None,
    name: str | None = None,
) -> Any:
    """Returns what ``tpu.rewrite`` returns; a real TPU reads the variables outside of it."""
    where = tpu_ops.here()
    common = (computation, inputs, infeed_queue, device_assignment, name)
    if where is tpu.Computations:
        return where.rewrite_for_inference(*common)
    return where.rewrite(*common)


def _compiled() -> Tensor:
    return tf.constant(_NO_ERROR, name="compiled")
