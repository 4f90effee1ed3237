"""Rows of ``tf.estimator``, which every era has: the newest release is 2.15.

Names below ``tf.contrib.tpu`` are the contrib era's. ``tf.estimator.tpu`` itself ended with
1.15, its spelling ``tf.compat.v1.estimator.tpu`` with 2.15.
"""

from __future__ import annotations

from tpudist.surfaces.rows import Row, beside_class
from tpudist.surfaces.tables import table

_PAGES = "https://github.com/tensorflow/docs/blob/r1.15/site/en/api_docs/python/tf/"
_E = _PAGES + "estimator/"
_TPU = _E + "tpu/"

# fmt: off
_TPU_NAMES = [
    ("InputPipelineConfig", ""),
    ("RunConfig", "(tpu_config=None, evaluation_master=None, master=None, cluster=None, **kwargs)"),
    ("TPUConfig", "(iterations_per_loop=2, num_shards=None, num_cores_per_replica=None, "
     "per_host_input_for_training=True, tpu_job_name=None, initial_infeed_sleep_secs=None, "
     "input_partition_dims=None, "
     "eval_training_input_configuration=InputPipelineConfig.PER_HOST_V1, "
     "experimental_host_call_every_n_steps=1)"),
    ("TPUEstimator", "(model_fn=None, model_dir=None, config=None, params=None, use_tpu=True, "
     "train_batch_size=None, eval_batch_size=None, predict_batch_size=None, batch_axis=None, "
     "eval_on_tpu=True, export_to_tpu=True, export_to_cpu=True, warm_start_from=None)"),
    ("TPUEstimatorSpec", "(mode, predictions=None, loss=None, train_op=None, eval_metrics=None, "
     "export_outputs=None, scaffold_fn=None, host_call=None, training_hooks=None, "
     "evaluation_hooks=None, prediction_hooks=None)"),
]

_NAMES = [
    ("BestExporter", "class",
     "(name='best_exporter', serving_input_receiver_fn=None, "
     "event_file_pattern='eval/*.tfevents.*', compare_fn=_loss_smaller, assets_extra=None, "
     "as_text=False, exports_to_keep=5)"),
    ("EvalSpec", "class",
     "(input_fn, steps=100, name=None, hooks=None, exporters=None, start_delay_secs=120, "
     "throttle_secs=600)"),
    ("Exporter", "class", ""),
    ("FinalExporter", "class",
     "(name, serving_input_receiver_fn, assets_extra=None, as_text=False)"),
    ("LatestExporter", "class",
     "(name, serving_input_receiver_fn, assets_extra=None, as_text=False, exports_to_keep=5)"),
    ("TrainSpec", "class", "(input_fn, max_steps=None, hooks=None)"),
    ("train_and_evaluate", "function", "(estimator, train_spec, eval_spec)"),
    ("export.ClassificationOutput", "class", "(scores=None, classes=None)"),
    ("export.ExportOutput", "class", ""),
    ("export.PredictOutput", "class", "(outputs)"),
    ("export.RegressionOutput", "class", "(value)"),
    ("export.ServingInputReceiver", "class",
     "(features, receiver_tensors, receiver_tensors_alternatives=None)"),
    ("export.TensorServingInputReceiver", "class",
     "(features, receiver_tensors, receiver_tensors_alternatives=None)"),
    ("export.build_parsing_serving_input_receiver_fn", "function",
     "(feature_spec, default_batch_size=None)"),
    ("export.build_raw_serving_input_receiver_fn", "function",
     "(features, default_batch_size=None)"),
    ("Estimator", "class",
     "(model_fn, model_dir=None, config=None, params=None, warm_start_from=None)"),
    ("EstimatorSpec", "class",
     "(mode, predictions=None, loss=None, train_op=None, eval_metric_ops=None, "
     "export_outputs=None, training_chief_hooks=None, training_hooks=None, scaffold=None, "
     "evaluation_hooks=None, prediction_hooks=None)"),
    ("ModeKeys", "class", ""),
    ("RunConfig", "class",
     "(model_dir=None, tf_random_seed=None, save_summary_steps=100, "
     "save_checkpoints_steps=None, save_checkpoints_secs=600, session_config=None, "
     "keep_checkpoint_max=5, keep_checkpoint_every_n_hours=10000, log_step_count_steps=100, "
     "train_distribute=None, device_fn=None, protocol=None, eval_distribute=None, "
     "experimental_distribute=None)"),
    ("WarmStartSettings", "class",
     "(ckpt_to_initialize_from, vars_to_warm_start='.*', var_name_to_vocab_info=None, "
     "var_name_to_prev_var_name=None)"),
]
# fmt: on


def _hooks() -> list[str]:
    """The names below ``tf.estimator`` that are ``tf.train``'s own."""
    every = table("DROPINS")["contrib"]
    names = [name.rpartition(".")[2] for name, home in every.items() if "compat.v1.train" in home]
    return [name for name in names if "estimator." + name in every]


def rows(era: str) -> tuple[Row, ...]:
    """The rows of one era."""
    lines = [
        ("estimator.tpu." + name, "class", signature, "1.14", "1.15", _TPU + name + ".md")
        for name, signature in _TPU_NAMES
    ]
    if era == "contrib":
        lines += [
            (
                "contrib.tpu.AsyncCheckpointSaverHook",
                "class",
                "(checkpoint_dir, save_secs=None, save_steps=None, saver=None, "
                "checkpoint_basename='model.ckpt', scaffold=None, listeners=None)",
                "1.12",
                "1.15",
                _PAGES + "contrib/tpu/AsyncCheckpointSaverHook.md",
            )
        ]
        lines += [
            (
                "contrib.tpu." + name,
                "class",
                signature,
                "1.11",
                "1.15",
                _PAGES + "contrib/tpu/" + name + ".md",
            )
            for name, signature in _TPU_NAMES
        ]
    lines += [
        ("estimator." + name, kind, signature, "1.11", "2.15", _E + name.replace(".", "/") + ".md")
        for name, kind, signature in _NAMES
    ]
    lines += [
        ("estimator." + name, "class", "", "1.13", "2.15", _E + name + ".md") for name in _hooks()
    ]
    return beside_class(era, lines)
