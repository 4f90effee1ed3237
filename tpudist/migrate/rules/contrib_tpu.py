"""``tf.contrib.tpu`` moved to ``tf.tpu`` (``tf.compat.v1.tpu``)."""

from tpudist import surfaces

STEP = "2.0"
NOTE = "https://www.tensorflow.org/api_docs/python/tf/compat/v1/tpu"
_NAMES = {old: new for old, new in surfaces.NAMES["v2_0"].items() if old.startswith("contrib.tpu.")}
USES = [("tf", name) for name in _NAMES]


def apply(use):
    """Renames a function or class.

    Args:
      use: the `Use`.
    """
    return use.respell(_NAMES[use.name])
