"""Merges and updates that are broken in turn, and the tests that have to notice."""

import collections
import contextlib

import pytest
import tensorflow as tf

from tpudist.virtual import extended, reductions
from tpudist.virtual.replicas import merge, program, segment_calls, uniformity
from tpudist.virtual.trace import segments
from tpudist.virtual.variables import splits
from tpudist.virtual.vectorize import batching
from tpudist.virtual.vectorize.values import batched_values, layouts

#: What is broken: the owner's attribute and what it becomes, given what it was; and the
#: test files that notice, the likeliest first.
Mutant = collections.namedtuple("Mutant", "name owner attribute change files")

RUN = "tests/conformance/test_run.py"
REDUCE, VARIABLES = "tests/conformance/test_reduce.py", "tests/virtual/variables/test_variables.py"
UNAGGREGATED, ONCE = (
    "tests/virtual/variables/test_unaggregated.py",
    "tests/virtual/variables/test_uniform_updates.py",
)
PODS, EFFECTS = "tests/virtual/test_pods.py", "tests/virtual/trace/test_effects.py"
BATCHED, PROGRAM = (
    "tests/virtual/vectorize/test_batching.py",
    "tests/virtual/replicas/test_program.py",
)
RANDOM, FLOW = (
    "tests/virtual/replicas/test_random_numbers.py",
    "tests/virtual/vectorize/test_control_flow.py",
)


def _constant(value):
    return lambda was: lambda *args, **kwargs: value


def _undivided(was):
    return lambda op, tensors, *rest: was(tf.distribute.ReduceOp.SUM, tensors, *rest)


def _one_less(was):
    return lambda op, tensors, *rest: was(op, list(tensors)[:-1] or tensors, *rest)


def _reversed(was):
    return lambda self, *args: list(was(self, *args))[::-1]


def _no_effects(was):
    return lambda *args: [part and part._replace(must_run=[]) for part in was(*args)]


def _first_only(was):
    def update(self, parts, once, *args):
        return was(self, parts[:1] * len(parts), once, *args)

    return update


def _forgets(was):
    def update(variable, update_fn, value, kwargs):
        return was(variable, lambda component, *args, **kw: component, value, kwargs)

    return update


def _swapped_sources(was):
    def source(self, tensor, replica):
        last = self._program.num_replicas - 1
        return was(self, tensor, replica if replica == "sum" else last - replica)

    return source


def _sum_for_mean(was):
    return lambda self, op, value: was(self, tf.distribute.ReduceOp.SUM, value)


MUTANTS = [
    Mutant("mean is not divided", reductions, "combine", _undivided, [REDUCE, PODS]),
    Mutant("sum leaves a replica out", reductions, "combine", _one_less, [REDUCE, PODS]),
    Mutant("mean along an axis is not divided", reductions, "combine_along", _undivided, [REDUCE]),
    Mutant("sum along an axis leaves one out", reductions, "combine_along", _one_less, [REDUCE]),
    Mutant(
        "sum of one value for all counts it once",
        batched_values.Uniform,
        "total",
        lambda was: lambda self, leaf="": self.value,
        [RUN, BATCHED],
    ),
    Mutant(
        "sum of a batch leaves a replica out",
        batched_values.Batch,
        "total",
        lambda was: lambda self, leaf="": tf.reduce_sum(self.stacked()[:-1], 0),
        [BATCHED, ONCE],
    ),
    Mutant(
        "parts of a batch swapped", batched_values.Batch, "per_replica", _reversed, [BATCHED, ONCE]
    ),
    Mutant(
        "parts of per-replica tensors swapped",
        batched_values.PerReplicaTensors,
        "per_replica",
        _reversed,
        [BATCHED, PROGRAM, RUN],
    ),
    Mutant(
        "a merge gets other replicas' values",
        segment_calls.Calls,
        "_source",
        _swapped_sources,
        [UNAGGREGATED, RUN],
    ),
    Mutant("a mean in a merge is not divided", merge.Merge, "reduced", _sum_for_mean, [RUN]),
    Mutant("differing updates count as equal", merge, "differs", _constant(False), [UNAGGREGATED]),
    Mutant("all values are uniform", uniformity.Uniformity, "holds", _constant(True), [ONCE]),
    Mutant(
        "a split variable stays uniform",
        uniformity.Uniformity,
        "has_changed",
        _constant(False),
        [ONCE],
    ),
    Mutant(
        "no trace is outdated",
        program.Program,
        "is_outdated",
        _constant(False),
        [ONCE, UNAGGREGATED],
    ),
    Mutant("an update for all is lost", splits, "update_once", _forgets, [ONCE]),
    Mutant("variables are not split", splits, "split", _constant(None), [ONCE, VARIABLES]),
    Mutant(
        "an update of copies is the first one's",
        extended.VirtualExtended,
        "_update_copies",
        _first_only,
        [UNAGGREGATED],
    ),
    Mutant("effects are dropped", segments, "cut", _no_effects, [EFFECTS, VARIABLES]),
    Mutant("replicas interleave", batching, "_serialized", _constant(set()), [EFFECTS]),
    Mutant(
        "replicas draw the same numbers",
        program.Program,
        "number_random_ops",
        _constant(None),
        [RANDOM],
    ),
    Mutant("packed values are swapped", layouts.Optionals, "per_replica", _reversed, [FLOW]),
]


@contextlib.contextmanager
def broken(mutant):
    """The package with one thing broken."""
    was = getattr(mutant.owner, mutant.attribute)
    setattr(mutant.owner, mutant.attribute, mutant.change(was))
    try:
        yield
    finally:
        setattr(mutant.owner, mutant.attribute, was)


def is_noticed(mutant):
    """Whether a test fails while the package is broken."""
    with broken(mutant):
        return any(
            pytest.main(["-x", "-q", "--no-header", "-p", "no:cacheprovider", path]) == 1
            for path in mutant.files
        )
