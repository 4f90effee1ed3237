"""Rules for numbers of rows that only the run knows, broken in turn, and their cases."""

import collections
import functools

import numpy as np
import tensorflow as tf

from tests.mutation import rules
from tests.virtual import test_unknown_sizes, unknown_cases
from tpudist.core import cluster
from tpudist.v2_2.strategy import TPUStrategy
from tpudist.virtual import uneven_values
from tpudist.virtual.batching_rules import dims, elementwise, uneven
from tpudist.virtual.symbolic_shapes import Dims

_REGISTRIES = {"rows": uneven.RULES, "shapes": dims.RULES}


def _turned(batched):
    """The rows one place on: another row, or another replica's."""
    if not isinstance(batched, uneven_values.Uneven):
        return None
    rows = tf.roll(batched.rows(), 1, 0)
    return uneven_values.Uneven(batched.count, batched.shape[1:], batched.sizes, rows=rows)


def _stripped(batched):
    """Numbers of which nothing is known, one too large."""
    if not isinstance(batched, Dims):
        return None
    return Dims(
        batched.count,
        [
            uneven_values.unknown(lambda entry=entry: entry.tensor() + 1)
            if isinstance(entry, uneven_values.Sizes)
            else entry
            for entry in batched.entries
        ],
        batched.dtype,
        batched.scalar,
    )


WAYS = {
    "rows turned": _turned,
    "one more": _stripped,
    "replicas swapped": lambda held: None if isinstance(held, Dims) else rules._swapped(held),
    "replica left out": rules._left_out,
}


class UnknownSizes:
    """The cases of tests/virtual/unknown_cases.py, and what each needs."""

    def __init__(self, only=()):
        self._only = set(only)
        self._strategy = TPUStrategy(cluster.TPUClusterResolver("virtual:%d" % rules.CORES))
        self._cases = {name: (fn, (6, 1)) for name, fn in unknown_cases.CASES.items()}
        for op_type in elementwise.UNARY + elementwise.BROADCAST + elementwise.SAME_SHAPE:
            fn = functools.partial(unknown_cases.each_op, op_type)
            self._cases["only " + op_type] = fn, (6,)
        self._users = collections.defaultdict(list)
        self._kinds = collections.defaultdict(set)
        for name in list(self._cases) + list(unknown_cases.SUMS):
            used = set()
            with Replaced(functools.partial(self._noting, used)):
                self._holds(name)
            for key in used:
                self._users[key].append(name)
        for names in self._users.values():
            names.sort(key=lambda name: not name.startswith("only "))

    def _noting(self, used, key, rule):
        def noted(node):
            found = rule(node)
            for how, change in WAYS.items() if found else ():
                if change(found[0]) is not None:
                    used.add(key)
                    self._kinds[key].add(how)
            return found

        return noted

    def mutants(self):
        """All `rules.Mutant`; their op types are told with the registry."""
        return [
            rules.Mutant("%s of %s" % (op_type, kind), how)
            for kind, registry in sorted(_REGISTRIES.items())
            for op_type in sorted(registry)
            if not self._only or op_type in self._only
            for how in sorted(self._kinds[kind, op_type]) or ["never reached"]
            if op_type not in rules.CONSTANT + ("BroadcastGradientArgs", "ConcatOffset")
        ]

    def is_noticed(self, mutant):
        """Whether a case fails while the rule is broken."""
        op_type, kind = mutant.op_type.split(" of ")

        def broken(key, rule):
            return _broken(rule, mutant.how) if key == (kind, op_type) else rule

        with Replaced(broken):
            return not all(map(self._holds, self._users[kind, op_type]))

    def _holds(self, name):
        try:
            if name in self._cases:
                fn, widths = self._cases[name]
                test_unknown_sizes.check(self._strategy, fn, ["last"], widths)
            else:
                self._check_sum(unknown_cases.SUMS[name])
        except (AssertionError, ValueError, tf.errors.OpError):
            return False
        return True

    def _check_sum(self, fn):
        def replica(x):
            context = tf.distribute.get_replica_context()
            return context.all_reduce(test_unknown_sizes.SUM, fn(x))

        values = test_unknown_sizes.shares(test_unknown_sizes.SIZES["last"])
        expected = sum(tf.convert_to_tensor(fn(tf.constant(v))).numpy() for v in values)
        for (found,) in test_unknown_sizes.joined(self._strategy, replica, [6])(values):
            np.testing.assert_allclose(found, expected, 1e-4)


def _broken(rule, how):
    def broken(node):
        found = rule(node)
        changed = WAYS[how](found[0]) if found else None
        return found if changed is None else [changed] + list(found[1:])

    return broken


class Replaced:
    """Context manager: puts ``change((registry, op type), rule)`` in place of each rule."""

    def __init__(self, change):
        self._change = change

    def __enter__(self):
        self._before = {kind: dict(registry) for kind, registry in _REGISTRIES.items()}
        for kind, registry in self._before.items():
            for op_type, rule in registry.items():
                _REGISTRIES[kind][op_type] = self._change((kind, op_type), rule)

    def __exit__(self, *unused):
        for kind, registry in self._before.items():
            _REGISTRIES[kind].update(registry)
