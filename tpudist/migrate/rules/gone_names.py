"""What TensorFlow 1 had and today's has not: ``tf.estimator``, and with Keras 3 ``tf.layers``.

Said once a file for each.
"""

from tpudist import surfaces

STEP = "latest"
NOTE = "https://github.com/tensorflow/tensorflow/releases/tag/v2.16.1"
USES = [("tf", name) for name in surfaces.GONE if name.partition(".")[0] != "contrib"]


def apply(use):
    """Leaves the first use of each in a file.

    Args:
      use: the `Use`.
    """
    if use.name not in use.plan.told:
        use.plan.told.add(use.name)
        use.leave("tf.%s is not in every TensorFlow of today" % use.name, surfaces.GONE[use.name])
