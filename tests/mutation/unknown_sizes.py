"""Rules for numbers of rows that only the run knows, broken in turn, and their cases."""

import fractions
import functools

import tensorflow as tf

from tests.mutation import breaking, rules
from tests.virtual.vectorize import test_unknown_sizes, unknown_cases
from tpudist.system import cluster
from tpudist.v2_2.strategy import TPUStrategy
from tpudist.virtual.vectorize.rules import dims, elementwise, ragged
from tpudist.virtual.vectorize.values import ragged_values
from tpudist.virtual.vectorize.values.known_shapes import Dims


def _turned(batched):
    """The rows one place on: another row, or another replica's."""
    if not isinstance(batched, ragged_values.Ragged):
        return None
    rows = tf.roll(batched.rows(), 1, 0)
    return ragged_values.Ragged(batched.count, batched.shape[1:], batched.sizes, rows=rows)


def _unknown():
    return ragged_values.Key(frozenset([object()]), fractions.Fraction(1))


def _stripped(batched):
    """Numbers of which nothing is known, one too large."""
    if not isinstance(batched, Dims):
        return None
    return Dims(
        batched.count,
        [
            ragged_values.Sizes(_unknown(), lambda entry=entry: entry.tensor() + 1)
            if isinstance(entry, ragged_values.Sizes)
            else entry
            for entry in batched.entries
        ],
        batched.dtype,
        batched.scalar,
    )


WAYS = {
    "rows turned": _turned,
    "one more": _stripped,
    "replicas swapped": lambda held: None if isinstance(held, Dims) else rules.swapped(held),
    "replica left out": rules.left_out,
}


class UnknownSizes(breaking.Rules):
    """The cases of tests/virtual/vectorize/unknown_cases.py, and what each needs."""

    registries = {" of rows": ragged.RULES, " of shapes": dims.RULES}
    ways = WAYS
    constant = breaking.CONSTANT + ("BroadcastGradientArgs", "ConcatOffset")

    def __init__(self, only=()):
        self._strategy = TPUStrategy(cluster.TPUClusterResolver("virtual:%d" % rules.CORES))
        self._cases = {}
        for op_type in elementwise.UNARY + elementwise.BROADCAST + elementwise.SAME_SHAPE:
            fn = functools.partial(unknown_cases.each_op, op_type)
            self._cases["only " + op_type] = fn, (6,)
        self._cases.update((name, (fn, (6, 1))) for name, fn in unknown_cases.CASES.items())
        super().__init__(only)

    def cases(self):
        """The names of the cases, those of one op first."""
        return list(self._cases) + list(unknown_cases.SUMS)

    def check(self, name):
        """Raises if the case does not hold."""
        if name in self._cases:
            fn, widths = self._cases[name]
            test_unknown_sizes.check(self._strategy, fn, ["last"], widths)
            return
        values = test_unknown_sizes.shares(test_unknown_sizes.SIZES["last"])
        breaking.check_sum(unknown_cases.SUMS[name], values, self._run)

    def _run(self, replica, values):
        return test_unknown_sizes.batched(self._strategy, replica, [6])(values)
