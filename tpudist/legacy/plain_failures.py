"""Failures of a script that are plain TensorFlow's own, found by trying them there."""

from __future__ import annotations

import re
import types
from typing import Iterator

from tpudist import machine
from tpudist.errors import PerReplicaUseError, ScriptError, TpudistError

#: An op of an error: ``{{node Conv2D}}``, ``with these attrs: [T=DT_BFLOAT16, ...]``.
_CONVOLUTION = re.compile(
    r"Missing \d+-th output from \{\{node \S*Conv2D\S*\}\}|'Conv2D'.*BFLOAT16"
)

#: What TensorFlow says of a variable that a session does not have.
_LOST = re.compile("(reading resource|not find) variable .*does not exist", re.DOTALL)

#: What TensorFlow says, beside the parts of an error that says what to type.
_SAID = {
    re.compile(
        "optimizer slot variable under the scope for tf.distribute.Strategy "
        r"\(<\S*DefaultDistributionStrategy"
    ): ScriptError(
        "weights or a checkpoint loaded outside of the strategy's scope, with what an optimizer "
        "has kept",
        "it is made where it is loaded, and the variables that it belongs to are the strategy's",
        "with strategy.scope(): model.load_weights(PATH), or checkpoint.restore(PATH), there too",
    ),
    re.compile(
        "Trying to create optimizer slot variable under the scope|"
        "`colocate_vars_with` must only be passed a variable created in this"
    ): ScriptError(
        "an optimizer in a strategy's scope, for variables that were made outside of it",
        "the strategy keeps together what is made in its scope only",
        "with strategy.scope(): model = ..., optimizer = ...",
    ),
    re.compile("No OpKernel was registered to support Op 'CrossReplicaSum'"): ScriptError(
        "a CrossShardOptimizer, or a cross_replica_sum, in a graph that is run without a TPU",
        "it sums over replicas, and there are none around it",
        "the optimizer itself, or the step in a TPUEstimator, tf.contrib.tpu.shard or "
        "tf.contrib.tpu.rewrite",
    ),
    re.compile(
        r"'PerReplica' object (has no attribute|is not)|\bPerReplica object while not inside|"
        r"(operand type|argument|format).*\bPerReplica\b|convert a value \(PerReplica"
    ): ScriptError(
        "a per-replica value, such as strategy.run returns, is used as one tensor",
        PerReplicaUseError.WHY,
        PerReplicaUseError.INSTEAD,
    ),
    re.compile("handle`? is not available outside the replica context"): ScriptError(
        "a gradient, or an op, of a strategy's variable outside of a replica function",
        "each replica has a copy of the variable, and none is meant there",
        "strategy.run(train_step, args=(batch,)), in a tf.function; tf.convert_to_tensor(variable) "
        "is its value anywhere",
    ),
    re.compile(r"\breduce\(\) missing 1 required positional argument: 'axis'"): ScriptError(
        "strategy.reduce without an axis",
        "with one, the rows of each replica's value are reduced too, and there is no default",
        "strategy.reduce(tf.distribute.ReduceOp.SUM, value, axis=None), the sum over the replicas",
    ),
    re.compile(
        "`sample_weight` is (currently )?not supported .*(TPUStrategy|Strategy)"
    ): ScriptError(
        "sample_weight of a model under a TPUStrategy",
        "Keras takes none in a graph under a strategy: plain TensorFlow fails too",
        "tf.contrib.tpu.keras_to_tpu_model, or a loss that weighs",
    ),
    re.compile("`batch` `map_and_batch` need to be the last operations"): ScriptError(
        "predict of a dataset whose last step is not batch(ROWS)",
        "Keras pads the last batch under a TPUStrategy, and reads there how many rows one has",
        "dataset....batch(ROWS), or batch(ROWS, drop_remainder=True) anywhere",
    ),
    re.compile(
        r"Number of samples \d+ is less than samples required|"
        r"number of samples \d+ is not divisible by"
    ): ScriptError(
        "arrays whose rows are not those of so many steps",
        "Keras of TensorFlow 1 takes whole batches under a strategy: plain TensorFlow fails too",
        "a batch_size that divides the number of rows, and no steps; or a tf.data.Dataset",
    ),
    re.compile("does not support pure eager execution"): ScriptError(
        "strategy.run of a plain function in eager mode; Keras does so itself to build a "
        "subclassed model of a generator's first batch",
        "a TPU runs compiled programs only",
        "@tf.function around the step; for Keras a tf.data.Dataset, or the model called once on "
        "a batch before",
    ),
    re.compile("Shapes must be equal rank.*AddN.*Regularizer", re.DOTALL): ScriptError(
        "compiled_loss(..., regularization_losses=...) of a loss with Reduction.NONE",
        "Keras adds a loss for each row and the scalars of the regularizers: plain Keras fails too",
        "compiled_loss(targets, outputs), and after tf.nn.compute_average_loss "
        "loss += tf.nn.scale_regularization_loss(self.losses)",
    ),
}


def explained(error: BaseException) -> TpudistError | None:
    """Explains an error that plain TensorFlow raises too; None if it is another one.

    Args:
      error: what the script raised.
    """
    if any(name == "infer_steps_for_dataset" for _, name in _functions(error)):
        subclassed = _of_a_subclassed_model(error)
        if subclassed is not None:
            return subclassed
    if _is_of_another_session(error):
        return ScriptError(
            "a model of Keras that is loaded, or compiled, after another one or after its own "
            "weights, in a strategy's graph",
            "Keras starts a new session there for each model, which loses the variables of those "
            "before, and load_model asks for the optimizer's out of their place: plain TensorFlow "
            "fails too",
            "model.load_weights(PATH) of a model that was compiled before; it takes the file of a "
            "whole model",
        )
    if _is_of_a_generator(error):
        return ScriptError(
            "a generator for a model under a strategy",
            "Keras of TensorFlow 1 takes arrays and datasets there: plain TensorFlow fails too",
            "tf.data.Dataset.from_generator(...) with known shapes, arrays, or "
            "tf.contrib.tpu.keras_to_tpu_model",
        )
    if _is_of_one_batch(error):
        return ScriptError(
            "train_on_batch or test_on_batch of a model under a strategy, in a graph",
            "Keras calls the model eagerly there: plain TensorFlow fails too",
            "model.fit(x, y, batch_size=len(x), epochs=1), or model.evaluate(x, y, "
            "batch_size=len(x))",
        )
    for said, told in _SAID.items():
        if said.search(str(error)):
            return told
    from tpudist.tfcompat import keras_packages, versions

    if isinstance(error, ModuleNotFoundError) and (error.name or "").startswith("tf_keras"):
        return ScriptError(
            "no module %s, which TensorFlow %s itself asks for" % (error.name, versions.TF),
            "layers of TensorFlow 1, and tf_slim on them, are Keras 2, a package of its own",
            machine.legacy_keras_line(keras_packages.minor()),
        )
    if not _CONVOLUTION.search(str(error)) or not _fails():
        return None

    return ScriptError(
        "a bfloat16 convolution on the CPU",
        "plain TensorFlow %s fails at it too, without tpudist: it was tried" % versions.TF,
        "float32 on the CPU, or another TensorFlow; tpudist run --compile compiles what was "
        "traced all the same",
    )


def _functions(error: BaseException) -> Iterator[tuple[str, str]]:
    """Yields (module, function) of each call that an exception has come through."""
    for frame in _frames(error):
        yield frame.f_globals.get("__name__", ""), frame.f_code.co_name


def _frames(error: BaseException) -> Iterator[types.FrameType]:
    """Yields the frame of each call that an exception has come through."""
    trace = error.__traceback__
    while trace is not None:
        yield trace.tb_frame
        trace = trace.tb_next


def _of_a_subclassed_model(error: BaseException) -> TpudistError | None:
    """Explains an error of Keras' loops for a subclassed model; None if it is not of one.

    Of a dataset the strategy refuses such a model itself. Of arrays Keras fails before it asks.
    """
    from tpudist.keras import whole_batches

    for frame in _frames(error):
        in_a_loop = ".training_distributed" in frame.f_globals.get("__name__", "")
        if in_a_loop and whole_batches.is_subclassed(frame.f_locals.get("model")):
            return whole_batches.subclassed_model()
    return None


def _is_of_a_generator(error: BaseException) -> bool:
    """Whether Keras failed since it was given what is no dataset and has no arrays."""
    asserting = ("_distribution_standardize_user_data", "infer_steps_for_dataset")
    return isinstance(error, AssertionError) and any(
        "keras" in module and name in asserting for module, name in _functions(error)
    )


def _is_of_one_batch(error: BaseException) -> bool:
    """Whether Keras failed since it takes a single batch in eager mode only."""
    names = {name for module, name in _functions(error) if "keras" in module}
    return isinstance(error, AssertionError) and "eager_learning_phase_scope" in names


def _is_of_another_session(error: BaseException) -> bool:
    """Whether Keras failed since its new session lacks variables, or in ``load_model``."""
    names = set()
    for module, name in _functions(error):
        if "keras" in module:
            names |= {module.rpartition(".")[2], name}
    if "load_model" in names:
        return "`handle` is not available" in str(error)
    if not names & {"training_distributed", "training_distributed_v1"}:
        return False
    return type(error).__name__ == "FailedPreconditionError" and bool(_LOST.search(str(error)))


def _fails() -> bool:
    """Whether a bfloat16 convolution fails here."""
    import tensorflow as tf

    try:
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            image = tf.compat.v1.placeholder(tf.float32, [1, 1, 1, 1])
            narrow = tf.cast(image, tf.bfloat16)
            wide = tf.cast(tf.nn.conv2d(narrow, narrow, [1] * 4, "SAME"), tf.float32)
            session.run(wide, {image: [[[[1.0]]]]})
    except Exception:  # of whatever kind: it is what the script met  # noqa: BLE001
        return True
    return False
