"""``contrib.distribute.TPUStrategy(resolver, steps_per_run, num_cores)`` lost two arguments.

`steps_per_run` was for Keras and Estimator loops: only the class of ``tf.compat.v1`` still
takes it. `num_cores` became a DeviceAssignment.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tpudist import surfaces

if TYPE_CHECKING:
    from tpudist.tools.migrate.use import Use

STEP = "2.0"
NOTE = (
    "https://www.tensorflow.org/versions/r2.0/api_docs/python/tf/distribute/experimental/"
    "TPUStrategy"
)
_OLD = {
    old: new
    for old, new in surfaces.NAMES["v2_0"].items()
    if old.endswith("Strategy") and "distribute" in old and "Distribution" not in old
}
_TPU = "distribute.experimental.TPUStrategy"
_FIRST = {"OneDeviceStrategy": "device", "MirroredStrategy": "devices"}
USES = [("tf", name) for name in [*_OLD, _TPU]]

_WITHOUT_STEPS = ", without steps_per_run, which only loops of Keras and Estimator read"


def apply(use: Use) -> None:
    """Renames the class and drops what is no argument any more.

    Args:
      use: the `Use`.
    """
    is_contrib = use.name in _OLD
    remark = ""
    if use.call is not None and _OLD.get(use.name, use.name) == _TPU:
        said = _arguments(use, is_contrib)
        if said is None:
            return
        remark = said
    elif use.call is not None and use.arguments and not _is_same(use):
        use.leave(
            "its arguments of contrib are not those of tf.distribute", "tf.%s" % _OLD[use.name]
        )
        return
    if is_contrib:
        use.respell(_OLD[use.name], remark)
    if remark and (not is_contrib or isinstance(use.node, ast.Name)):
        use.note(use.code() + remark)


def _is_same(use: Use) -> bool:
    """Whether the only argument is the first one, which kept its meaning."""
    (argument, *more), name = use.arguments, use.name.rpartition(".")[2]
    return not more and not argument.star and argument.name in ("", _FIRST.get(name))


def _arguments(use: Use, is_contrib: bool) -> str | None:
    """Changes the arguments; returns what is said of it, None if the call is left."""
    cores = use.argument(2 if is_contrib else -1, "num_cores")
    if use.has_stars and is_contrib:
        use.leave("its arguments cannot be read here", "tf.%s(resolver)" % _TPU)
        return None
    if cores is not None and use.code(cores.value) != "None":
        use.leave(
            "num_cores has no successor of the same form",
            "device_assignment=tf.tpu.experimental.DeviceAssignment.build(topology, "
            "num_replicas=%s)" % use.code(cores.value),
        )
        return None
    steps = None
    if not use.is_v1():
        steps = use.argument(1 if is_contrib else -1, "steps_per_run")
    use.remove_arguments([each for each in (steps, cores) if each is not None])
    return _WITHOUT_STEPS if steps is not None else ""
