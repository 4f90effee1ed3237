"""Which tensors are needed only as a sum over the replicas: gradients, above all."""

from tpudist.virtual import batching_rules, segments
from tpudist.virtual.identity_map import IdentityMap


def in_segment(segment, body):
    """The tensors of a segment of which only the sum over the replicas is needed.

    Args:
      segment: a `segments.Segment`.
      body: its ops, each after those that it needs.
    """
    return _needed(body, segment.summed, segment.each)


def _needed(body, wanted, each):
    """{tensor: tensor} whose sum is enough, where that of `wanted` is and `each` are not sums."""
    consumers = IdentityMap()
    for op in body:
        for tensor in segments.inputs_of(op):
            consumers.setdefault(tensor, []).append(op)
    summed = IdentityMap()
    for op in reversed(body):
        for tensor in op.outputs:
            used = consumers.get(tensor, ())
            if tensor in each or not (used or tensor in wanted):
                continue
            if all(_is_linear(consumer) and consumer.outputs[0] in summed for consumer in used):
                summed[tensor] = tensor
    return summed


def _is_linear(op):
    """Whether a sum of outputs of `op` is its output for sums of inputs."""
    return (
        op.type in batching_rules.LINEAR
        and len(op.outputs) == 1
        and all(
            op.type in batching_rules.RESHAPES
            or tensor.shape.is_fully_defined()
            and tensor.shape == op.outputs[0].shape
            for tensor in op.inputs
        )
    )
