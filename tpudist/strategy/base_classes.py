"""The classes that a facade's strategy derives from, and the signatures that it shows.

They are TensorFlow's own TPU strategies, so that ``isinstance`` and Keras'
check of the class name give the same answers as on a TPU; tpudist chooses only
the extended object (:mod:`tpudist.backends.strategies`).
"""

from __future__ import annotations

import contextlib
import inspect
from typing import TYPE_CHECKING

import tensorflow as tf

from tpudist.system import cluster
from tpudist.tfcompat import functions, tpu, versions
from tpudist.virtual import keras_loops

if TYPE_CHECKING:
    from typing import Any, Callable, Iterator

    from tpudist.annotations import Method, Strategy
    from tpudist.tfcompat.annotations import Nest


if TYPE_CHECKING:
    # Checkers do not know TensorFlow's classes: a strategy derived from them would have
    # every attribute, of any type.
    class TPUStrategyBase: ...

    class TPUStrategyBaseV1: ...

else:

    class TPUStrategyBase(*tpu.TPU_STRATEGIES):
        """A ``tf.distribute.Strategy`` on a native or a virtual TPU."""

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            raise NotImplementedError("a facade's strategy calls adapter.initialize()")

        if versions.HAS_RUN:

            def run(self, fn: Any, args: Any = (), kwargs: Any = None, options: Any = None) -> Nest:
                """Runs `fn` as Keras asks for it in era 2.0, which wrapped a plain function."""
                if tf.executing_eagerly() and not functions.is_traceable(fn):
                    fn = tf.function(fn)
                return super().run(fn, args, kwargs, options)

    class TPUStrategyBaseV1(tpu.TPUStrategyV1):
        """The same for code written against TensorFlow 1."""

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            raise NotImplementedError("a facade's strategy calls adapter.initialize()")


#: What Keras' own loops note as the last reduction; these loops divide the loss.
_BY_KERAS = "sum_over_batch_size"


class ScalingStrategyBaseV1(TPUStrategyBaseV1):
    """A strategy whose ``tf.train`` optimizers divide a mean loss by the number of replicas.

    They add the replicas' gradients. Up to TensorFlow 1.13 they divided a mean loss first; from
    1.14 on they do so only if the strategy asks for it, which Estimator switches on while it runs.
    From 1.14 on the program starts the TPU as well, which the strategy did before: by that, and
    by names that one side of 1.14 has alone, programs of the same class are told apart.
    """

    _scales_mean_loss = True  # whether code of the class ever divides
    _divides: bool | None = None  # as the call that runs the replicas says; None: as the program
    _estimator_scales = False

    @property
    def _scale_loss_for_estimator(self) -> bool:
        """Whether to divide; the optimizer reads it."""
        if self._estimator_scales:
            return True
        graph = tf.compat.v1.get_default_graph()
        by_keras = keras_loops.is_tracing() or (
            getattr(graph, "_last_loss_reduction", None) == _BY_KERAS
        )
        divides = not cluster.is_started() if self._divides is None else self._divides
        return self._scales_mean_loss and divides and not by_keras

    @_scale_loss_for_estimator.setter
    def _scale_loss_for_estimator(self, asked: Any) -> None:
        self._estimator_scales = asked

    @contextlib.contextmanager
    def _mean_losses(self, divided: bool) -> Iterator[None]:
        """Context manager: optimizers divide a mean loss, or leave it as it is."""
        before, self._divides = self._divides, divided
        try:
            yield
        finally:
            self._divides = before


def is_facade(strategy: object) -> bool:
    """Whether `strategy` is a facade's, whatever it runs on."""
    return isinstance(strategy, (TPUStrategyBase, TPUStrategyBaseV1))


def native(strategy: Strategy) -> Any:
    """`strategy` with the methods and properties of TensorFlow's own class, not the facade's."""
    if isinstance(strategy, TPUStrategyBaseV1):
        return super(TPUStrategyBaseV1, strategy)
    return super(TPUStrategyBase, strategy)


def shown_as(*parameters: str | tuple[str, Any]) -> Callable[[Method], Method]:
    """Decorator: gives a method the signature that its reference page shows.

    A parameter is a name, or a pair of name and default, without ``self``. The method itself also
    takes the arguments of later releases.
    """
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    shown = [inspect.Parameter("self", kind)]
    for parameter in parameters:
        name, default = (
            parameter if isinstance(parameter, tuple) else (parameter, inspect.Parameter.empty)
        )
        shown.append(inspect.Parameter(name, kind, default=default))

    def decorate(method: Method) -> Method:
        method.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
        return method

    return decorate
