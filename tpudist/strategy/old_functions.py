"""Functions with attributes, by the private names that code of 1.15 to 2.12 makes them with.

``tensorflow.python.eager.function`` had ``defun``, which is ``tf.function`` today,
``defun_with_attributes`` and ``register``. Grappler picks one of several implementations by their
attributes: Sonnet's LSTM, for one, has a CPU's and a GPU's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tensorflow as tf

if TYPE_CHECKING:
    from tpudist.annotations import Fn
    from tpudist.tfcompat.annotations import Function


def defun_with_attributes(
    func: Fn | None = None,
    input_signature: object = None,
    attributes: dict[str, Any] | None = None,
    autograph: bool = True,
    experimental_autograph_options: object = None,
    experimental_relax_shapes: bool = False,
) -> Function:
    """Makes a ``tf.function`` whose definitions in a graph have attributes (r2.2).

    Args:
      func: a Python function; None for a decorator.
      attributes: names, such as "api_implements", and their values.
      input_signature, autograph, experimental_autograph_options: as of ``tf.function``.
      experimental_relax_shapes: whether traces may be fewer, with shapes that are less known.
    """
    return tf.function(
        func,
        input_signature=input_signature,
        autograph=autograph,
        reduce_retracing=experimental_relax_shapes,
        experimental_autograph_options=experimental_autograph_options,
        experimental_attributes=attributes,
    )


def register(func: Any, *args: Any, **kwargs: Any) -> Function:
    """Adds the definition of a function and of its gradient to the current graph, uncalled (r2.2).

    Args:
      func: a ``tf.function``.
      *args, **kwargs: arguments of the call that it is defined for.

    Returns:
      The ConcreteFunction.
    """
    concrete = func.get_concrete_function(*args, **kwargs)
    concrete.add_to_graph()
    concrete.add_gradient_functions_to_graph()
    return concrete
