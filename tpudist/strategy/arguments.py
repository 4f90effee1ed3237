"""Says what is wrong with an argument that no strategy can use, where all surfaces' calls pass.

What a call does with a replica function is looked at after it has failed: a check never stops
what would run.
"""

from __future__ import annotations

import contextlib
import inspect
from typing import TYPE_CHECKING, Any, Iterator, Mapping

import tensorflow as tf

from tpudist.errors import ArgumentError, ArgumentTypeError, ContextError, TpudistError
from tpudist.strategy import contexts
from tpudist.tfcompat import distributed, functions, nests

if TYPE_CHECKING:
    from tpudist.annotations import Args, Strategy


@contextlib.contextmanager
def explained(method: str, fn: Any, args: Args, kwargs: Mapping[str, Any] | None) -> Iterator[None]:
    """Context manager: where `fn` cannot be called with these arguments, the error says so.

    Raises:
      ArgumentTypeError: (a TypeError) instead of what else the block has raised.
    """
    try:
        yield
    except TpudistError:
        raise
    except Exception as error:  # of whatever kind: TensorFlow's, Python's or AutoGraph's
        refused = _refusal(method, fn, args, kwargs or {})
        if refused is None:
            raise
        raise refused from error


def _refusal(
    method: str, fn: object, args: Args, kwargs: Mapping[str, Any]
) -> ArgumentTypeError | None:
    name = getattr(fn, "__name__", repr(fn))
    if not callable(fn):
        return ArgumentTypeError(
            "%s(%r)" % (method, fn),
            "it calls a function on every replica",
            "%s(replica_fn, ...), with the function itself and not what it returned" % method,
        )
    if args is not None and not isinstance(args, (list, tuple)):
        return ArgumentTypeError(
            "args=%.80r" % (args,),
            "%s is called with its elements, one after the other" % name,
            "args=(x,): without the comma, (x) is x",
        )
    with contextlib.suppress(TypeError, ValueError):  # of what has no signature
        signature = inspect.signature(fn, follow_wrapped=False)
        try:
            signature.bind(*(args or ()), **kwargs)
        except TypeError as error:
            return ArgumentTypeError(
                "%s with %d argument(s)%s for %s%s"
                % (method, len(args or ()), "".join(", " + key for key in kwargs), name, signature),
                str(error),
                "as many arguments as the function takes; a tuple is one of them",
            )
    return None


def require_dataset(method: str, dataset: object) -> None:
    """Refuses what is no dataset.

    Raises:
      ArgumentTypeError: (a TypeError) see above.
    """
    if not isinstance(dataset, functions.DatasetV2):
        raise ArgumentTypeError(
            "%s(%.80r)" % (method, dataset),
            "it splits the batches of a tf.data.Dataset",
            "tf.data.Dataset.from_tensor_slices(arrays).batch(n), with n the examples of a step "
            "of all replicas together",
        )


def require_dataset_function(method: str, dataset_fn: object) -> None:
    """Refuses a dataset in the place of a function that makes one.

    Raises:
      ArgumentTypeError: (a TypeError) see above.
    """
    if not callable(dataset_fn):
        raise ArgumentTypeError(
            "%s(%.80r)" % (method, dataset_fn),
            "it calls a function that makes the dataset, once for each host or replica",
            "%s(lambda *context: dataset)" % method,
        )


def require_reduction(reduce_op: object, value: object, axis: int | None) -> None:
    """Refuses a reduction that there is none of, or an axis that no component has.

    Raises:
      ArgumentError: (a ValueError) see above.
    """
    names = [each.name for each in tf.distribute.ReduceOp]
    if isinstance(reduce_op, str) and reduce_op.upper() not in names:
        raise ArgumentError(
            "reduce(%r, ...)" % reduce_op,
            "replicas' values are combined by %s" % " or ".join(names),
            "tf.distribute.ReduceOp.SUM; or strategy.experimental_local_results(value), "
            "a tuple of the replicas' values, for anything else",
        )
    for leaf in nests.flatten(value) if axis is not None else ():
        part = distributed.components(leaf)[0]
        rank = part.shape.ndims if nests.is_tensor(part) else None
        if rank is not None and axis not in range(-rank, rank):
            raise ArgumentError(
                "axis=%s for components of shape %s" % (axis, part.shape),
                "it is a dimension of each replica's component",
                "axis=None, which only combines the replicas%s"
                % (", or 0 to %d" % (rank - 1) if rank else ""),
            )


def refuse_scope_in_replica(strategy: Strategy) -> None:
    """Refuses to enter the scope in a replica function.

    Raises:
      ContextError: (a RuntimeError) see above.
    """
    context = tf.distribute.get_replica_context()
    if context is not None and context.strategy is strategy:
        words = contexts.words_of(strategy)
        raise ContextError(
            "%s was entered in a %s" % (words.scope, words.replica),
            "the %s runs under the strategy already. Method requires being in cross-replica "
            "context, use get_replica_context().merge_call()" % words.replica,
            "no scope there; or the whole block outside of the function",
        )
