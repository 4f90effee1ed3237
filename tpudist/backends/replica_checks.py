"""Compares what the replicas of all workers hold of each variable.

Every worker computes the updates of its own copies. They stay equal while all workers compute the
same: a program that asks the time, or a file that differs, for what it assigns, lets them part.
"""

from __future__ import annotations

import collections
import contextlib
import json
import os
import sys
import weakref
from typing import TYPE_CHECKING, Any, Sequence

import tensorflow as tf

from tpudist import machine
from tpudist.errors import ArgumentError, CollectiveError
from tpudist.system import tasks
from tpudist.tfcompat import clusters, distributed

if TYPE_CHECKING:
    from tpudist.tfcompat.annotations import Tensor


#: Seconds that a worker waits for what the chief's variables are.
_WAITS = 30

#: The checks of all strategies.
_checks: list[Any] = []


class ReplicaCheck:
    """Compares the variables of a strategy before the first step, after a restore, and at the end.

    With ``--check-replicas N`` after the first step and every N-th too, and what differs is an
    error. A step is a call of ``run`` or ``call_for_each_tower``.
    """

    def __init__(self, extended: Any, every: int) -> None:
        self._extended, self._every = extended, every
        self._variables: list[Any] = []
        self._has_started = False
        self._places: collections.Counter[str] = collections.Counter()
        if every:
            with tf.device(extended.host):
                self._step = tf.Variable(0, trainable=False, dtype=tf.int64)
        _checks.append(weakref.ref(self))

    @classmethod
    def asked_for(cls, extended: object) -> ReplicaCheck | None:
        """The check that the environment asks for; None if it is "0"."""
        asked = os.environ.get(machine.CHECK_REPLICAS) or ""
        return None if asked == "0" else cls(extended, int(asked or 0))

    def watch(self, variable: object) -> None:
        """Compares a variable from now on, if it is mirrored; copies of others may differ."""
        if distributed.is_mirrored(variable):
            self._variables.append(weakref.ref(variable))

    def before_step(self) -> None:
        """Compares the variables before the first step that has some."""
        if self._variables and not self._has_started:
            self._has_started = True
            self.compare()

    def after_step(self) -> None:
        """Compares the variables after the first step, and after every N-th, if that is asked for.

        Context: cross-replica; a ``tf.function``, whose every call is a step, or eager.
        """
        if not self._every:
            return
        with tf.init_scope():
            if not tf.executing_eagerly():
                raise ArgumentError(
                    "--check-replicas %d, and a step in a graph with Sessions" % self._every,
                    "a Session runs what it fetches alone, and no comparison",
                    "no --check-replicas; or the step in a tf.function",
                )
        variables = self._found()
        names = [variable.name for variable in variables]
        if variables:
            with tf.device(self._extended.host):
                turn = tf.equal((self._step.assign_add(1) - 1) % self._every, 0)
                tf.cond(turn, lambda: self._compared(variables, names), lambda: turn)

    def compare(self) -> None:
        """Compares the variables with the chief's, which says them; nothing in a Session's graph.

        It is no collective: a worker that alone comes here goes on after a while.
        """
        with tf.init_scope():
            variables = self._found()
            if not variables or not tf.executing_eagerly():
                return
            with tf.device(self._extended.host):
                rows = self._checksums(variables).numpy()
        own = tasks.own()
        place = machine.line_of_the_program() or "the end"
        self._places[place] += 1
        key = "variables at %s, %d" % (place, self._places[place])
        first = json.dumps(rows[0].tolist())
        if own.is_chief:
            clusters.say_written(key, first)
        with contextlib.suppress(CollectiveError):
            first = first if own.is_chief else clusters.wait_until_written(key, first, _WAITS)
        start = distributed.local_replicas(self._extended).start
        try:
            _refuse_differences(json.loads(first), rows, start, [each.name for each in variables])
        except CollectiveError as error:
            if self._every:
                raise
            print("tpudist: %s" % error, file=sys.stderr, flush=True)

    def _found(self) -> list[Any]:
        found = [each() for each in self._variables]
        return [variable for variable in found if variable is not None]

    def _checksums(self, variables: Sequence[Any]) -> Tensor:
        """A row of each of this worker's replicas."""
        copies = zip(*map(distributed.components, variables))
        return tf.stack([tf.stack([_checksum(copy) for copy in row]) for row in copies])

    def _compared(self, variables: Sequence[Any], names: Sequence[str]) -> Tensor:
        own = distributed.local_replicas(self._extended)
        after = self._extended._num_replicas_in_sync - own.stop
        padded = tf.pad(self._checksums(variables), [[own.start, after], [0, 0]])
        [table] = self._extended.over_workers(tf.distribute.ReduceOp.SUM, [padded])

        def look(rows: Any) -> bool:
            return _refuse_differences(rows[0], rows, 0, names)

        if tf.executing_eagerly():
            return tf.constant(look(table.numpy()))
        return tf.numpy_function(look, [table], tf.bool)


def compare_all() -> None:
    """Compares the variables of each strategy of a cluster, unless that is not to be."""
    for check in [each() for each in _checks]:
        if check is not None:
            check.compare()


def _checksum(variable: Any) -> Tensor:
    """Returns an int64 that changes with every single bit of the variable's value."""
    value = variable.read_value()
    if value.dtype == tf.string:
        bits = tf.strings.to_hash_bucket_fast(value, 2**31)
    elif value.dtype == tf.bool:
        bits = tf.cast(value, tf.int64)
    else:
        bits = tf.bitcast(value, tf.uint8)
    flat = tf.reshape(tf.cast(bits, tf.int64), [-1])
    return tf.reduce_sum((flat + 1) * (tf.range(tf.size(flat, tf.int64)) * 2 + 1))


def _refuse_differences(first: Any, rows: Any, start: int, names: Sequence[str]) -> bool:
    """Raises an error if the checksums of a replica differ from `first`, those of replica 0.

    Each of `rows` has the checksums of one replica, from the one with the id `start` on.
    """
    for name, number, column in zip(names, first, rows.T):
        others = [start + i for i, other in enumerate(column) if other != number]
        if others:
            raise CollectiveError(
                "the variable %r of replica(s) %s is not as on replica 0"
                % (name, ", ".join(map(str, others))),
                "each worker updates its own copies, which stay equal only if all workers assign "
                "the same: no time, file or random number of a worker's own",
                "strategy.reduce(...), or all_reduce in the replica function, before assigning",
            )
    return True
