"""``contrib.distribute.TPUStrategy(resolver, steps_per_run, num_cores)`` lost two arguments.

`steps_per_run` was for Keras and Estimator loops: only the class of ``tf.compat.v1`` still
takes it. `num_cores` became a DeviceAssignment.
"""

import libcst as cst

from tpudist import surfaces
from tpudist.tools.migrate import edits

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
USES = [("tf", name) for name in list(_OLD) + [_TPU]]

_WITHOUT_STEPS = ", without steps_per_run, which only loops of Keras and Estimator read"


def apply(use):
    """Renames the class and drops what is no argument any more.

    Args:
      use: the `Use`.
    """
    contrib, remark = use.name in _OLD, ""
    if use.call is not None and _OLD.get(use.name, use.name) == _TPU:
        remark = _arguments(use, contrib)
        if remark is None:
            return
    elif use.call is not None and use.call.args and not _is_same(use):
        use.leave(
            "its arguments of contrib are not those of tf.distribute", "tf.%s" % _OLD[use.name]
        )
        return
    if contrib:
        use.respell(_OLD[use.name], remark)
    if remark and (not contrib or isinstance(use.node, cst.Name)):
        use.note(use.code() + remark)


def _is_same(use):
    """Whether the only argument is the first one, which kept its meaning."""
    (argument, *more), name = use.call.args, use.name.rpartition(".")[2]
    return (
        not more
        and not argument.star
        and (argument.keyword is None or argument.keyword.value == _FIRST.get(name))
    )


def _arguments(use, contrib):
    """Plans the new arguments; returns what goes with them, None if the call is left."""
    cores = use.argument(2 if contrib else -1, "num_cores")
    if use.has_stars and contrib:
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
        steps = use.argument(1 if contrib else -1, "steps_per_run")
    if steps is None and cores is None:
        return ""
    kept = [each is not steps and each is not cores for each in use.call.args]

    def call(updated):
        return edits.with_arguments(
            updated, [each for each, keep in zip(updated.args, kept) if keep]
        )

    def text(function, arguments):
        return edits.call_text(function, [each for each, keep in zip(arguments, kept) if keep])

    use.plan.replace(use.call, edits.SpelledCall(call, text))
    return _WITHOUT_STEPS if steps is not None else ""
