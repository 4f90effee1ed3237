"""How a rule is broken, and which cases have to notice."""

import collections
import functools

import numpy as np
import tensorflow as tf

from tests.virtual.harness import SUM

#: A broken rule: its op type, and how it is broken.
Mutant = collections.namedtuple("Mutant", "op_type how")

#: Ops whose results are the same whatever their input: there is nothing to notice.
CONSTANT = ("OnesLike", "ZerosLike")
#: What changes no result: one value along each axis may be turned.
_WITHOUT_EFFECT = [Mutant("Fill", "axis turned")]


class Rules:
    """The rules of some registries, and what each needs.

    A subclass has the cases: `cases()`, their names, and `check(name)`, which raises if one
    does not hold.

    Attributes:
      registries: {suffix of the op type in names: {op type: rule}}.
      ways: {how a rule is broken: function of the batched value of its output 0, which
        returns the broken one, or None if the value cannot be broken so}.
      constant: op types of which there is nothing to notice.
    """

    registries = {}
    ways = {}
    constant = CONSTANT

    def __init__(self, only=()):
        self._only = set(only)
        self._users = collections.defaultdict(list)
        self._kinds = collections.defaultdict(set)
        for name in self.cases():
            used = set()
            with _Replaced(self.registries, functools.partial(self._noting, used)):
                self.check(name)
            for key in used:
                self._users[key].append(name)

    def _noting(self, used, key, rule):
        def noted(node):
            outputs = rule(node)
            if outputs:
                used.add(key)
                self._kinds[key].update(
                    how for how, change in self.ways.items() if change(outputs[0]) is not None
                )
            return outputs

        return noted

    def mutants(self):
        """All `Mutant`."""
        every = [
            Mutant(op_type + suffix, how)
            for suffix, registry in sorted(self.registries.items())
            for op_type in sorted(set(registry).difference(self.constant))
            if not self._only or op_type in self._only
            for how in sorted(self._kinds[suffix, op_type]) or ["never reached"]
        ]
        return [each for each in every if each not in _WITHOUT_EFFECT]

    def is_noticed(self, mutant):
        """Whether a case fails while the rule is broken."""

        def change(key, rule):
            return self._broken(rule, mutant.how) if _name(key) == mutant.op_type else rule

        users = [names for key, names in self._users.items() if _name(key) == mutant.op_type]
        with _Replaced(self.registries, change):
            return not all(map(self._holds, sum(users, [])))

    def _broken(self, rule, how):
        def broken(node):
            outputs = rule(node)
            changed = self.ways[how](outputs[0]) if outputs else None
            return outputs if changed is None else [changed] + list(outputs[1:])

        return broken

    def _holds(self, name):
        try:
            self.check(name)
        except Exception:  # whatever a broken rule leads to  # noqa: BLE001
            return False
        return True


def _name(key):
    suffix, op_type = key
    return op_type + suffix


def check_sum(fn, values, run):
    """Compares a sum over all replicas with TensorFlow's.

    Args:
      fn: a replica's part of the sum.
      values: the replicas' arguments.
      run: gives what a replica function returns on each replica.
    """

    def replica(x):
        context = tf.distribute.get_replica_context()
        return context.all_reduce(SUM, tf.convert_to_tensor(fn(x)))

    expected = sum(tf.convert_to_tensor(fn(tf.constant(v))).numpy() for v in values)
    for (outputs,) in run(replica, values):
        np.testing.assert_allclose(outputs, expected, 1e-4)


class _Replaced:
    """Context manager: puts ``change((suffix, op type), rule)`` in place of each rule."""

    def __init__(self, registries, change):
        self._registries = registries
        self._change = change

    def __enter__(self):
        self._before = {suffix: dict(rules) for suffix, rules in self._registries.items()}
        for suffix, rules in self._before.items():
            for op_type, rule in rules.items():
                self._registries[suffix][op_type] = self._change((suffix, op_type), rule)

    def __exit__(self, *unused):
        for suffix, rules in self._before.items():
            self._registries[suffix].update(rules)
