"""save_weights and load_weights between strategies and one device."""

import contextlib

import numpy as np
import pytest

from tests.keras import harness
from tests.keras.harness import keras
from tpudist.tfcompat import versions

#: Keras 3 writes one file; Keras 2 a TensorFlow checkpoint.
NAME = "saved.weights.h5" if versions.KERAS_3 else "saved"


def net():
    return keras.Sequential(
        [
            keras.layers.BatchNormalization(momentum=0.9, input_shape=(4,)),
            keras.layers.Dense(3, activation="tanh"),
            keras.layers.Dense(1),
        ]
    )


class Place:
    """Some cores, or none (no strategy), and a compiled net there."""

    def __init__(self, cores):
        self._strategy = cores and harness.strategy_of(cores)
        with self._scope():
            self.model = harness.regress(net(), keras.optimizers.SGD(0.05, momentum=0.9))

    def _scope(self):
        if self._strategy:
            return self._strategy.scope()
        return contextlib.nullcontext()

    def values(self):
        """The weights as they are saved."""
        return harness.values(self.model, self._strategy)

    def load(self, folder):
        """Loads in the scope: Keras 2 makes the optimizer's slots there."""
        with self._scope():
            self.model.load_weights(str(folder / NAME))
        return self.model


@pytest.mark.slow
@pytest.mark.parametrize(("source", "target"), [(8, 0), (0, 8), (8, 2)])
def test_weights_move(tmp_path, source, target):
    x, y = harness.rows()
    first, second, plain = Place(source), Place(target), Place(0)
    harness.fit(first.model, (x, y), epochs=2)
    first.model.save_weights(str(tmp_path / NAME))
    second.load(tmp_path)
    assert len(first.values()) == len(second.values()) == 8
    for one, other in zip(second.values(), first.values()):
        np.testing.assert_allclose(one, other, 1e-6, 1e-7)
    # Not first's predictions: each of its replicas still has moving
    # statistics of its own.
    plain.model.set_weights(first.values())
    np.testing.assert_allclose(
        second.model.predict(x, batch_size=harness.BATCH, verbose=0),
        plain.model.predict(x, batch_size=harness.BATCH, verbose=0),
        1e-5,
        1e-6,
    )


def test_loaded_weights_are_on_every_replica(tmp_path):
    x, y = harness.rows()
    saved = Place(0).model
    harness.fit(saved, (x, y), epochs=1)
    saved.save_weights(str(tmp_path / NAME))
    loaded = Place(8).load(tmp_path)
    expected = saved.predict(x, batch_size=harness.BATCH, verbose=0)
    # One row on each replica.
    for start in range(0, 16, 8):
        np.testing.assert_allclose(
            loaded.predict(x[start : start + 8], batch_size=8, verbose=0),
            expected[start : start + 8],
            1e-5,
            1e-6,
        )
