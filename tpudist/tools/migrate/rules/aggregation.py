"""``VariableAggregation.ONLY_FIRST_TOWER`` is ``ONLY_FIRST_REPLICA`` since 1.13."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpudist import surfaces

if TYPE_CHECKING:
    from tpudist.tools.migrate.use import Use

STEP = "2.0"
NOTE = "https://www.tensorflow.org/versions/r2.0/api_docs/python/tf/VariableAggregation"
_OLD = "VariableAggregation.ONLY_FIRST_TOWER"
USES = [("tf", _OLD)]


def apply(use: Use) -> None:
    """Renames the member.

    Args:
      use: the `Use`.
    """
    use.rename(surfaces.NAMES["v2_0"][_OLD].rpartition(".")[2])
