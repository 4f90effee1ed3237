"""The table of where each name of ``tf.contrib`` leads, for drop-ins, migrate and doctor.

`lead` reads the tables here, without TensorFlow: what TensorFlow moved (`MOVED`) or has under
another meaning or privately (`LEADS`), what tpudist wrote again (`WRITTEN`), and which packages
carry a module on (`HOMES`; ``contrib_homes.txt`` lists their names, written by
``compat/contrib_homes.py``). A name that none of them has, but 1.15 had, is a stand-in:
``contrib_names.txt`` lists those, written by ``compat/contrib_names.py`` on 1.15.
"""

from __future__ import annotations

import functools
import os
from typing import NamedTuple

from tpudist.surfaces.dropins import DROPINS
from tpudist.surfaces.gone import GONE


def _moved(old: str, new: str, names: str) -> dict[str, str]:
    return {"%s.%s" % (old, name): (new + "." + name).lstrip(".") for name in names.split()}


#: Names that TensorFlow 1.15 has twice: the same object, or one that takes the same arguments,
#: below ``tf.compat.v1``. What to type instead of others is in `tpudist.surfaces.gone`.
MOVED = {
    **_moved("contrib.checkpoint", "train", "CheckpointManager"),
    **_moved(
        "contrib.cluster_resolver",
        "distribute.cluster_resolver",
        """ClusterResolver GCEClusterResolver KubernetesClusterResolver SimpleClusterResolver
        SlurmClusterResolver TFConfigClusterResolver""",
    ),
    **_moved("contrib.compiler.xla", "xla.experimental", "compile"),
    **_moved(
        "contrib.data",
        "data.experimental",
        """AUTOTUNE Counter Optional bucket_by_sequence_length choose_from_datasets
        copy_to_device dense_to_sparse_batch enumerate_dataset get_next_as_optional
        get_single_element group_by_reducer group_by_window ignore_errors
        make_batched_features_dataset make_csv_dataset make_saveable_from_iterator
        map_and_batch parallel_interleave parse_example_dataset prefetch_to_device
        rejection_resample sample_from_datasets scan shuffle_and_repeat unbatch unique""",
    ),
    **_moved("contrib.distribute", "distribute", "ReplicaContext"),
    **_moved(
        "contrib.distributions",
        "distributions",
        """Bernoulli Beta Categorical Dirichlet DirichletMultinomial Distribution Exponential
        Gamma Laplace Multinomial Normal RegisterKL ReparameterizationType StudentT Uniform
        kl_divergence""",
    ),
    **_moved("contrib.eager", "train", "Checkpoint"),
    **_moved(
        "contrib.eager", "", "GradientTape custom_gradient enable_eager_execution executing_eagerly"
    ),
    **_moved("contrib.framework", "", "argsort is_tensor sort"),
    **_moved(
        "contrib.framework",
        "train",
        """assert_global_step create_global_step get_global_step get_or_create_global_step""",
    ),
    **_moved(
        "contrib.framework.nest",
        "nest",
        "assert_same_structure flatten is_nested map_structure pack_sequence_as",
    ),
    **_moved("contrib.losses", "losses", "add_loss get_losses get_regularization_losses"),
    **_moved(
        "contrib.rnn",
        "nn.rnn_cell",
        """BasicLSTMCell BasicRNNCell DeviceWrapper DropoutWrapper GRUCell LSTMCell
        LSTMStateTuple MultiRNNCell RNNCell ResidualWrapper""",
    ),
    **_moved("contrib.rnn", "nn", "static_bidirectional_rnn static_rnn static_state_saving_rnn"),
    **_moved(
        "contrib.signal",
        "signal",
        """frame hamming_window hann_window inverse_stft inverse_stft_window_fn
        linear_to_mel_weight_matrix mfccs_from_log_mel_spectrograms overlap_and_add stft""",
    ),
    **_moved("contrib.stateless", "random", "stateless_multinomial stateless_truncated_normal"),
    **_moved("contrib.tpu", "tpu", "core outside_compilation"),
    **_moved("contrib.training", "train", "checkpoints_iterator"),
    **_moved("contrib.util", "", "make_ndarray make_tensor_proto"),
    "contrib.cluster_resolver.UnionClusterResolver": "distribute.cluster_resolver.UnionResolver",
    "contrib.compiler.jit.experimental_jit_scope": "xla.experimental.jit_scope",
    "contrib.eager.connect_to_remote_host": "config.experimental_connect_to_host",
    "contrib.eager.in_eager_mode": "executing_eagerly",
    "contrib.eager.py_func": "py_function",
    "contrib.stateless.stateless_random_normal": "random.stateless_normal",
    "contrib.stateless.stateless_random_uniform": "random.stateless_uniform",
    "contrib.util.constant_value": "get_static_value",
}


_PORTS = "tpudist.legacy.contrib_ports."


def _names(module: str, target: str, names: str) -> dict[str, str]:
    return {"%s.%s" % (module, name): "%s%s:%s" % (_PORTS, target, name) for name in names.split()}


# fmt: off

#: Names that tpudist has itself.
WRITTEN = {
    **_names("contrib.training", "hyperparameters", "HParams parse_values"),
    **_names("contrib.learn", "hyperparameters", "ModeKeys"),
    **_names("contrib.learn.monitors", "monitors", "replace_monitors_with_hooks"),
    **_names("contrib.estimator", "early_stopping",
             """make_early_stopping_hook read_eval_metrics stop_if_higher_hook
             stop_if_lower_hook stop_if_no_decrease_hook stop_if_no_increase_hook"""),
    **_names("contrib.data", "datasets",
             "batch_and_drop_remainder padded_batch_and_drop_remainder sliding_window_batch"),
    **_names("contrib.opt", "optimizers",
             """AdaMaxOptimizer AdamWOptimizer DecoupledWeightDecayExtension LARSOptimizer
             LazyAdamOptimizer MomentumWOptimizer MovingAverageOptimizer
             extend_with_decoupled_weight_decay"""),
    **_names("contrib.distribute", "distribute",
             """CollectiveAllReduceStrategy DistributeConfig MirroredStrategy Monitor
             OneDeviceStrategy ParameterServerStrategy"""),
}

#: What `MOVED` cannot say: names below ``tf.compat.v1`` with another meaning there than the
#: codemod may give them, or private ones. ``tensorflow.`` is a module's full name.
LEADS = {
    "contrib.autograph": "autograph",
    "contrib.checkpoint.Checkpointable": "python.training.tracking.tracking.AutoTrackable",
    "contrib.checkpoint.NoDependency": "python.training.tracking.data_structures.NoDependency",
    "contrib.framework.get_name_scope": "python.framework.ops.get_name_scope",
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


#: The kinds of leads: a name of an era's surface, TensorFlow's own, one below its private
#: packages, one of another package, one that tpudist wrote again, and none.
SURFACE, PUBLIC, PRIVATE, PACKAGE = "surface", "public", "private", "package"
KEPT, NOWHERE = "kept", "gone"

_V1 = "tensorflow.compat.v1."


class Lead(NamedTuple):
    """Where a name of contrib leads.

    Attributes:
      kind: one of the constants of this module.
      target: full dotted name, as a program reads it; "" if it is gone. Of a surface it is
        that of the drop-in namespace.
      package: what has to be installed beside TensorFlow and tpudist, as pip names it; "".
    """

    kind: str
    target: str
    package: str = ""


@functools.lru_cache(maxsize=None)
def lead(path: str) -> Lead:
    """Where a name of contrib leads.

    Args:
      path: dotted name below ``tf``, of a name or module: "contrib.slim.conv2d".
    """
    public = path if path in contrib_modules() else public_name(path)
    for spelled in dict.fromkeys((path, public)):
        if spelled in DROPINS["contrib"]:
            return Lead(SURFACE, "tpudist.contrib.tensorflow." + spelled)
        if spelled in WRITTEN:
            return Lead(KEPT, _PORTS + spelled.rpartition(".")[2])
        known = LEADS.get(spelled) or MOVED.get(spelled)
        if known:
            return _tensorflow(known)
        home = home_of(spelled)
        if home:
            return _elsewhere(home)
        if spelled in HOMES:  # a module whose names nobody has listed
            first = HOMES[spelled].split()[0]
            return Lead(
                PRIVATE, first, "" if first.startswith("tensorflow.") else first.partition(".")[0]
            )
    return _inside_a_module(path)


def _tensorflow(known: str) -> Lead:
    if known.startswith(("python.", "core.")):
        return Lead(PRIVATE, "tensorflow." + known)
    return Lead(PUBLIC, _V1 + known)


def _elsewhere(home: str) -> Lead:
    first = home.partition(".")[0]
    if first.startswith("!"):  # no attribute of its package
        return Lead(PRIVATE, home[1:], first[1:])
    if first == "tensorflow":
        return Lead(PUBLIC if home.startswith(_V1) else PRIVATE, home)
    return Lead(PACKAGE, home, first)


def _inside_a_module(path: str) -> Lead:
    """The lead of a name below a module that leads elsewhere as a whole."""
    module, _, name = path.rpartition(".")
    while module:
        if module in _rows():  # its names are known, and this is none of them
            break
        if module in LEADS:
            return _tensorflow("%s.%s" % (LEADS[module], name))
        if HOMES.get(module, "").startswith("tensorflow."):
            return _elsewhere("%s.%s" % (HOMES[module], name))
        if HOMES.get(module) == "tensorflow_gan":  # Told, not written: it ends with 2.15.
            return Lead(PRIVATE, "tensorflow_gan." + name, "tensorflow_gan")
        module, _, last = module.rpartition(".")
        name = "%s.%s" % (last, name)
    return Lead(NOWHERE, "")


@functools.lru_cache(maxsize=None)
def _rows() -> dict[str, dict[str, frozenset[str]]]:
    """{module of contrib: {what carries it on: names there}}, the largest first."""
    with open(os.path.join(os.path.dirname(__file__), "contrib_homes.txt")) as lines:
        rows = [line.split() for line in lines if not line.startswith("#")]
    homes: dict[str, dict[str, frozenset[str]]] = {}
    for module, home, *names in sorted(rows, key=len, reverse=True):
        homes.setdefault(module, {})[home] = frozenset(names)
    return homes


def home_of(path: str) -> str:
    """The full name that a name or module of contrib has in a package, "" if in none.

    Args:
      path: dotted name below ``tf``. A module is carried on by the one that has most of its
        names; names that are elsewhere lead there.
    """
    if path in _rows():
        return next((home for home in _rows()[path] if home[0] != "!"), "")
    module, _, name = path.rpartition(".")
    for home, names in _rows().get(module, {}).items():
        if name in names:
            return "%s.%s" % (home, name)
    if module in _rows() or module.count(".") < 2:
        return ""
    above = home_of(module)
    is_class = above.rpartition(".")[2][:1].isupper()
    return "%s.%s" % (above, name) if is_class or name in _names_of(above) else ""


def _names_of(home: str) -> frozenset[str]:
    """The names of a module of a package, by whatever module of contrib it carries on."""
    return frozenset().union(*(homes.get(home, ()) for homes in _rows().values()))


def leads_below(module: str) -> bool:
    """Whether names below a module of contrib lead somewhere."""
    tables = (MOVED, LEADS, WRITTEN, DROPINS["contrib"], _rows())
    start = module + "."
    public = public_name(module + ".x").rpartition(".")[0] + "."
    return any(key.startswith((start, public)) for table in tables for key in table)


class Successor(NamedTuple):
    """What a migrated program says for a name of contrib.

    Attributes:
      target: full dotted name; ``tensorflow.compat.v1.x`` is ``tf.x`` of the program.
      parameters: {parameter: what it is called today}, of those that kept their meaning;
        None if all did.
      places: how many of these kept their places.
      package: as of `Lead`.
    """

    target: str
    parameters: dict[str, str] | None
    places: int
    package: str


def successor(path: str) -> Successor | None:
    """What a migrated program says for a name or module of contrib, None if there is nothing.

    Names of the eras' own surfaces have rules of their own. What is private to TensorFlow,
    or asks for another program (`tpudist.surfaces.gone` says so of that very name), is told.

    Args:
      path: dotted name below ``tf``.
    """
    where = lead(path)
    if where.kind not in (PUBLIC, PACKAGE, KEPT) or _is_gone(path):
        return None
    kept = PARAMETERS.get(public_name(path))
    if kept is None:
        return Successor(where.target, None, 0, where.package)
    places = len(kept.partition("|")[0].split())
    return Successor(where.target, _parameters(kept.replace("|", "")), places, where.package)


def _is_gone(path: str) -> bool:
    """Whether what to type instead is said of that very name, not of its module."""
    return path in GONE and path not in contrib_modules()


def _parameters(kept: str) -> dict[str, str]:
    pairs = [each.partition("=") for each in kept.split()]
    return {old: new or old for old, _, new in pairs}
