"""Names that TensorFlow 1 and 2 both have, with other arguments or another meaning.

``tf.nn.dropout(x, 0.9)`` keeps 0.9 of the values in TensorFlow 1 and drops them in TensorFlow 2.
In a file of TensorFlow 1 ``tf`` becomes ``tf.compat.v1``, which has the old ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpudist.surfaces import changed_names
from tpudist.tools.migrate.resolution import import_origins

if TYPE_CHECKING:
    from tpudist.tools.migrate.use import Use

STEP = "2.0"
NOTE = "https://www.tensorflow.org/guide/migrate/upgrade"
_OF_STRATEGIES = ("distribute.", "tpu.")  # they tell an era, and have rules of their own
USES = [
    ("tf", name) for name in changed_names.changed_names() if not name.startswith(_OF_STRATEGIES)
]


def apply(use: Use) -> None:
    """Takes a call that is TensorFlow 1's from ``tf.compat.v1``; leaves one that may be.

    Args:
      use: the `Use`.
    """
    path, program = use.module.path, use.plan.program
    if use.call is None or import_origins.is_v1_name(use.plan, use.module, use.node):
        return
    positional = sum(1 for each in use.arguments if not each.name and not each.star)
    keywords = [each.name for each in use.arguments if each.name]
    of = changed_names.generation(use.name, positional, keywords, not use.has_stars)
    if program.wants_v1(path) or of not in (changed_names.FIRST, changed_names.BOTH):
        return
    if of == changed_names.FIRST and path in program.mixed:
        use.respell("compat.v1." + use.name)
    elif path in program.mixed or path in program.undecided:
        use.leave(
            "TensorFlow 2 has another one", "# tpudist: tf1 or # tpudist: tf2 on a line of the file"
        )
