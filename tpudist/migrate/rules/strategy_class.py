"""``experimental.TPUStrategy`` is ``TPUStrategy`` since 2.3, its assignment ``experimental_``.

Below ``tf.compat.v1`` there is only the experimental one, which stays.
"""

import libcst as cst

from tpudist import surfaces
from tpudist.resolution import import_origins

STEP = "latest"
NOTE = "https://github.com/tensorflow/tensorflow/releases/tag/v2.3.0"
_OLD = "distribute.experimental.TPUStrategy"
USES = [("tf", _OLD)]


def apply(use):
    """Renames the class and its argument.

    Args:
      use: the `Use`.
    """
    if import_origins.is_v1_name(use.plan, use.module, use.node):
        return None
    if use.call is not None:
        if use.has_stars:
            return use.leave("its arguments cannot be read here", "tf.distribute.TPUStrategy")
        assignment = use.argument(1, "device_assignment")
        if assignment is not None:
            _keyword(use, assignment)
    return use.respell(surfaces.NAMES["latest"][_OLD])


def _keyword(use, assignment):
    place = [each is assignment for each in use.call.args].index(True)

    def call(updated):
        arguments = list(updated.args)
        old = arguments[place]
        arguments[place] = old.with_changes(
            keyword=cst.Name("experimental_device_assignment"),
            equal=cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace("")),
        )
        return updated.with_changes(args=arguments)

    use.plan.replace(use.call, call)
