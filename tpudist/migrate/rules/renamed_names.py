"""Public names that today's TensorFlow has elsewhere: ``tf.keras.losses.mean_squared_error``."""

from tpudist import surfaces

STEP = "latest"
NOTE = "https://github.com/tensorflow/tensorflow/releases/tag/v2.16.1"
USES = [("tf", name) for name in surfaces.RENAMED_TODAY]


def apply(use):
    """Renames.

    Args:
      use: the `Use`.
    """
    use.respell(surfaces.RENAMED_TODAY[use.name])
