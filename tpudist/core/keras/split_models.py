"""A model of Keras on the cores of a virtual TPU: its batch is split over copies of its layers."""

from __future__ import annotations

import contextlib
import re
import sys
from typing import TYPE_CHECKING

import tensorflow as tf

from tpudist.errors import ArgumentError

if TYPE_CHECKING:
    from typing import Any, Iterator

    from tpudist.core.annotations import Fn


#: What the op says that counts a batch's rows.
UNEVEN = "rows that the cores cannot share:"


class Cores:
    """What a model on cores consists of; Keras does not look into it.

    Args:
      keras: the module.
      model: the CPU's model.
      cores: how many cores.
    """

    def __init__(self, keras: Any, model: Any, cores: Any) -> None:
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
        """Context manager: Keras' fit runs."""
        before, self.in_training = self.in_training, True
        try:
            yield
        finally:
            self.in_training = before

    def build(self) -> tuple[Any, ...]:
        """(inputs, outputs) of the model that splits its batch over the copies."""
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
        joined = [
            self.keras.layers.Concatenate(axis=0, name=name)(list(tensors))
            for name, tensors in zip(self.model.output_names, zip(*outputs))
        ]
        return inputs, joined

    def _input(self, tensor: Any, name: str | None = None) -> Any:
        """An input like a tensor, of any number of rows."""
        shape = tensor.shape.as_list()[1:]
        return self.keras.layers.Input(shape, dtype=tensor.dtype.name, name=name)

    def _split(self, tensor: Any, name: str) -> Any:
        cores = self.count

        def split(rows: Any) -> Any:
            count = tf.shape(rows)[0]
            even = tf.compat.v1.Assert(tf.equal(count % cores, 0), [UNEVEN, count])
            with tf.control_dependencies([] if even is None else [even]):
                return tf.split(rows, cores)

        return self.keras.layers.Lambda(split, name=name + "_of_cores", dtype=tensor.dtype.name)(
            tensor
        )

    def _copies(self) -> Any:
        """The model of each core: trained variables are the first one's, others its own."""
        made: list[Any] = []
        copies: list[Any] = []

        def first(creator: Fn, **kwargs: Any) -> Any:
            made.append(creator(**kwargs))
            return made[-1]

        for index in range(self.count):
            known = iter(list(made))

            def again(creator: Fn, **kwargs: Any) -> Any:
                shared = next(known)  # noqa: B023 (called before the next turn)
                return shared if kwargs.get("trainable", True) else creator(**kwargs)

            inputs = list(map(self._input, self.model.inputs))
            with tf.variable_creator_scope(again if copies else first):
                copies.append(self.keras.models.clone_model(self.model, input_tensors=inputs))
            copies[-1]._name = "%s_core_%d" % (self.model.name, index)
        return copies

    def to_cores(self) -> None:
        """Gives all cores the weights of the CPU's model."""
        weights = self.model.get_weights()
        for copy in self.copies:
            copy.set_weights(weights)

    def to_cpu(self, optimizer: Any) -> Any:
        """Gives the CPU's model the weights of the first core, and settings of an optimizer."""
        self.model.set_weights(self.copies[0].get_weights())
        own = getattr(self.model, "optimizer", None)
        if own is not None and type(own).__name__ != "TFOptimizer":
            for name, value in optimizer.get_config().items():
                setting = getattr(own, name, None)
                if isinstance(setting, tf.Variable):
                    self.keras.backend.set_value(setting, value)
        return self.model


@contextlib.contextmanager
def shared_evenly(cores: Any) -> Iterator[Any]:
    """Context manager: rows that the cores cannot share are told in our words."""
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
