"""Optimizer slots in tf.train.Checkpoint: training goes on where it was."""

import numpy as np
import pytest
import tensorflow as tf

from tests.checkpoint import worlds
from tests.checkpoint.worlds import World

pytestmark = pytest.mark.slow

keras = tf.keras
OPTIMIZERS = {
    "adam": lambda: keras.optimizers.Adam(0.1),
    "momentum": lambda: keras.optimizers.SGD(0.1, momentum=0.9),
}


class Training:
    """A dense layer and an optimizer, in a world."""

    def __init__(self, cores, optimizer):
        self.world = World(cores)
        with self.world.scope():
            self.model = keras.Sequential(
                [keras.layers.Dense(1, input_shape=(3,), kernel_initializer="ones")]
            )
            self.optimizer = OPTIMIZERS[optimizer]()
        self.checkpoint = tf.train.Checkpoint(model=self.model, optimizer=self.optimizer)

    def step(self, scale):
        """One step; the gradients of all replicas sum to the same ones."""

        def replica(unused_number):
            gradients = [tf.constant([[1.0], [-2.0], [3.0]]), tf.constant([4.0])]
            self.optimizer.apply_gradients(
                [
                    (gradient * scale / self.world.cores, weight)
                    for gradient, weight in zip(gradients, self.model.trainable_variables)
                ]
            )

        self.world.run(replica)

    def weights(self):
        """All weights in one flat array."""
        return np.concatenate([weight.ravel() for weight in self.model.get_weights()])


@pytest.mark.parametrize(
    ("source", "target", "optimizer"),
    [(8, 0, "adam"), (8, 1, "momentum"), (8, 2, "adam"), (0, 8, "adam"), (2, 8, "momentum")],
)
def test_training_goes_on(tmp_path, source, target, optimizer):
    first = Training(source, optimizer)
    start = first.weights()
    first.step(1.0)
    first.step(-3.0)
    path = first.checkpoint.save(str(tmp_path / "model"))
    at_save = first.weights()
    first.step(0.5)
    second = Training(target, optimizer)
    second.step(7.0)
    assert not np.allclose(second.weights(), at_save)
    second.checkpoint.restore(path).assert_existing_objects_matched()
    np.testing.assert_allclose(second.weights(), at_save, 1e-6)
    assert int(second.optimizer.iterations.numpy()) == 2
    second.step(0.5)
    np.testing.assert_allclose(second.weights(), first.weights(), 1e-5, 1e-6)
    assert not np.allclose(start, at_save)


def test_without_its_slots_training_would_go_on_elsewhere(tmp_path):
    # That the test above can fail: new moments lead to other weights.
    first, second = Training(8, "adam"), Training(8, "adam")
    first.step(1.0)
    first.step(-3.0)
    second.model.set_weights(first.model.get_weights())
    first.step(0.5)
    second.step(0.5)
    assert not np.allclose(second.weights(), first.weights(), 1e-3)


def test_names_are_those_of_plain_tensorflow(tmp_path):
    def written(cores):
        training = Training(cores, "adam")
        training.step(1.0)
        (tmp_path / str(cores)).mkdir()
        return worlds.names(training.checkpoint.save(str(tmp_path / str(cores) / "model")))

    plain = written(0)
    assert len(plain) >= 2 + 4 + 1
    assert written(8) == plain
    assert not [name for name in plain if "replica" in name]
