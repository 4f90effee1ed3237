"""Keras' learning phase, where TensorFlow keeps it for one graph alone (1.13)."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import tensorflow as tf

from tpudist.tfcompat import functions, versions

if versions.LEARNING_PHASE_IS_OF_A_GRAPH:
    from tensorflow.python.keras import backend

if TYPE_CHECKING:
    from typing import Iterator


@contextlib.contextmanager
def known_in_graph() -> Iterator[None]:
    """Context manager: the current function graph has the phase that the program set.

    A program may set it in the block too, and then for what it has built there as well.
    """
    if not versions.LEARNING_PHASE_IS_OF_A_GRAPH:
        yield
        return
    phases, graph = backend._GRAPH_LEARNING_PHASES, tf.compat.v1.get_default_graph()
    before = _set_by_the_program()
    if before is not None:
        phases[graph] = before
    yield
    phase, built = _set_by_the_program(), phases.get(graph)
    if phase is not None and isinstance(built, tf.Tensor):
        with graph.as_default(), tf.control_dependencies(None):
            functions.replace_input(built.op, 0, tf.constant(bool(phase)))


def _set_by_the_program() -> int | None:
    with tf.init_scope():
        eager = tf.executing_eagerly()
        key = backend._DUMMY_EAGER_GRAPH if eager else tf.compat.v1.get_default_graph()
    phase = backend._GRAPH_LEARNING_PHASES.get(key)
    return phase if isinstance(phase, int) else None
