"""Rules for elementwise ops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tpudist.virtual.vectorize.rules.node import BROADCAST_RANK, IDENTITIES, LINEAR, rule
from tpudist.virtual.vectorize.values import batched_values

if TYPE_CHECKING:
    from typing import Sequence

    from tpudist.virtual.vectorize.rules.node import Node
    from tpudist.virtual.vectorize.values.batched_values import BatchedValue


UNARY = """Abs Acos Acosh Asin Asinh Atan Atanh Cast Ceil Cos Cosh Elu Erf Exp
Expm1 FakeQuantWithMinMaxArgs Floor Inv Invert IsFinite IsInf IsNan LeakyRelu Lgamma Log Log1p
LogicalNot Neg OnesLike PopulationCount Reciprocal Relu Relu6 Rint Round Rsqrt Selu Sigmoid
Sign Sin Sinh Softplus Softsign Sqrt Square Tan Tanh ZerosLike""".split()

BROADCAST = """Add AddV2 Atan2 BitwiseAnd BitwiseOr Div DivNoNan Equal FloorDiv
FloorMod Greater GreaterEqual Less LessEqual LogicalAnd LogicalOr Maximum
Minimum Mod Mul MulNoNan NextAfter NotEqual Pow RealDiv SelectV2 SquaredDifference Sub
TruncateDiv Xdivy Xlogy""".split()

SAME_SHAPE = """AddN EluGrad FakeQuantWithMinMaxArgsGradient InvGrad LeakyReluGrad
ReciprocalGrad Relu6Grad ReluGrad RsqrtGrad SeluGrad SigmoidGrad SoftplusGrad SoftsignGrad SqrtGrad
TanhGrad""".split()


@rule(*IDENTITIES)
def identity(node: Node) -> Sequence[BatchedValue] | None:
    """Returns its input."""
    return list(node.inputs)


@rule(*UNARY)
def unary(node: Node) -> Sequence[BatchedValue] | None:
    """Batches ops with one input."""
    value = node.inputs[0]
    if isinstance(value, batched_values.ReplicaSum):
        return _on_sums(node)
    if not isinstance(value, batched_values.Batch):
        return [value.with_tensors(node.add_op(*value.tensors()))]
    return node.on_form(value.preferred_form(), value.in_form(value.preferred_form()))


@rule(*BROADCAST)
def broadcast(node: Node) -> Sequence[BatchedValue] | None:
    """Batches ops that broadcast their inputs."""
    if any(isinstance(value, batched_values.ReplicaSum) for value in node.inputs):
        return _on_sums(node)
    rank = len(node.shape())
    shapes = [node.input_shape(i) for i in range(len(node.inputs))]
    if rank and all(node.broadcasts_rows(i) for i in range(len(node.inputs))):
        same_shapes = all(shape == shapes[0] for shape in shapes)
        form = _common_form(node) if same_shapes or rank < BROADCAST_RANK else "rows"
        return node.on_form(form, *[value.in_form(form) for value in node.inputs])
    if rank >= BROADCAST_RANK and any(shape != shapes[0] for shape in shapes):
        return None
    return node.on_stacked(*[value.stacked_to_rank(rank) for value in node.inputs])


def _common_form(node: Node) -> str:
    """The form that all batches among the inputs have already; else the usual one of the rank."""
    forms = {
        value.preferred_form() for value in node.inputs if isinstance(value, batched_values.Batch)
    }
    if len(forms) == 1:
        return forms.pop()
    return "rows" if len(node.shape()) > 1 else "stacked"


@rule(*SAME_SHAPE)
def same_shape(node: Node) -> Sequence[BatchedValue] | None:
    """Batches ops whose inputs have one shape."""
    if any(isinstance(value, batched_values.ReplicaSum) for value in node.inputs):
        return _on_sums(node)
    is_rows = _common_form(node) == "rows"
    tensors = [value.rows() if is_rows else value.stacked() for value in node.inputs]
    return node.batches("rows" if is_rows else "stacked", node.add_op(*tensors))


def _on_sums(node: Node) -> list[Any] | None:
    """Adds a linear op on sums over the replicas; None if the op is not linear."""
    if node.op.type not in LINEAR or any(
        node.input_shape(i) != node.shape() for i in range(len(node.inputs))
    ):
        return None
    return [batched_values.ReplicaSum(node.add_op(*[v.total() for v in node.inputs])[0])]
