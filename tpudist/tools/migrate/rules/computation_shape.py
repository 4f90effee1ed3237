"""A ``computation_shape`` of three entries has four in newer TensorFlow: [x, y, z, core]."""

import libcst as cst

STEP = "latest"
NOTE = "https://www.tensorflow.org/api_docs/python/tf/tpu/experimental/DeviceAssignment"
USES = [("tf", "tpu.experimental.DeviceAssignment.build")]

_PLACES = (("computation_shape", 1), ("computation_stride", 2))


def apply(use):
    """Adds the entry 1 before the last one.

    Args:
      use: the `Use`.
    """
    if use.call is None:
        return
    for name, index in _PLACES:
        argument = use.argument(index, name)
        if argument is None or use.code(argument.value) == "None":
            continue
        node = argument.value
        if not isinstance(node, (cst.List, cst.Tuple)):
            use.leave(
                "%s=%s cannot be read here" % (name, use.code(node)),
                "[x, y, 1, cores] if it is [x, y, cores]",
            )
        elif len(node.elements) == 3:
            use.rewrite(node, _longer, "[x, y, 1, cores]")


def _longer(updated):
    one = cst.Element(cst.Integer("1"), comma=updated.elements[1].comma)
    return updated.with_changes(
        elements=list(updated.elements[:2]) + [one] + list(updated.elements[2:])
    )
