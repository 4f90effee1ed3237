"""What the operations of a program do in replica context."""

import tensorflow as tf

from tests.differential import tensor_ops

_v1 = tf.compat.v1

#: The replica's number stays within this, so that it can be told exactly.
LIMIT = 4096.0


class Replica:
    """One call of a replica function: runs a block of operations.

    Args:
      world: the `World` with the variables.
      examples: this replica's input, a float32 vector.
      number: the number to start from, if not the sum of the examples.
    """

    def __init__(self, world, examples, number=None):
        self._world = world
        self._examples = examples
        self._last = None
        self.number = tf.reduce_sum(examples) if number is None else number

    def run(self, block):
        """Runs a block; returns the replica's number.

        In a graph each operation waits for the one before it; in a
        ``tf.function`` TensorFlow sees to that.
        """
        for kind, *details in block:
            with self.after():
                result = getattr(self, "_" + kind)(*details)
                if result is not None:
                    result = tf.cast(tf.reduce_sum(result), tf.float32)
                    self.number = tf.clip_by_value(result, -LIMIT, LIMIT)
                    self._did(self.number)
        with self.after():
            return tf.identity(self.number)

    def after(self):
        """Control dependency on what this replica did last."""
        waits = self._world.in_graph and self._last is not None
        return tf.control_dependencies([self._last] if waits else [])

    def _did(self, result):
        if self._world.in_graph and result is not None:
            self._last = getattr(result, "op", result)

    def _inner(self, number=None):
        return Replica(self._world, self._examples, self.number if number is None else number)

    def _context(self):
        return tf.distribute.get_replica_context()

    def _identifier(self):
        return tf.cast(self._context().replica_id_in_sync_group, tf.float32)

    # Operations in which the replicas do not meet.

    def _id(self):
        return self.number + self._identifier()

    def _input(self):
        return self.number + tf.reduce_sum(self._examples)

    def _scale(self):
        return self.number * 2.0 - 1.0

    def _ops(self, names):
        x = tensor_ops.matrix(self.number, self._identifier())
        for name in names:
            x = tensor_ops.OPS[name](x)
        return self.number * 0.5 + tf.reduce_sum(x)

    def _keras(self, name):
        call = tensor_ops.LAYERS[name][1]
        x = tensor_ops.matrix(self.number, self._identifier())
        return self.number * 0.5 + tf.reduce_sum(call(self._world.layers[name], x))

    def _shared_read(self, index):
        return self.number * 0.5 + self._world.shared[index].read_value()

    def _shared_assign(self, index, method, constant):
        getattr(self._world.shared[index], method)(self.number * 0.5 + constant)

    def _draw(self, kind, seed):
        drawn = {
            "uniform": lambda: tf.random.uniform([], seed=seed),
            "normal": lambda: tf.random.normal([], seed=seed),
            "shuffle": lambda: tf.random.shuffle(tf.range(9.0), seed=seed)[0],
            "dropout": lambda: tf.reduce_sum(_v1.nn.dropout(tf.ones([9]), rate=0.5, seed=seed)),
            "generator": lambda: self._world.generator.normal([]),
        }[kind]()
        return self.number * 0.5 + drawn

    def _read(self, index, how):
        variable = self._world.variables[index]
        value = variable + 0 if how == "operator" else getattr(variable, how)()
        return self.number * 0.5 + tf.cast(tf.reduce_sum(value), tf.float32)

    def _assign(self, index, method, source, constant, read_value):
        value = {
            "number": lambda: self.number + constant,
            "constant": lambda: tf.constant(float(constant)),
            "id": lambda: self._identifier() + constant,
            "python": lambda: constant,
        }[source]()
        # MirroredStrategy of one device makes a tensor of a Python number, whatever the variable's.
        if source != "python" or self._context().num_replicas_in_sync == 1:
            value = self._world.fit(value, index)
        result = getattr(self._world.variables[index], method)(value, read_value=read_value)
        self._did(result)
        if read_value and result is not None and not isinstance(result, tf.Operation):
            return result

    def _scatter(self, index, method, row, constant):
        self._did(
            getattr(self._world.variables[index], method)(
                tf.IndexedSlices(tf.constant([float(constant)]), tf.constant([row]))
            )
        )

    # Operations in which all replicas meet.

    def _apart(self, tensor):
        """`tensor`, with no variable behind it that TensorFlow could see.

        In a TF 1 graph, MirroredStrategy cannot all-reduce what depends on a
        variable; see "all-reduce in a graph" in :mod:`differences`.
        """
        if self._world.in_graph and self._world.detours:
            return tf.stop_gradient(tensor)
        return tensor

    def _all_reduce(self, name, nested):
        operation = tf.distribute.ReduceOp[name]
        number = self._apart(self.number)
        if not nested:
            return self._context().all_reduce(operation, number)
        first, rest = self._context().all_reduce(
            operation, [number, {"a": number * 2.0, "b": (self._identifier(),)}]
        )
        return first - rest["a"] + rest["b"][0]

    def _merge(self, how, index):
        result = self._context().merge_call(
            self._world.merges[how], args=(self.number,), kwargs={"index": index}
        )
        self._did(result)
        if how not in ("update", "assign"):
            return result

    def _gradient_of_all_reduce(self, name):
        number = self._apart(self.number)
        with tf.GradientTape() as tape:
            tape.watch(number)
            reduced = self._context().all_reduce(
                tf.distribute.ReduceOp[name], number * number * (self._identifier() + 1.0)
            )
        return tape.gradient(reduced, number)

    def _gradient(self, index):
        variable = self._world.variables[index]
        with tf.GradientTape() as tape:
            loss = self._loss(variable)
        gradient = tape.gradient(loss, variable)
        return self._context().all_reduce(tf.distribute.ReduceOp.SUM, self._apart(gradient))

    def _loss(self, variable):
        return tf.reduce_sum(variable * variable) * (self._identifier() + 1.0)

    def _gather(self, index):
        variable = self._world.variables[index]
        row = tf.cast(self._identifier(), tf.int32) % 2
        with tf.GradientTape() as tape:
            picked = tf.gather(variable, [row, 0])
            loss = tf.reduce_sum(picked * (self._identifier() + 1.0))
        slices = tape.gradient(loss, variable)
        total = self._context().all_reduce(
            tf.distribute.ReduceOp.SUM, self._apart(tf.convert_to_tensor(slices))
        )
        return tf.reduce_sum(total * [1.0, 3.0])

    def _optimize(self, index, which):
        variable = self._world.variables[index]
        optimizer = self._world.optimizer(which, index)
        with tf.GradientTape() as tape:
            if variable.shape.rank:
                row = tf.cast(self._identifier(), tf.int32) % 2
                loss = self._loss(tf.gather(variable, [row]))
            else:
                loss = self._loss(variable)
        gradient = tape.gradient(loss, variable)
        self._did(optimizer.apply_gradients([(gradient, variable)]))

    # Blocks within the block.

    def _cond(self, block):
        def taken():
            return self._inner().run(block)

        def left():
            return self.number - 1.0

        return tf.cond(self._identifier() < 1.0, taken, left)

    def _while(self, block):
        def body(i, number):
            result = self._inner(number).run(block)
            return i + 1, tf.reshape(result, [])

        _, number = tf.while_loop(
            lambda i, _: i < 2,
            body,
            [tf.constant(0), tf.reshape(self.number, [])],
            parallel_iterations=1,
        )
        return number

    def _function(self, block):
        function = self._world.nested(
            block, lambda examples, number: Replica(self._world, examples, number).run(block)
        )
        return function(self._examples, self.number)
