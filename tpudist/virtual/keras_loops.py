"""Keras' training loops for TPUs in TF 1 graphs, which are not supported.

They build one network for all replicas in a ``merge_call``, which only a real
TPU's replicas accept. Keras 3 has no such loops.
"""

from tensorflow.python.framework import ops

from tpudist.errors import ContextError

#: The modules of Keras that start replicas in a TF 1 graph (until 2.15).
_LOOPS = (
    "training_distributed",
    "training_distributed_v1",
    "distributed_training_utils",
    "distributed_training_utils_v1",
)


def refuse(fn):
    """Refuses a replica function of these loops.

    Raises:
      ContextError: (a RuntimeError) `fn` is one, in a TF 1 graph.
    """
    module = getattr(fn, "__module__", None) or ""
    if module.split(".")[-1] in _LOOPS and (not ops.executing_eagerly_outside_functions()):
        raise ContextError(
            "Keras started its replica function %s() in a TF 1 graph" % fn.__name__,
            "Keras' fit, evaluate and predict for TPUs need TPU ops in the graph",
            "tf.compat.v1.enable_v2_behavior() at the start of the program",
        )
