"""``contrib.distribute.TPUStrategy(resolver, steps_per_run, num_cores)`` lost two arguments.

`steps_per_run` was for Keras and Estimator loops; `num_cores` became a
DeviceAssignment.
"""

import libcst as cst

from tpudist import surfaces
from tpudist.migrate import edits

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


def apply(use):
    """Renames the class and drops what is no argument any more.

    Args:
      use: the `Use`.
    """
    contrib = use.name in _OLD
    if use.call is not None and _OLD.get(use.name, use.name) == _TPU:
        if not _arguments(use, contrib):
            return None
    elif use.call is not None and use.call.args and not _is_same(use):
        return use.leave(
            "its arguments of contrib are not those of tf.distribute", "tf.%s" % _OLD[use.name]
        )
    return use.respell(_OLD[use.name]) if contrib else None


def _is_same(use):
    """Whether the only argument is the first one, which kept its meaning."""
    (argument, *more), name = use.call.args, use.name.rpartition(".")[2]
    return (
        not more
        and not argument.star
        and (argument.keyword is None or argument.keyword.value == _FIRST.get(name))
    )


def _arguments(use, contrib):
    """Plans the new arguments; False if the call is left."""
    cores = use.argument(2 if contrib else -1, "num_cores")
    if use.has_stars and contrib:
        use.leave("its arguments cannot be read here", "tf.%s(resolver)" % _TPU)
        return False
    if cores is not None and use.code(cores.value) != "None":
        use.leave(
            "num_cores has no successor of the same form",
            "device_assignment=tf.tpu.experimental.DeviceAssignment.build(topology, "
            "num_replicas=%s)" % use.code(cores.value),
        )
        return False
    steps = use.argument(1 if contrib else -1, "steps_per_run")
    if steps is None and cores is None:
        return True
    kept = [each is not steps and each is not cores for each in use.call.args]

    def call(updated):
        return edits.with_arguments(
            updated, [each for each, keep in zip(updated.args, kept) if keep]
        )

    use.plan.replace(use.call, call)
    if not contrib or isinstance(use.node, cst.Name):
        use.note("without steps_per_run")
    return True
