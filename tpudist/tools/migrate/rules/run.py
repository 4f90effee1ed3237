"""``experimental_run_v2`` is ``run`` since 2.2, and gone from 2.4."""

from tpudist import surfaces

STEP = "2.2"
NOTE = "https://github.com/tensorflow/tensorflow/releases/tag/v2.2.0"
USES = list(surfaces.MEMBERS["v2_2"])


def apply(use):
    """Renames the method.

    Args:
      use: the `Use`.
    """
    return use.rename(surfaces.MEMBERS["v2_2"][use.kind, use.name])
