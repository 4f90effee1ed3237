"""Names that only TensorFlow 1 has, in a file with names that only TensorFlow 2 has.

In other files of TensorFlow 1 ``tf`` becomes ``tf.compat.v1`` as a whole, which has no
``tf.random.set_seed`` or ``tf.summary.create_file_writer``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpudist import surfaces
from tpudist.tools.migrate.resolution import import_origins

if TYPE_CHECKING:
    from typing import Sequence

    from tpudist.tools.migrate.rules import Rule
    from tpudist.tools.migrate.use import Use

STEP = "2.0"
NOTE = "https://www.tensorflow.org/guide/migrate/upgrade"
USES = ()  # see `of_mixed`
_NAMES = frozenset(("tf", name) for name in surfaces.FIRST_GENERATION)


def of_mixed(rules: Sequence[Rule]) -> list[Rule]:
    """The rules for such a file: what others tell of is theirs, but for Sessions.

    Args:
      rules: the rules that run.
    """
    others = [rule for rule in rules if rule.name not in ("first-generation", "sessions")]
    own = [rule._replace(uses=_NAMES) for rule in rules if rule.name == "first-generation"]
    return others + own


def apply(use: Use) -> None:
    """Takes the name from ``tf.compat.v1``.

    Args:
      use: the `Use`.
    """
    if not import_origins.is_v1_name(use.plan, use.module, use.node):
        use.respell("compat.v1." + use.name)
