"""A ``computation_shape`` of three entries has four in newer TensorFlow: [x, y, z, core]."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tpudist.tools.migrate.use import Use

STEP = "latest"
NOTE = "https://www.tensorflow.org/api_docs/python/tf/tpu/experimental/DeviceAssignment"
USES = [("tf", "tpu.experimental.DeviceAssignment.build")]

_PLACES = (("computation_shape", 1), ("computation_stride", 2))


def apply(use: Use) -> None:
    """Adds the entry 1 before the last one.

    Args:
      use: the `Use`.
    """
    for name, index in _PLACES if use.call is not None else ():
        argument = use.argument(index, name)
        if argument is None or use.code(argument.value) == "None":
            continue
        if not isinstance(argument.value, (ast.List, ast.Tuple)):
            use.leave(
                "%s=%s cannot be read here" % (name, use.code(argument.value)),
                "[x, y, 1, cores] if it is [x, y, cores]",
            )
        elif len(argument.value.elts) == 3:
            use.wrap(argument.value.elts[2], "1, ", "")
            use.note("[x, y, 1, cores]")
