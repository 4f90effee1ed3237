"""Splits the batch of a Keras model over copies of it, one on each core of a virtual TPU."""

from __future__ import annotations

import contextlib
import re
import sys
from typing import TYPE_CHECKING, Any, Iterator

import tensorflow as tf

from tpudist.errors import ArgumentError

if TYPE_CHECKING:
    from tpudist.annotations import Fn
    from tpudist.tfcompat.annotations import Model, Tensor, Variable


#: What the op says that refuses a batch whose rows the cores cannot split evenly.
UNEVEN = "rows that the cores cannot share:"


class Cores:
    """The CPU's model and its copies, one on each core.

    It is no layer or model itself, so that Keras does not track what it holds. `in_training` says
    whether Keras' fit is running.
    """

    def __init__(self, keras: Any, model: Any, cores: int) -> None:
        if cores > 1 and model.stateful:
            print(
                "keras_to_tpu_model: %r is stateful and runs on one core, as on every TPU"
                % model.name,
                file=sys.stderr,
            )
            cores = 1
        self.keras, self.model, self.count = keras, model, cores
        self.copies: list[Any] = []
        self.in_training = False

    @contextlib.contextmanager
    def training(self) -> Iterator[Any]:
        """Context manager around Keras' fit."""
        before, self.in_training = self.in_training, True
        try:
            yield
        finally:
            self.in_training = before

    def build(self) -> tuple[Any, ...]:
        """Makes the copies; returns (inputs, outputs) of a model that splits batches over them."""
        if self.count == 1:
            self.copies = [self.keras.models.clone_model(self.model)]
            return self.copies[0].inputs, self.copies[0].outputs
        inputs = list(map(self._input, self.model.inputs, self.model.input_names))
        self.copies = self._copies()
        parts = list(map(self._split, inputs, self.model.input_names))
        outputs = []
        for copy, *part in zip(self.copies, *parts):
            result = copy(part if len(part) > 1 else part[0])
            outputs.append(list(result) if isinstance(result, (list, tuple)) else [result])
        concatenated = [
            self.keras.layers.Concatenate(axis=0, name=name)(list(tensors))
            for name, tensors in zip(self.model.output_names, zip(*outputs))
        ]
        return inputs, concatenated

    def _input(self, tensor: Any, name: str | None = None) -> Tensor:
        """An input like a tensor, of any number of rows."""
        shape = tensor.shape.as_list()[1:]
        return self.keras.layers.Input(shape, dtype=tensor.dtype.name, name=name)

    def _split(self, tensor: Any, name: str) -> list[Tensor]:
        cores = self.count

        def split(rows: Any) -> list[Tensor]:
            count = tf.shape(rows)[0]
            even = tf.compat.v1.Assert(tf.equal(count % cores, 0), [UNEVEN, count])
            with tf.control_dependencies([] if even is None else [even]):
                return tf.split(rows, cores)

        return self.keras.layers.Lambda(split, name=name + "_of_cores", dtype=tensor.dtype.name)(
            tensor
        )

    def _copies(self) -> list[Any]:
        """The model of each core: all share trainable variables, and each has its own others."""
        variables: list[Any] = []
        copies: list[Any] = []

        def create(creator: Fn, **kwargs: Any) -> Variable:
            variables.append(creator(**kwargs))
            return variables[-1]

        for index in range(self.count):
            of_first_core = iter(list(variables))

            def reuse(creator: Fn, **kwargs: Any) -> Variable:
                shared = next(of_first_core)  # noqa: B023 (called before the next turn)
                return shared if kwargs.get("trainable", True) else creator(**kwargs)

            inputs = list(map(self._input, self.model.inputs))
            with tf.variable_creator_scope(reuse if copies else create):
                copies.append(self.keras.models.clone_model(self.model, input_tensors=inputs))
            copies[-1]._name = "%s_core_%d" % (self.model.name, index)
        return copies

    def to_cores(self) -> None:
        """Copies the weights of the CPU's model to all cores."""
        weights = self.model.get_weights()
        for copy in self.copies:
            copy.set_weights(weights)

    def to_cpu(self, optimizer: Any) -> Model:
        """Copies the first core's weights, and the settings of `optimizer`, to the CPU's model."""
        self.model.set_weights(self.copies[0].get_weights())
        own = getattr(self.model, "optimizer", None)
        if own is not None and type(own).__name__ != "TFOptimizer":
            for name, value in optimizer.get_config().items():
                setting = getattr(own, name, None)
                if isinstance(setting, tf.Variable):
                    self.keras.backend.set_value(setting, value)
        return self.model


@contextlib.contextmanager
def uneven_batches_refused(cores: Cores) -> Iterator[Any]:
    """Context manager: a batch that the cores cannot split evenly is an ``ArgumentError``."""
    try:
        yield
    except tf.errors.InvalidArgumentError as error:
        match = re.search(re.escape(UNEVEN) + r"\]?\s*\[?(\d+)", str(error))
        if match is None:
            raise
        raise ArgumentError(
            "a batch of %s rows on %d cores" % (match.group(1), cores.count),
            "keras_to_tpu_model splits each batch evenly over the cores",
            "batch sizes that %d divides, the last batch too; "
            "or model.sync_to_cpu().predict(...) for a few rows" % cores.count,
        ) from None
