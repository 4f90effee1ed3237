"""Exporters export the checkpoints that they are for, and keep as many exports as asked."""

import os

import numpy as np
import pytest

from tests.estimator import harness
from tpudist import dropin, estimator, surfaces
from tpudist.tfcompat import estimators


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    est = harness.estimator(
        tmp_path_factory.mktemp("trained"), harness.exported_model_fn, export_to_tpu=False
    )
    est.train(harness.input_fn, max_steps=4)
    return est


def export_all(est, exporter, folder, losses, last=-1):
    """Calls an exporter after each evaluation, and checks the last export's values.

    Returns:
      (for each evaluation whether there was an export, number of folders that are left).
    """
    path = est.latest_checkpoint()
    exports = [
        exporter.export(est, str(folder), path, {"loss": loss, "root": -loss}, at == last)
        for at, loss in enumerate(losses)
    ]
    left = sorted(os.listdir(str(folder)))
    names = [os.path.basename(os.fsdecode(each)) for each in exports if each]
    assert left == sorted(names)[-len(left) :]
    w, b, _ = harness.trained_by_numpy(4, 16)
    rows = harness.X[:3]
    np.testing.assert_allclose(harness.serve(folder / left[-1], rows), rows.dot(w) + b, rtol=1e-4)
    return [each is not None for each in exports], len(left)


def test_the_latest_exports_are_kept(trained, tmp_path):
    exporter = estimator.LatestExporter(
        "latest", harness.serving_input_receiver_fn, exports_to_keep=1
    )
    assert exporter.name == "latest"
    assert export_all(trained, exporter, tmp_path, [1.0, 2.0]) == ([True, True], 1)


def test_only_the_last_checkpoint_is_exported(trained, tmp_path):
    exporter = estimator.FinalExporter("final", harness.serving_input_receiver_fn)
    assert exporter.name == "final"
    assert export_all(trained, exporter, tmp_path, [1.0, 2.0], last=1) == ([False, True], 1)


def test_a_better_checkpoint_is_exported(trained, tmp_path):
    exporter = estimator.BestExporter(
        "best", harness.serving_input_receiver_fn, None, exports_to_keep=None
    )
    assert exporter.name == "best"
    assert export_all(trained, exporter, tmp_path, [2.0, 3.0, 1.0]) == ([True, False, True], 2)


def test_compare_fn_says_which_checkpoint_is_better(trained, tmp_path):
    def larger(best_eval_result, current_eval_result):
        return current_eval_result["loss"] > best_eval_result["loss"]

    exporter = estimator.BestExporter(
        "best", harness.serving_input_receiver_fn, None, compare_fn=larger, exports_to_keep=1
    )
    assert export_all(trained, exporter, tmp_path, [2.0, 3.0, 1.0]) == ([True, True, False], 1)


#: {prefix: names of Estimator in old code}, which every drop-in namespace has.
NAMES = {
    "estimator.": """Estimator EstimatorSpec ModeKeys RunConfig TrainSpec EvalSpec
        train_and_evaluate WarmStartSettings BestExporter FinalExporter LatestExporter
        CheckpointSaverHook LoggingTensorHook NanTensorHook SessionRunHook StepCounterHook
        StopAtStepHook SummarySaverHook export.ServingInputReceiver export.PredictOutput
        export.build_raw_serving_input_receiver_fn""",
    "estimator.tpu.": "TPUEstimator TPUEstimatorSpec TPUConfig RunConfig InputPipelineConfig",
    "contrib.tpu.": """TPUEstimator TPUEstimatorSpec TPUConfig RunConfig InputPipelineConfig
        CrossShardOptimizer bfloat16_scope AsyncCheckpointSaverHook""",
}


@pytest.mark.parametrize("era", surfaces.ERAS)
def test_both_spellings_of_a_name_are_one_class(era):
    top = dropin.top(era)
    for start, names in NAMES.items():
        if start.startswith("contrib") and era != "contrib":
            continue
        for name in names.split():
            dotted = start + name
            spellings = [dotted]
            if not start.startswith("contrib"):
                spellings.append("compat.v1." + dotted)
            values = []
            for each in spellings:
                value = top
                for part in each.split("."):
                    value = getattr(value, part)
                values.append(value)
            assert callable(values[0]) or name == "ModeKeys"
            assert all(each is values[0] for each in values), dotted
    own = top.estimator.tpu.TPUEstimator
    assert issubclass(own, top.estimator.Estimator)
    native = estimators.native
    assert native is None or issubclass(own, native.Estimator)


@pytest.mark.parametrize("kind", ["LatestExporter", "BestExporter"])
def test_keeping_no_export_is_refused(kind):
    with pytest.raises(ValueError, match="exports_to_keep"):
        getattr(estimator, kind)("name", harness.serving_input_receiver_fn, exports_to_keep=0)
