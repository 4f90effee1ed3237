"""Reports the causes that :mod:`causes` finds: on stderr, as an error, or as a list."""

from __future__ import annotations

import os
import sys
import traceback
from typing import TYPE_CHECKING, Any, Callable, Sequence

from tpudist import machine
from tpudist.errors import ArgumentError, CompileError
from tpudist.tfcompat import distributed, nests, tpu
from tpudist.virtual import explanations
from tpudist.virtual.tpu_check import causes

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Extended, Operation
    from tpudist.virtual.replicas.program import Program

_MODES = ("warn", "error", "off")

#: What was found in this process, each once, in order.
_reported: dict[causes.Cause, None] = {}


def tpu_refusals() -> list[causes.Cause]:
    """Returns what a TPU would refuse of the replica functions that were traced so far.

    Context: any; nothing is traced. Implements no page: it is tpudist's own.

    Returns:
      A list of `Cause`, each once, in order: ``place`` ("file:line"), ``op_types`` (a tuple of
      str), ``why`` and ``instead``. It is empty if TPUDIST_TPU_CHECK is "off".
    """
    return list(_reported)


def check_program(program: Program, results: object) -> list[causes.Cause]:
    """Reports and returns what a TPU would refuse of a traced program.

    Raises:
      CompileError: (a RuntimeError) there is something, and TPUDIST_TPU_CHECK is "error".
    """
    return [] if _mode() == "off" else _report(lambda: _causes_of_program(program, results))


def check_ops(ops: Sequence[Operation], results: object) -> list[causes.Cause]:
    """Reports what a TPU would refuse of replicas that were traced one by one into one graph."""
    if not ops or _mode() == "off":
        return []
    return _report(lambda: causes.of(ops, _tensors(results, ops[0].graph), {}))


def check_pipeline(extended: Extended, dataset: object) -> None:
    """Reports what the hosts of a slice of several could not do of an input pipeline."""
    if extended.num_hosts > 1 and _mode() != "off":
        _report(
            lambda: causes.of_pipeline(dataset), "input pipeline of %d hosts" % extended.num_hosts
        )


def check_infeed(batch: object) -> None:
    """Reports what the infeed of a TPUEstimator does not take of a batch of one replica."""

    def find() -> list[causes.Cause]:
        dtypes = {each.dtype.name for each in nests.flatten(batch) if hasattr(each, "dtype")}
        here, op_types = explanations.place_in(traceback.extract_stack()), ("InfeedDequeueTuple",)
        instead = "tf.cast in the input function, to one of %s; strings stay there"
        instead %= ", ".join(sorted(tpu.INFEED_DTYPES))
        return [
            causes.Cause(here, op_types, "the infeed of a TPU takes no %s" % name, instead)
            for name in sorted(dtypes - tpu.INFEED_DTYPES)
        ]

    if _mode() != "off":
        _report(find, "input function")


def _causes_of_program(program: Program, results: object) -> list[causes.Cause]:
    sources = {id(placeholder): outer for placeholder, outer in program.arguments}
    needed = [results, [value for value, _ in program.deliveries]]  # what leaves the trace
    for merge in program.all_merges():
        sources.update((id(placeholder), [source]) for placeholder, source, _ in merge.inputs)
        sources.update((id(placeholder), tensors) for placeholder, tensors in merge.results)
        needed += [source for _, source, _ in merge.inputs]
    graphs = [(program.graph, needed)]
    graphs += [(merge.graph, [each for _, each in merge.results]) for merge in program.all_merges()]
    return [
        cause
        for graph, nest in graphs
        for cause in causes.of(graph.get_operations(), _tensors(nest, graph), sources)
    ]


def _mode() -> str:
    mode = os.environ.get(machine.TPU_CHECK) or "warn"
    if mode in _MODES:
        return mode
    raise ArgumentError(
        "%s=%s" % (machine.TPU_CHECK, mode), "it is one of %s" % ", ".join(_MODES), "warn"
    )


def _tensors(nest: object, graph: object) -> list[Any]:
    """Returns the tensors of a graph that are in a nest of tensors and distributed values."""
    parts = [part for leaf in nests.flatten(nest) for part in distributed.components(leaf)]
    flat = distributed.flatten(parts)
    return [each for each in flat if getattr(each, "graph", None) is graph and hasattr(each, "op")]


def _report(
    find: Callable[[], list[causes.Cause]], refused: str = "replica function"
) -> list[causes.Cause]:
    """Reports the causes that a function finds; if it fails, the program runs on."""
    try:
        found = find()
    except Exception as error:  # of whatever kind: the check may not stop a program
        if os.environ.get(machine.STRICT_BATCHING) == "1":
            raise
        said = "what a TPU would refuse of this %s is not known, the check of it failed: %s: %s"
        print(said % (refused, type(error).__name__, error), file=sys.stderr)
        return []
    if found and _mode() == "error":
        raise CompileError(
            "a TPU would refuse this %s:\n  %s" % (refused, "\n  ".join(map(str, found))),
            "%s=error ends the program there" % machine.TPU_CHECK,
            "what each line says, or %s=warn" % machine.TPU_CHECK,
        )
    for cause in found:
        if cause not in _reported:
            _reported[cause] = None
            print(cause, file=sys.stderr)
    return found
