"""Where today's packages have the names of ``tf.contrib``, and which there were.

Read with `MOVED` (:mod:`tpudist.surfaces.contrib_moved`): first the names that TensorFlow
moved, then those that tpudist wrote again, then the modules that carry a module of contrib
on. A name that none of them has, but 1.15 had, is a stand-in; ``contrib_names.txt`` lists
them, written by ``compat/contrib_names.py`` on 1.15.
"""

from __future__ import annotations

import functools
import os

# fmt: off
_KEPT = "tpudist.legacy.contrib_ports."


def _names(module: str, target: str, names: str) -> dict[str, str]:
    return {"%s.%s" % (module, name): "%s%s:%s" % (_KEPT, target, name) for name in names.split()}


#: Names that tpudist has itself.
WRITTEN = {
    **_names("contrib.training", "hyperparameters", "HParams parse_values"),
    **_names("contrib.learn", "hyperparameters", "ModeKeys"),
    **_names("contrib.data", "datasets",
             "batch_and_drop_remainder padded_batch_and_drop_remainder sliding_window_batch"),
    **_names("contrib.opt", "optimizers", "AdaMaxOptimizer LARSOptimizer LazyAdamOptimizer"),
    **_names("contrib.opt", "wrapping_optimizers",
             """AdamWOptimizer DecoupledWeightDecayExtension MomentumWOptimizer
             MovingAverageOptimizer extend_with_decoupled_weight_decay"""),
    **_names("contrib.distribute", "strategies",
             """CollectiveAllReduceStrategy DistributeConfig MirroredStrategy OneDeviceStrategy
             ParameterServerStrategy"""),
    **_names("contrib.distribute", "monitor", "Monitor"),
}

#: What `MOVED` cannot say: names below ``tf.compat.v1`` with another meaning there than the
#: codemod may give them, or private ones. ``tensorflow.`` is a module's full name.
LEADS = {
    "contrib.autograph": "autograph",
    "contrib.checkpoint.Checkpointable": "python.training.tracking.tracking.AutoTrackable",
    "contrib.checkpoint.NoDependency": "python.training.tracking.data_structures.NoDependency",
    "contrib.data.CsvDataset": "data.experimental.CsvDataset",
    "contrib.data.RandomDataset": "data.experimental.RandomDataset",
    "contrib.data.Reducer": "data.experimental.Reducer",
    "contrib.data.SqlDataset": "data.experimental.SqlDataset",
    "contrib.data.TFRecordWriter": "data.experimental.TFRecordWriter",
    "contrib.distribute.AllReduceCrossDeviceOps":
        "python.distribute.cross_device_ops.AllReduceCrossDeviceOps",
    "contrib.distribute.AllReduceCrossTowerOps":
        "python.distribute.cross_device_ops.AllReduceCrossDeviceOps",
    "contrib.distribute.CrossDeviceOps": "distribute.CrossDeviceOps",
    "contrib.distribute.CrossTowerOps": "distribute.CrossDeviceOps",
    "contrib.distribute.ReductionToOneDeviceCrossTowerOps": "distribute.ReductionToOneDevice",
    "contrib.distribute.StandardInputStep": "python.distribute.step_fn.StandardInputStep",
    "contrib.distribute.StandardSingleLossStep":
        "python.distribute.step_fn.StandardSingleLossStep",
    "contrib.distribute.Step": "python.distribute.step_fn.Step",
    "contrib.distribute.UpdateContext": "python.distribute.distribute_lib.UpdateContext",
    "contrib.distribute.get_cross_replica_context":
        "python.distribute.distribution_strategy_context.get_cross_replica_context",
    "contrib.distribute.require_replica_context":
        "python.distribute.distribute_lib.require_replica_context",
    "contrib.distribute.require_tower_context":
        "python.distribute.distribute_lib.require_replica_context",
    "contrib.distribute.run_standard_tensorflow_server":
        "python.distribute.distribute_coordinator.run_standard_tensorflow_server",
    "contrib.distribute.python.values.PerDevice": "python.distribute.values.PerDevice",
    "contrib.distribute.python.values.TowerLocalVariable":
        "python.distribute.values.TowerLocalVariable",
    "contrib.eager.Iterator": "data.make_one_shot_iterator",
    "contrib.eager.TensorSpec": "TensorSpec",
    "contrib.eager.Variable": "python.ops.resource_variable_ops.ResourceVariable",
    "contrib.eager.defun": "function",
    "contrib.eager.function": "function",
    "contrib.feature_column": "feature_column",
    "contrib.framework.TensorSpec": "TensorSpec",
    "contrib.framework.init_from_checkpoint": "train.init_from_checkpoint",
    "contrib.framework.list_variables": "train.list_variables",
    "contrib.framework.load_checkpoint": "train.load_checkpoint",
    "contrib.framework.load_variable": "train.load_variable",
    "contrib.framework.nest": "python.util.nest",
    "contrib.framework.py_func": "py_func",
    "contrib.framework.smart_cond": "python.framework.smart_cond.smart_cond",
    "contrib.framework.smart_constant_value":
        "python.framework.smart_cond.smart_constant_value",
    "contrib.keras": "keras",
    "contrib.lite": "lite",
    "contrib.rnn.LSTMStateTuple": "nn.rnn_cell.LSTMStateTuple",
    "contrib.summary.all_summary_ops": "python.ops.summary_ops_v2.all_v2_summary_ops",
    "contrib.tpu.repeat": "python.tpu.training_loop.repeat",
    "contrib.tpu.while_loop": "python.tpu.training_loop.while_loop",
    "contrib.util.ops_used_by_graph_def":
        "python.framework.meta_graph.ops_used_by_graph_def",
    "contrib.util.stripped_op_list_for_graph":
        "python.framework.meta_graph.stripped_op_list_for_graph",
}

#: {module: the modules that carry it on}, first found first; of TensorFlow, or of a package.
HOMES = {
    "contrib.distribute.python.combinations": "tensorflow.python.distribute.combinations",
    "contrib.distribute.python.cross_tower_ops": "tensorflow.python.distribute.cross_device_ops",
    "contrib.distribute.python.step_fn": "tensorflow.python.distribute.step_fn",
    "contrib.distribute.python.values": "tensorflow.python.distribute.values",
    "contrib.distributions": "tensorflow_probability.python.distributions",
    "contrib.framework": "tf_slim tf_slim.ops.variables",
    "contrib.gan": "tensorflow_gan",
    "contrib.layers": "tf_slim.layers tf_slim tf_slim.layers.regularizers",
    "contrib.layers.python.layers": "tf_slim.layers",
    "contrib.lookup": "tensorflow.python.ops.lookup_ops",
    "contrib.losses": "tf_slim.losses",
    "contrib.metrics": "tf_slim.metrics",
    "contrib.slim": "tf_slim",
    "contrib.slim.nets": "tf_slim.nets",
    "contrib.slim.python.slim": "tf_slim",
    "contrib.slim.python.slim.data": "tf_slim.data",
    "contrib.slim.python.slim.nets": "tf_slim.nets",
    "contrib.summary": "tensorflow.python.ops.summary_ops_v2",
    "contrib.tensorboard.plugins.projector": "tensorboard.plugins.projector",
    "contrib.tpu.python.ops": "tensorflow.python.tpu.ops",
    "contrib.tpu.python.tpu": "tensorflow.python.tpu",
    "contrib.training": "tf_slim.training.training tf_slim.training.evaluation "
                        "tf_slim.evaluation",
}

_FLAGS = "| validate_args allow_nan_stats name"

#: {name whose successor takes other arguments: the parameters that kept their meaning, in
#: order, ``old=new`` where they have other names}; behind a bar those that lost their places.
#: A call with another argument cannot be rewritten.
PARAMETERS = {
    "contrib.distributions.ExpRelaxedOneHotCategorical": "temperature logits probs " + _FLAGS,
    "contrib.distributions.Geometric": "logits probs " + _FLAGS,
    "contrib.distributions.Independent":
        "distribution reinterpreted_batch_ndims validate_args | name",
    "contrib.distributions.InverseGamma": "concentration rate=scale " + _FLAGS,
    "contrib.distributions.Kumaraswamy": "concentration1 concentration0 " + _FLAGS,
    "contrib.distributions.Mixture": "cat components validate_args allow_nan_stats | name",
    "contrib.distributions.MixtureSameFamily":
        "mixture_distribution components_distribution " + _FLAGS,
    "contrib.distributions.MultivariateNormalDiag": "loc scale_diag " + _FLAGS,
    "contrib.distributions.MultivariateNormalDiagPlusLowRank":
        "loc scale_diag | scale_perturb_factor scale_perturb_diag validate_args "
        "allow_nan_stats name",
    "contrib.distributions.MultivariateNormalTriL":
        "loc scale_tril validate_args allow_nan_stats | name",
    "contrib.distributions.NegativeBinomial":
        "total_count logits probs validate_args allow_nan_stats | name",
    "contrib.distributions.Poisson": "rate log_rate " + _FLAGS,
    "contrib.distributions.RelaxedOneHotCategorical": "temperature logits probs " + _FLAGS,
    "contrib.distributions.TransformedDistribution":
        "distribution bijector | validate_args name",
    "contrib.eager.Iterator": "dataset",
    "contrib.eager.defun": "func input_signature autograph",
    "contrib.eager.function":
        "func input_signature autograph | experimental_autograph_options "
        "experimental_relax_shapes=reduce_retracing experimental_compile=jit_compile",
    "contrib.framework.init_from_checkpoint": "checkpoint_dir=ckpt_dir_or_file assignment_map",
    "contrib.framework.list_variables": "checkpoint_dir=ckpt_dir_or_file",
    "contrib.framework.load_checkpoint": "filepattern=ckpt_dir_or_file",
    "contrib.framework.load_variable": "checkpoint_dir=ckpt_dir_or_file name",
    "contrib.framework.py_func": "",
}
# fmt: on


@functools.lru_cache(maxsize=None)
def contrib_modules() -> dict[str, frozenset[str]]:
    """{module of 1.15's contrib: its public names}, such as "contrib.opt"."""
    with open(os.path.join(os.path.dirname(__file__), "contrib_names.txt")) as lines:
        rows = [line.split() for line in lines if not line.startswith("#")]
    return {row[0]: frozenset(row[1:]) for row in rows if row}


def public_name(path: str) -> str:
    """The public spelling of a deep one: ``contrib.opt.python.training.x.Y`` is ``contrib.opt.Y``.

    Args:
      path: dotted name below ``tf``.
    """
    parts = path.split(".")
    if len(parts) > 3 and parts[0] == "contrib" and parts[2] in ("python", "ops"):
        return ".".join(parts[:2] + parts[-1:])
    return path
