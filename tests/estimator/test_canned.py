"""TensorFlow's canned Estimators train, evaluate, predict and export as an era's programs ask.

The oracle is numpy, with the variables of the trained Estimator.
"""

import numpy as np
import pytest
import tensorflow as tf

from tests.estimator import harness
from tpudist import errors
from tpudist.contrib import tensorflow as contrib_tf
from tpudist.tfcompat import keras_packages, versions
from tpudist.v2_2 import tensorflow as tf2

X, Y = harness.X, harness.Y[:, 0]

ERAS = {"contrib": contrib_tf}
if versions.TF2:
    ERAS["v2_2"] = tf2


of_keras_2 = pytest.mark.skipif(keras_packages.is_keras_3(), reason="their models are of Keras 2")


@pytest.fixture(params=sorted(ERAS))
def era(request):
    return ERAS[request.param]


def rows():
    """The rows, in order, once."""
    return tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).batch(16)


def columns(era):
    return [era.feature_column.numeric_column("x", shape=(4,))]


def variable(estimator, end):
    """The value of the variable whose name ends so."""
    (name,) = [each for each in estimator.get_variable_names() if each.endswith(end)]
    return estimator.get_variable_value(name)


def predicted(estimator, key="predictions"):
    return np.array([row[key] for row in estimator.predict(rows)])


@of_keras_2
def test_a_linear_regressor(era, tmp_path):
    made = era.estimator.LinearRegressor(columns(era), model_dir=str(tmp_path), optimizer="Ftrl")
    made.train(lambda: rows().repeat(20))
    expected = X.dot(variable(made, "x/weights")) + variable(made, "bias_weights")
    np.testing.assert_allclose(predicted(made), expected, 1e-4, 1e-5)
    loss = made.evaluate(rows)["average_loss"]
    np.testing.assert_allclose(loss, ((expected[:, 0] - Y) ** 2).mean(), 1e-4)
    assert loss < Y.var()


@of_keras_2
def test_a_deep_classifier_is_exported_and_goes_on_from_its_checkpoint(era, tmp_path):
    def labelled():
        return rows().map(lambda x, y: (x, tf.cast(y > 0, tf.int32)))

    def make(**options):
        return era.estimator.DNNClassifier([5], columns(era), **options)

    made = make(model_dir=str(tmp_path / "model"))
    made.train(labelled, max_steps=4)
    hidden, logits = [
        (variable(made, layer + "/kernel"), variable(made, layer + "/bias"))
        for layer in ("hiddenlayer_0", "logits")
    ]
    expected = np.maximum(X.dot(hidden[0]) + hidden[1], 0).dot(logits[0]) + logits[1]
    np.testing.assert_allclose(predicted(made, "logits"), expected, 1e-4, 1e-5)
    accuracy = made.evaluate(labelled)["accuracy"]
    np.testing.assert_allclose(accuracy, ((expected[:, 0] > 0) == (Y > 0)).mean(), 1e-5)
    again = make(model_dir=str(tmp_path / "again"), warm_start_from=str(tmp_path / "model"))
    again.train(labelled, max_steps=1)
    assert made.latest_checkpoint().endswith("-4")
    spec = era.feature_column.make_parse_example_spec(columns(era))
    receiver = era.estimator.export.build_parsing_serving_input_receiver_fn(spec)
    export = getattr(made, "export_saved_model", None) or made.export_savedmodel
    folder = export(str(tmp_path / "export"), receiver)
    assert tf.io.gfile.exists(folder + b"/saved_model.pb" if isinstance(folder, bytes) else folder)


@of_keras_2
def test_training_with_an_exporter(era, tmp_path):
    made = era.estimator.LinearRegressor(columns(era), model_dir=str(tmp_path))
    spec = era.feature_column.make_parse_example_spec(columns(era))
    exporter = era.estimator.FinalExporter(
        "final", era.estimator.export.build_parsing_serving_input_receiver_fn(spec)
    )
    era.estimator.train_and_evaluate(
        made,
        era.estimator.TrainSpec(lambda: rows().repeat(), max_steps=6),
        era.estimator.EvalSpec(rows, exporters=[exporter], start_delay_secs=0, throttle_secs=0),
    )
    assert len(tf.io.gfile.glob(str(tmp_path / "export" / "final" / "*"))) == 1
    assert made.latest_checkpoint().endswith("-6")


@pytest.mark.skipif(versions.HAS_ESTIMATOR, reason="TensorFlow's own package has them")
def test_boosted_trees_which_left_the_package_say_what_to_type(era):
    with pytest.raises(errors.EraNameError, match="tensorflow_decision_forests"):
        era.estimator.BoostedTreesClassifier


@pytest.mark.skipif(not keras_packages.is_keras_3(), reason="Keras 2 is here")
def test_without_keras_2_the_line_to_type_is_said(era):
    with pytest.raises(errors.EraNameError, match="pip install tf-keras"):
        era.estimator.DNNClassifier
