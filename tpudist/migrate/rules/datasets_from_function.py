"""``experimental_distribute_datasets_from_function`` lost ``experimental_`` in 2.4."""

from tpudist import surfaces

STEP = "latest"
NOTE = "https://github.com/tensorflow/tensorflow/releases/tag/v2.4.0"
USES = list(surfaces.MEMBERS["latest"])


def apply(use):
    """Renames the method.

    Args:
      use: the `Use`.
    """
    return use.rename(surfaces.MEMBERS["latest"][use.kind, use.name])
