"""Checks the context and the arguments of a call; members of replica contexts.

No era is known here: errors use the words of the strategy's class. What a call does with a replica
function is looked at after it has failed: a check never stops what would run.
"""

from __future__ import annotations

import collections
import contextlib
import inspect
import os
from typing import TYPE_CHECKING, Any, Iterator, Mapping

import tensorflow as tf

from tpudist.errors import (
    ArgumentError,
    ArgumentTypeError,
    ContextError,
    EagerRunError,
    TpudistError,
)
from tpudist.tfcompat import distributed, functions, nests

if TYPE_CHECKING:
    from tpudist.annotations import Args, Fn, Strategy
    from tpudist.tfcompat.annotations import Nest


#: Set to 1 to let ``run`` accept a plain function in eager mode, as
#: TensorFlow 1.15 and 2.0 did: it is wrapped in a tf.function.
ALLOW_EAGER_RUN = "TPUDIST_ALLOW_EAGER_RUN"

#: A surface's words for the scope, the strategy class, a replica, the function
#: that returns its context, and the method that starts replicas.
Words = collections.namedtuple("Words", "scope strategy replica get_context call")
_WORDS = Words(
    "strategy.scope()",
    "tf.distribute.Strategy",
    "replica",
    "get_replica_context()",
    "call_for_each_replica()",
)

#: The strategy that is current in this thread, or TensorFlow's default one.
current_strategy = tf.distribute.get_strategy

#: Whether a strategy other than the default one is current.
has_strategy = tf.distribute.has_strategy


def words_of(strategy: Strategy) -> Words:
    """The `Words` of a strategy's surface."""
    return getattr(strategy, "_words", _WORDS)


def require_scope(strategy: Strategy, method: str) -> None:
    """Refuses a call outside of the strategy's scope."""
    words = words_of(strategy)
    if not tf.distribute.has_strategy():
        raise ContextError(
            '%s was called outside of the scope: Need to be inside "with %s" '
            "for %r" % (method, words.scope, strategy),
            "it works on the strategy that is current in this thread",
            "with %s: ... %s" % (words.scope, method),
        )
    current = tf.distribute.get_strategy()
    if current is not strategy:
        raise ContextError(
            "%s was called in the scope of another strategy: Mixing different "
            "%s objects: %r is not %r" % (method, words.strategy, current, strategy),
            "values and variables of one strategy do not fit another",
            "leave the other scope first, then: with %s: ..." % words.scope,
        )


def require_cross_replica(strategy: Strategy, method: str) -> None:
    """Refuses a call outside of the scope or inside a replica function."""
    require_scope(strategy, method)
    if tf.distribute.get_replica_context() is None:
        return
    words = words_of(strategy)
    raise ContextError(
        "%s was called in a %s: Method requires being in cross-%s context, "
        "use %s.merge_call()" % (method, words.replica, words.replica, words.get_context),
        "it works on the values of all %ss together" % words.replica,
        "%s.merge_call(lambda strategy, x: strategy.%s..., x)"
        % (words.get_context, method.split("(")[0]),
    )


def require_replica(context: Any, what: str) -> None:
    """Refuses to use a replica's context where it is not current."""
    current = tf.distribute.get_replica_context()
    if current is context:
        return
    words = words_of(context.strategy)
    if current is None:
        seen = "Need to be inside `%s`" % words.call
    elif current.strategy is context.strategy:
        seen = "Mismatching %sContext" % words.replica.capitalize()
    else:
        seen = "Mismatching %s objects: %r is not %r" % (
            words.strategy,
            current.strategy,
            context.strategy,
        )
    raise ContextError(
        "%s was used elsewhere: %s" % (what, seen),
        "the context belongs to one %s and ends with it" % words.replica,
        "call %s inside the function each time" % words.get_context,
    )


def is_symbolic(context: object) -> bool:
    """Whether `context` belongs to a step that is traced for the compiler."""
    return getattr(context, "is_symbolic", False)


def refuse_compiled(context: object, method: str) -> None:
    """Refuses to start replicas in a step that is traced for the compiler."""
    if is_symbolic(context):
        raise ContextError(
            "%s() was called inside the step that is compiled" % method,
            "the step is what one replica runs, and starts no further ones",
            "compile the function that %s() is given; or tpudist run "
            "--compile, which compiles every one that a script runs" % method,
        )


def refuse_in_replica(strategy: Strategy, method: str) -> None:
    """Refuses a call inside a replica function of the strategy."""
    context = tf.distribute.get_replica_context()
    if context is None or context.strategy is not strategy:
        return
    refuse_compiled(context, method)
    raise ContextError(
        "%s() was called inside a replica function" % method,
        "a replica cannot start further replicas; Method requires being in "
        "cross-replica context, use get_replica_context().merge_call()",
        "call it outside of the replica function, or in a merge_fn given to "
        "tf.distribute.get_replica_context().merge_call(merge_fn, args=...)",
    )


def refuse_scope_in_replica(strategy: Strategy) -> None:
    """Refuses to enter the scope in a replica function."""
    context = tf.distribute.get_replica_context()
    if context is not None and context.strategy is strategy:
        words = words_of(strategy)
        raise ContextError(
            "%s was entered in a %s" % (words.scope, words.replica),
            "the %s runs under the strategy already. Method requires being in cross-replica "
            "context, use get_replica_context().merge_call()" % words.replica,
            "no scope there; or the whole block outside of the function",
        )


def refuse_eager(fn: Fn) -> None:
    """Refuses a plain Python function in eager mode, as TPUs do since 2.1."""
    if not tf.executing_eagerly() or functions.is_traceable(fn) or functions.are_inlined():
        return
    if os.environ.get(ALLOW_EAGER_RUN) == "1":
        return
    if "keras" in getattr(fn, "__module__", ""):
        raise EagerRunError(
            "run(%s, ...) by Keras, in eager mode" % fn.__name__,
            "compile(run_eagerly=True) takes the tf.function off its steps, and a TPU runs "
            "compiled programs only",
            "leave run_eagerly=True out; or, to look into a step on the virtual TPU, set "
            "tf.config.run_functions_eagerly(True) too",
        )
    raise EagerRunError(
        "run(%s, ...) of a plain Python function in eager mode: TPUStrategy "
        "does not support pure eager execution" % getattr(fn, "__name__", repr(fn)),
        "a TPU runs compiled programs only",
        "decorate the function with @tf.function, or call run inside a "
        "tf.function; or set %s=1 to have it wrapped, as TensorFlow 2.0 did" % ALLOW_EAGER_RUN,
    )


def current_replica(context_class: Any) -> Any:
    """The current replica's context, as an object of a surface's class; None across replicas."""
    context = tf.distribute.get_replica_context()
    if context is not None and not hasattr(context, "_tpudist_context"):
        context._tpudist_context = context_class(context)
    return context and context._tpudist_context


def cross_replica_strategy() -> Any:
    """The current strategy in its cross-replica context, else None."""
    if tf.distribute.in_cross_replica_context():
        return tf.distribute.get_strategy()
    return None


def replica_id(context: Any) -> Any:
    """The number of this replica, 0 to `num_replicas_in_sync` - 1.

    It is a Python integer where every replica is traced on its own (a TF 1 graph outside of a loop
    of steps), and an int32 scalar tensor where one trace serves all replicas, as on a real TPU.

    Context: replica.
    """
    require_replica(context, "the replica id")
    number = context.replica_id_in_sync_group
    if is_symbolic(context) or getattr(context, "stands_for_all", False):
        return number
    static = functions.static_value(number) if nests.is_tensor(number) else number
    return number if static is None else int(static)


def is_single(context: Any) -> bool:
    """Whether there is only one replica."""
    return context.num_replicas_in_sync == 1


def device(context: Any) -> str:
    """The device of the replica; ``""`` where one trace serves all, current without a strategy.

    Context: replica.
    """
    number = replica_id(context)
    if not tf.distribute.has_strategy():
        return functions.current_device()
    if nests.is_tensor(number):
        return ""
    devices = context.strategy.extended.worker_devices
    return devices[number % len(devices)]  # a worker of a cluster has those of its own replicas


def merge_call(context: Any, merge_fn: Fn, args: Args, kwargs: Mapping[str, Any]) -> Nest:
    """Calls ``merge_fn(strategy, *args, **kwargs)`` once for all, in cross-replica context."""
    require_replica(context, "merge_call")
    return context.merge_call(merge_fn, args=args, kwargs=kwargs)


def last_loss_reduction(sum_: object, mean: object) -> Nest:
    """The last reduction of a loss by ``tf.losses`` in this graph: `sum_` or `mean`."""
    last = getattr(tf.compat.v1.get_default_graph(), "_last_loss_reduction", None)
    return sum_ if last in (tf.compat.v1.losses.Reduction.SUM, "sum") else mean


# Arguments that no strategy can use, where all surfaces' calls pass.


@contextlib.contextmanager
def explained(method: str, fn: Any, args: Args, kwargs: Mapping[str, Any] | None) -> Iterator[None]:
    """Context manager: where `fn` cannot be called with these arguments, the error says so."""
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
    """Refuses what is no dataset."""
    if not isinstance(dataset, functions.DatasetV2):
        raise ArgumentTypeError(
            "%s(%.80r)" % (method, dataset),
            "it splits the batches of a tf.data.Dataset",
            "tf.data.Dataset.from_tensor_slices(arrays).batch(n), with n the examples of a step "
            "of all replicas together",
        )


def require_dataset_function(method: str, dataset_fn: object) -> None:
    """Refuses a dataset in the place of a function that makes one."""
    if not callable(dataset_fn):
        raise ArgumentTypeError(
            "%s(%.80r)" % (method, dataset_fn),
            "it calls a function that makes the dataset, once for each host or replica",
            "%s(lambda *context: dataset)" % method,
        )


def require_reduction(reduce_op: object, value: object, axis: int | None) -> None:
    """Refuses a reduction that there is none of, or an axis that no component has."""
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
