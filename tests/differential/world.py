"""Executes a program on one strategy."""

import numpy as np
import tensorflow as tf

from tests.differential import tensor_ops
from tests.differential.replica import LIMIT, Replica
from tpudist.tfcompat import distributed, nests, versions

SUM = tf.distribute.ReduceOp.SUM
_v1 = tf.compat.v1


def _layers(actions):
    """The names of the Keras layers that a program uses."""
    blocks = [details[0] for kind, *details in actions if kind == "run"]
    return sorted({op[1] for block in blocks for op in block if op[0] == "keras"})


class World:
    """The variables, optimizers and functions of one program.

    Args:
      strategy: a strategy of `count` replicas.
      run: the strategy's ``run``, whatever its name.
      program: see :mod:`programs`.
      mode: "function" or "graph".
    """

    def __init__(self, strategy, run, program, mode):
        self.strategy, self._run = strategy, run
        self._count = strategy.num_replicas_in_sync
        self.in_graph = mode == "graph"
        self._descriptions = program["variables"]
        self._actions = program["actions"]
        self.detours = program.get("detours", True)
        self._optimizers, self._functions, self._runs = {}, {}, []
        _v1.set_random_seed(program.get("seed", 7))
        self.shared = [] if self.in_graph else [tf.Variable(0.0), tf.Variable(1.0)]
        with strategy.scope():
            self.variables = [
                self._variable(i, description) for i, description in enumerate(self._descriptions)
            ]
            self.layers = {name: tensor_ops.built(name) for name in _layers(self._actions)}
            if versions.TRACE_ONCE:  # 2.4, before which a scope refuses it
                self.generator = tf.random.Generator.from_seed(program.get("seed", 7))
        self.merges = {
            name[len("_merge_") :]: getattr(self, name)
            for name in dir(self)
            if name.startswith("_merge_")
        }

    def _variable(self, index, description):
        make = _v1.Variable if self.in_graph else tf.Variable
        options = {"use_resource": True} if self.in_graph else {}
        return make(
            np.full(description["shape"], description["initial"], description["dtype"]),
            name="v%d" % index,
            synchronization=tf.VariableSynchronization[description["sync"]],
            aggregation=tf.VariableAggregation[description["aggregation"]],
            trainable=description["sync"] != "ON_READ",
            **options,
        )

    def fit(self, value, index):
        """`value` as something that may be assigned to a variable."""
        description = self._descriptions[index]
        value = tf.cast(tf.reduce_sum(value), description["dtype"])
        return tf.fill(description["shape"], value)

    def nested(self, block, function):
        """The tf.function of a block; one for all replicas and calls."""
        return self._functions.setdefault(id(block), tf.function(function, autograph=False))

    def optimizer(self, which, index):
        """The optimizer of that kind for a variable; made when first used."""
        if (which, index) not in self._optimizers:
            make = {
                "descent": lambda: _v1.train.GradientDescentOptimizer(0.5),
                "momentum": lambda: _v1.train.MomentumOptimizer(0.25, 0.5),
                "keras": lambda: tf.keras.optimizers.SGD(0.5),
            }[which]
            self._optimizers[which, index] = make()
        return self._optimizers[which, index]

    # What merge functions do.

    def _merge_reduce(self, strategy, number, index):
        return strategy.reduce(SUM, number, axis=None)

    def _merge_batch(self, strategy, number, index):
        first, second = strategy.extended.batch_reduce_to(
            SUM, [(number, number), (number, self.variables[index])]
        )
        return (
            strategy.experimental_local_results(first)[0]
            + (strategy.experimental_local_results(second)[-1])
        )

    def _merge_local(self, strategy, number, index):
        parts = strategy.experimental_local_results(number)
        return tf.add_n([part * (i + 1.0) for i, part in enumerate(parts)])

    def _merge_update(self, strategy, number, index):
        return strategy.extended.update(
            self.variables[index],
            lambda variable, total: variable.assign_add(self.fit(total, index)),
            args=(strategy.reduce(SUM, number, axis=None),),
        )

    def _merge_assign(self, strategy, number, index):
        total = strategy.reduce(SUM, number, axis=None)
        result = self.variables[index].assign_add(self.fit(total, index))
        return tf.group(self._operations(result)) if self.in_graph else None

    def _merge_read(self, strategy, number, index):
        total = strategy.reduce(SUM, number, axis=None)
        return total + tf.cast(tf.reduce_sum(self.variables[index] + 0), tf.float32)

    def _operations(self, result):
        parts = [
            part
            for leaf in nests.flatten(result)
            for part in self.strategy.experimental_local_results(leaf)
        ]
        return [getattr(part, "op", part) for part in parts if part is not None]

    # Actions: each yields what a user can see of it, step by step.

    def steps(self):
        """Yields (name of the action, nest of tensors) until the end."""
        for kind, *details in self._actions:
            with self.strategy.scope():
                for seen in getattr(self, "_act_" + kind)(*details):
                    yield kind, seen
            with self.strategy.scope():
                yield "state", [self._state(v) for v in self.variables]
                yield "shared", [variable.read_value() for variable in self.shared]

    def _state(self, variable):
        parts = self.strategy.experimental_local_results(variable)
        state = {"parts": [part.read_value() for part in parts]}
        try:
            state["read"] = variable.read_value()
        except ValueError:
            state["read"] = "cannot be read in cross-replica context"
        return state

    def _act_run(self, block, form):
        def replica_fn(examples):
            number = Replica(self, examples).run(block)
            return number, number * 2.0

        def once():
            examples = self._per_replica([[i + 1.0, 2.0 * i] for i in range(self._count)])
            numbers, doubled = self._run(inner, args=(examples,))
            return (
                self.strategy.experimental_local_results(numbers),
                self.strategy.reduce(SUM, doubled, axis=None),
            )

        def loop():
            total = tf.constant(0.0)
            for _ in tf.range(2):
                # Random ops wait for nothing (LEGACY_RANDOM_OPS of auto_control_deps.py):
                # those of two iterations would change places, on either engine.
                tf.autograph.experimental.set_loop_options(parallel_iterations=1)
                _, doubled = once()
                total += tf.clip_by_value(doubled, -LIMIT, LIMIT)
            return total

        inner = tf.autograph.experimental.do_not_convert(replica_fn)
        if form == "function":
            inner = tf.function(replica_fn, autograph=False)
        outer = {"loop": loop, "twice": lambda: (once(), once())}.get(form, once)
        self._runs.append(self._prepare(outer, form == "loop"))
        yield self._runs[-1]()

    def _act_again(self, number):
        if self._runs:
            yield self._runs[number % len(self._runs)]()

    def _prepare(self, build, autograph=False):
        """What runs `build` each time it is called; traced once."""
        if not self.in_graph:
            return tf.function(build, autograph=autograph)
        built = build()
        return lambda: built

    def _per_replica(self, rows, sizes_are_known=True):
        shape = None if sizes_are_known else [None]
        return distributed.per_replica(
            self.strategy.extended,
            [
                _v1.placeholder_with_default(tf.constant(row, tf.float32), shape or [len(row)])
                for row in rows
            ],
        )

    def _act_uneven(self, name, total):
        """A batch of `total` examples, dealt out as a dataset does it.

        Up to 2.1, MirroredStrategy cannot divide by a number of examples that
        the graph knows; see "mean of known sizes" in :mod:`differences`.
        """
        share = -(-total // self._count)
        rows = [list(range(total))[share * i : share * (i + 1)] for i in range(self._count)]

        def reduced():
            batch = self._per_replica(
                rows,
                sizes_are_known=(total % 2 == 0 and not (self.detours and versions.DEVICE_MAP)),
            )
            squares = self._run(tf.square, args=(batch,))
            return self.strategy.reduce(tf.distribute.ReduceOp[name], squares, axis=0)

        yield self._prepare(reduced)()

    def _act_cross(self, steps):
        for kind, *details in steps:
            yield getattr(self, "_cross_" + kind)(*details)

    def _cross_assign(self, index, method, constant):
        result = getattr(self.variables[index], method)(
            self.fit(tf.constant(float(constant)), index)
        )
        return self._operations(result) if self.in_graph else None

    def _cross_read(self, index):
        return self.variables[index].read_value()

    def _cross_sum(self, first, second):
        return [tf.cast(tf.reduce_sum(self.variables[i] * 1), tf.float32) for i in (first, second)]

    def _cross_broadcast(self, constant):
        return self.strategy.experimental_local_results(
            self.strategy.extended.broadcast_to(tf.constant(float(constant)), self.variables[0])
        )

    def _act_update(self, target, source, method, constant, group):
        try:
            value = self.variables[source].read_value()
        except ValueError:
            value = tf.constant(1.0)
        result = self.strategy.extended.update(
            self.variables[target],
            lambda variable, value: getattr(variable, method)(
                self.fit(value, target) + self.fit(tf.constant(float(constant)), target)
            ),
            args=(value,),
            group=group,
        )
        yield self._operations(result) if self.in_graph else None
