"""Which programs of contrib's era train without a graph."""

import pytest

from tpudist.surfaces.eras import program

START = "import tensorflow as tf\nstrategy = tf.contrib.distribute.TPUStrategy(None)\n"


def mode_of(tmp_path, source):
    """(what Keras refuses in a graph, what needs one)."""
    script = tmp_path / "train.py"
    script.write_text(source)
    keras = program.read(str(script)).keras
    return keras.refused, keras.graph


@pytest.mark.parametrize(
    ("line", "refused"),
    [
        ("model.train_on_batch(x, y)", "train_on_batch (train.py:3)"),
        ("model.fit_generator(rows())", "fit_generator (train.py:3)"),
        ("model.fit(x, y, sample_weight=w)", "sample_weight (train.py:3)"),
        ("model.evaluate(x, y, class_weight=w)", "class_weight (train.py:3)"),
        ("model.fit(x, y, batch_size=64)", None),
        ("other(sample_weight=w)", None),
    ],
)
def test_what_keras_refuses_in_a_graph(tmp_path, line, refused):
    assert mode_of(tmp_path, START + line) == (refused, None)


def test_keras_without_a_strategys_scope_takes_all(tmp_path):
    source = "import tensorflow as tf\ns = tf.contrib.tpu.TPUDistributionStrategy(None)\n"
    assert mode_of(tmp_path, source + "model.train_on_batch(x, y)")[0] is None


@pytest.mark.parametrize(
    ("line", "graph"),
    [
        ("tf.Session()", "tf.Session (train.py:3)"),
        ("tf.train.MomentumOptimizer(0.1, 0.9)", "tf.train.MomentumOptimizer (train.py:3)"),
        (
            "tf.contrib.layers.fully_connected(x, 3)",
            "tf.contrib.layers.fully_connected (train.py:3)",
        ),
        ("strategy.run_steps_on_dataset(step, rows)", "run_steps_on_dataset (train.py:3)"),
        ("tf.keras.backend.get_session()", "get_session (train.py:3)"),
        ("tf.logging.info('hello')", None),
        ("tf.gfile.GFile('x')", None),
        ("tf.data.Dataset.range(3)", None),
        ("tf.contrib.distribute.initialize_tpu_system(r)", None),
    ],
)
def test_what_needs_a_graph(tmp_path, line, graph):
    assert mode_of(tmp_path, START + line)[1] == graph
