"""``VariableAggregation.ONLY_FIRST_TOWER`` is ``ONLY_FIRST_REPLICA`` since 1.13."""

from tpudist import surfaces

STEP = "2.0"
NOTE = "https://www.tensorflow.org/versions/r2.0/api_docs/python/tf/VariableAggregation"
_OLD = "VariableAggregation.ONLY_FIRST_TOWER"
USES = [("tf", _OLD)]


def apply(use):
    """Renames the member.

    Args:
      use: the `Use`.
    """
    return use.rename(surfaces.NAMES["v2_0"][_OLD].rpartition(".")[2])
