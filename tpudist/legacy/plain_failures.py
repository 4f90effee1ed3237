"""Explains failures that plain TensorFlow has too, in the words of ``failures.cfg``."""

from __future__ import annotations

import configparser
import os
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

#: What Python and TensorFlow say of a value of each replica that is used as one tensor.
_PER_REPLICA = re.compile(
    r"'PerReplica' object (has no attribute|is not)|\bPerReplica object while not inside|"
    r"(operand type|argument|format).*\bPerReplica\b|convert a value \(PerReplica"
)


def explained(error: BaseException) -> TpudistError | None:
    """Explains an error of a script that plain TensorFlow raises too; None if it is another one."""
    from tpudist.tfcompat import keras_packages, versions

    if any(name == "infer_steps_for_dataset" for _, name in _functions(error)):
        subclassed = _of_a_subclassed_model(error)
        if subclassed is not None:
            return subclassed
    said = str(error)
    table = configparser.ConfigParser(interpolation=None)
    table.read(os.path.join(os.path.dirname(__file__), "failures.cfg"), encoding="utf-8")
    for name, row in table.items():
        holds = name in _ASKED and _ASKED[name](error)
        if holds or "says" in row and any(re.search(x, said) for x in row["says"].split("\n")):
            seen, why, instead = (row[x].replace("\n", " ") for x in ("seen", "why", "instead"))
            return ScriptError(seen, why, instead)
    if _PER_REPLICA.search(said):
        seen = "a per-replica value, such as strategy.run returns, is used as one tensor"
        return ScriptError(seen, PerReplicaUseError.WHY, PerReplicaUseError.INSTEAD)
    if isinstance(error, ModuleNotFoundError) and (error.name or "").startswith("tf_keras"):
        return ScriptError(
            "no module %s, which TensorFlow %s itself asks for" % (error.name, versions.TF),
            "layers of TensorFlow 1, and tf_slim on them, are Keras 2, a package of its own",
            machine.legacy_keras_line(keras_packages.minor()),
        )
    if _CONVOLUTION.search(said) and _fails():
        return ScriptError(
            "a bfloat16 convolution on the CPU",
            "plain TensorFlow %s fails at it too, without tpudist: it was tried" % versions.TF,
            "float32 on the CPU, or another TensorFlow; tpudist run --compile compiles what was "
            "traced all the same",
        )
    return None


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
    """Whether Keras failed since its data are neither arrays nor a dataset."""
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


#: {row of the table: whether an error is of it}.
_ASKED = {
    "another-session": _is_of_another_session,
    "generator": _is_of_a_generator,
    "one-batch": _is_of_one_batch,
}


def _fails() -> bool:
    """Whether a bfloat16 convolution fails here."""
    import tensorflow as tf

    try:
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            image = tf.compat.v1.placeholder(tf.float32, [1, 1, 1, 1])
            narrow = tf.cast(image, tf.bfloat16)
            wide = tf.cast(tf.nn.conv2d(narrow, narrow, [1] * 4, "SAME"), tf.float32)
            session.run(wide, {image: [[[[1.0]]]]})
    except tf.errors.OpError:
        return True
    return False
