"""Batching rules that are broken in turn, and the cases that have to notice.

Each rule is broken in each way that its outputs allow: replicas swapped, an axis turned,
a replica left out of a sum.
"""

import collections
import functools

import numpy as np
import tensorflow as tf

from tests.virtual import joining_cases, test_joining
from tpudist.core import cluster
from tpudist.v2_2.strategy import TPUStrategy
from tpudist.virtual import batched_values, batching_rules

CORES = test_joining.CORES

#: A broken rule: its op type, and how it is broken.
Mutant = collections.namedtuple("Mutant", "op_type how")


def _swapped(batched):
    if not isinstance(batched, batched_values.Batch):
        return None
    return batched_values.Batch(CORES, batched.shape, stacked=tf.reverse(batched.stacked(), [0]))


def _turned(batched):
    if not isinstance(batched, batched_values.Batch) or max(batched.shape or [1]) < 2:
        return None
    axis = 1 + int(np.argmax(batched.shape))
    return batched_values.Batch(CORES, batched.shape, stacked=tf.roll(batched.stacked(), 1, axis))


def _left_out(batched):
    if not isinstance(batched, batched_values.Total):
        return None
    share = tf.cast((CORES - 1.0) / CORES, batched.value.dtype)
    return batched_values.Total(batched.value * share)


def _list_swapped(batched):
    if not isinstance(batched, batched_values.Lists):
        return None
    held = {"element_shape": tf.constant([CORES] + batched.shape), "element_dtype": tf.float32}
    stacked = tf.raw_ops.TensorListStack(input_handle=batched.value, **held)
    swapped = tf.raw_ops.TensorListFromTensor(
        tensor=tf.reverse(stacked, [1]), element_shape=held["element_shape"]
    )
    return batched.like([swapped])


def _one_more(batched):
    if not isinstance(batched, batched_values.Uniform) or not batched.value.dtype.is_integer:
        return None
    return batched_values.Uniform(CORES, batched.value + 1)


WAYS = {
    "replicas swapped": _swapped,
    "axis turned": _turned,
    "replica left out": _left_out,
    "replicas' lists swapped": _list_swapped,
    "one more": _one_more,
}

#: Ops whose results are the same whatever their input: there is nothing to notice.
CONSTANT = ("OnesLike", "ZerosLike")


class Rules:
    """The cases of tests/virtual/joining_cases.py, and what each needs."""

    def __init__(self, only=()):
        self._only = set(only)
        self._strategy = TPUStrategy(cluster.TPUClusterResolver("virtual:%d" % CORES))
        self._values = test_joining.shares(4, 6)
        self._cases = dict(joining_cases.CASES)
        table = tf.Variable(joining_cases.kernel(6, 2))
        self._cases["gather of a table"] = lambda x: tf.gather(table, joining_cases.labels(x))
        self._sums = joining_cases.SUMS
        self._users = collections.defaultdict(list)
        self._learn()

    def _learn(self):
        """Notes which cases reach each rule, and the kinds of what it gives."""
        self._kinds = collections.defaultdict(set)
        for name in list(self._cases) + list(self._sums):
            used = set()
            with Replaced(functools.partial(self._noting, used)):
                self._holds(name)
            for op_type in used:
                self._users[op_type].append(name)

    def _noting(self, used, op_type, rule):
        def noted(node):
            found = rule(node)
            if found:
                used.add(op_type)
                for how, change in WAYS.items():
                    if change(found[0]) is not None:
                        self._kinds[op_type].add(how)
            return found

        return noted

    def mutants(self):
        """All `Mutant`."""
        return [
            Mutant(op_type, how)
            for op_type in sorted(set(batching_rules.RULES).difference(CONSTANT))
            if not self._only or op_type in self._only
            for how in sorted(self._kinds[op_type]) or ["never reached"]
        ]

    def is_noticed(self, mutant):
        """Whether a case fails while the rule is broken."""

        def broken(op_type, rule):
            return _broken(rule, mutant.how) if op_type == mutant.op_type else rule

        with Replaced(broken):
            return not all(map(self._holds, self._users[mutant.op_type]))

    def _holds(self, name):
        try:
            if name in self._cases:
                test_joining.check(self._strategy, self._cases[name], self._values)
            else:
                self._check_sum(self._sums[name])
        except Exception:  # whatever a broken rule leads to
            return False
        return True

    def _check_sum(self, fn):
        def replica(x):
            context = tf.distribute.get_replica_context()
            return context.all_reduce(test_joining.SUM, tf.convert_to_tensor(fn(x)))

        expected = sum(tf.convert_to_tensor(fn(tf.constant(v))).numpy() for v in self._values)
        for (found,) in test_joining.run(self._strategy, replica, self._values):
            np.testing.assert_allclose(found, expected, 1e-4)


def _broken(rule, how):
    def broken(node):
        found = rule(node)
        changed = WAYS[how](found[0]) if found else None
        return found if changed is None else [changed] + list(found[1:])

    return broken


class Replaced:
    """Context manager: puts ``change(op type, rule)`` in place of each rule."""

    def __init__(self, change):
        self._change = change

    def __enter__(self):
        self._before = dict(batching_rules.RULES)
        for op_type, rule in self._before.items():
            batching_rules.RULES[op_type] = self._change(op_type, rule)

    def __exit__(self, *unused):
        batching_rules.RULES.update(self._before)
