"""Several steps in one device-side loop.

Reference: ``run_steps_on_dataset`` (contrib) and
``extended.experimental_run_steps_on_iterator``.
"""

import math
import numbers

import tensorflow as tf

from tpudist.core import functions
from tpudist.core import traces
from tpudist.errors import ArgumentError
from tpudist.errors import ArgumentTypeError
from tpudist.errors import TpudistError


class DatasetEndError(TpudistError, tf.errors.OutOfRangeError):
    """The dataset ended before all steps had run (eager mode)."""

    def __init__(self, error):
        tf.errors.OutOfRangeError.__init__(
            self, error.node_def, error.op, error.message)
        TpudistError.__init__(
            self, "the dataset ended inside a loop of steps: %s"
            % error.message.splitlines()[0],
            "every step takes one batch (per replica), and a TPU cannot stop "
            "inside its loop; the steps before it have taken effect",
            "dataset.repeat(), or fewer iterations")

    def __str__(self):
        return self.args[0]


def check_iterations(iterations):
    """`iterations` as a positive integer or integer tensor.

    Raises:
      ArgumentTypeError: it is neither.
      ArgumentError: it is NaN, infinite, fractional or less than 1.
    """
    if tf.is_tensor(iterations):
        if not iterations.dtype.is_integer:
            raise _bad_type(iterations)
        return iterations
    if isinstance(iterations, bool) or not isinstance(iterations,
                                                      numbers.Number):
        raise _bad_type(iterations)
    if not math.isfinite(iterations) or iterations != int(iterations) or (
            iterations < 1):
        raise ArgumentError(
            "iterations=%r" % (iterations,),
            "the loop runs a whole number of steps, at least one",
            "iterations=100")
    return int(iterations)


def _bad_type(iterations):
    return ArgumentTypeError(
        "iterations=%r" % (iterations,),
        "the number of steps is an integer or a scalar integer tensor",
        "iterations=100")


def run(step, iterations):
    """Runs `step` `iterations` times in one loop on the device.

    Context: cross-replica; graph, ``tf.function`` or eager (runs at once).

    Args:
      step: ``step() -> nest of tensors``, traced once. Its stateful ops run
        even if no result depends on them, as in a TPU computation.
      iterations: number of steps, at least 1.

    Returns:
      The nest that the last step returned; in a graph, evaluating any tensor
      of it runs the loop.

    Raises:
      DatasetEndError: (eager) an iterator ended before the last step.
    """
    iterations = check_iterations(iterations)
    if not tf.executing_eagerly():
        return _Loop(step).build(iterations)
    steps = tf.function(lambda: _Loop(step).build(iterations),
                        autograph=False)
    try:
        return steps()
    except tf.errors.OutOfRangeError as error:
        raise DatasetEndError(error) from error


class _Loop:
    """The loop around one traced step."""

    def __init__(self, step):
        self._structure = None
        self._graph = self._trace(step)
        self._function = functions.make(self._graph, noinline=False)
        self._captured = [outer for outer, _ in self._graph.captures]

    def _trace(self, step):
        trace = traces.LiftingTrace("step")
        with trace.ordered() as order:
            self._structure = step()
            flat = [order.mark_as_return(tf.convert_to_tensor(leaf))
                    for leaf in tf.nest.flatten(self._structure)]
            done = tf.constant(0)
        graph = trace.graph
        graph.inputs = [inner for _, inner in graph.captures]
        graph.outputs = flat or [done]
        graph.control_outputs = trace.must_run
        self._count = len(flat)
        return graph

    def build(self, iterations):
        """Adds the loop to the current graph."""
        def again(i, *unused):
            return i < iterations

        def body(i, *unused):
            results = functions.call(self._function, self._captured,
                                     self._graph.outputs)
            with tf.control_dependencies([results[0].op]):
                return [i + 1] + results[:self._count]

        start = [tf.cast(0, _counter_type(iterations))]
        start += [_zeros(tensor) for tensor in self._graph.outputs[
            :self._count]]
        shapes = [tensor.shape for tensor in start[:1]] + [
            tensor.shape for tensor in self._graph.outputs[:self._count]]
        looped = tf.while_loop(
            again, body, start, shape_invariants=shapes,
            parallel_iterations=1)
        done, results = looped[0], looped[1:]
        with tf.control_dependencies([done]):
            results = [tf.identity(tensor) for tensor in results]
            self.run_op = tf.no_op() if functions.in_graph() else None
        return (tf.nest.pack_sequence_as(self._structure, results),
                self.run_op)


def _counter_type(iterations):
    return iterations.dtype if tf.is_tensor(iterations) else tf.int32


def _zeros(tensor):
    """A start value of a loop output: zeros, of no elements if unknown."""
    dims = tensor.shape.as_list() if tensor.shape.rank is not None else []
    return tf.zeros([dim or 0 for dim in dims], tensor.dtype)
