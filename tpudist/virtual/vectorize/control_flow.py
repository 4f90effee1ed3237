"""Batches branches, loops and calls of a trace: the ops inside of them too.

The functions of a loop are batched again and again until it is known how each variable of
the loop is held: it begins as what enters the loop, and ends as what holds that and the
result of a round.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from tpudist.virtual.identity_map import IdentityMap
from tpudist.virtual.vectorize import (
    batched_functions,
    batched_values,
    called_functions,
    divergent_branches,
    divergent_loops,
    optionals,
    replica_sums,
    unequal_rounds,
)
from tpudist.virtual.vectorize.batched_functions import Part

if TYPE_CHECKING:
    from typing import Any

    from tpudist.tfcompat.annotations import Operation
    from tpudist.virtual.annotations import Loop


#: A variable of a loop is held in at most five ways, one after the other.
_ROUNDS = 12


def batch(batched: Any, op: Operation, given: Any, wanted: Any) -> Any:
    """The batched values of the outputs of `op`, a branch, loop or call.

    Args:
      batched: the `batched_graph.BatchedGraph` that gets the ops.
      op: an op of the trace that has no effect.
      given: the batched value of each of its inputs.
      wanted: for each output, whether only the sum over the replicas is needed.

    Raises:
      NotBatchable: it can not be batched.
    """
    if op.type in called_functions.CALLS:
        return _call(batched, op, given, wanted)
    if op.type in called_functions.LOOPS:
        return _loop(batched, op, given, wanted)
    return _branches(batched, op, given, wanted)


def _call(batched: Any, op: Operation, given: Any, wanted: Any) -> Any:
    function = called_functions.function(op)
    if function is None:
        raise batched_values.NotBatchable("the function is compiled by XLA or not known")
    inner = batched.inside(replica_sums.in_function(function, wanted))
    inner.add_function(function, given)
    batched.record.add(inner.record)
    return inner.held(function.outputs)


def _branches(batched: Any, op: Operation, given: Any, wanted: Any) -> Any:
    functions = called_functions.branches(op)
    if functions is None:
        raise batched_values.NotBatchable("the function is compiled by XLA or not known")
    if not isinstance(given[0], batched_values.Uniform):
        return divergent_branches.batch(batched, op, given, functions)
    parts = [Part(batched, f, given[1:], replica_sums.in_function(f, wanted)) for f in functions]
    results = zip(*[part.outputs for part in parts])
    outlines = [functools.reduce(batched_values.merged, each) for each in results]
    made = batched_functions.branches(op, given, parts, outlines)
    made = [
        value.after(given[0].value, [part.outputs[i] for part in parts])
        if isinstance(value, optionals.Optionals)
        else value
        for i, value in enumerate(made)
    ]
    for part in parts:
        batched.record.add(part.record)
    return made


def _loop(batched: Any, op: Operation, given: Any, wanted: Any) -> Any:
    loop = called_functions.loop(op)
    if loop is None:
        raise batched_values.NotBatchable("the function is compiled by XLA or not known")
    enough = replica_sums.of_loop(loop, wanted)
    counted = unequal_rounds.gradient_of(loop, given)
    if counted is not None:
        return divergent_loops.batch_gradient(batched, op, given, loop, counted, enough)
    body, held = _settled(batched, loop, given, replica_sums.in_function(loop.body, enough))
    condition = Part(batched, loop.condition, held, IdentityMap())
    if not isinstance(condition.outputs[0], batched_values.Uniform):
        return divergent_loops.batch(batched, op, given, loop)
    made = batched_functions.loop(op, given, held, condition, body)
    batched.record.add(body.record)
    return made


def _settled(batched: Any, loop: Loop, given: Any, needed: Any) -> tuple[Any, ...]:
    """The `Part` of one round, and how it holds the variables of the loop."""
    held = list(given)
    for _ in range(_ROUNDS):
        body = Part(batched, loop.body, held, needed)
        grown = [batched_values.merged(one, other) for one, other in zip(held, body.outputs)]
        if all(batched_values.is_like(one, other) for one, other in zip(held, grown)):
            return body, held
        held = grown
    raise batched_values.NotBatchable("the loop does not settle")
