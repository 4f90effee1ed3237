"""Failures of a script that are plain TensorFlow's own, found by trying them there."""

import re

from tpudist.errors import ScriptError

#: An op of an error: ``{{node Conv2D}}``, ``with these attrs: [T=DT_BFLOAT16, ...]``.
_CONVOLUTION = re.compile(
    r"Missing \d+-th output from \{\{node \S*Conv2D\S*\}\}|'Conv2D'.*BFLOAT16"
)


def explained(error):
    """A `ScriptError` that says so if plain TensorFlow fails in the same way, else None.

    Args:
      error: what the script raised.
    """
    if not _CONVOLUTION.search(str(error)) or not _fails():
        return None
    from tpudist.tfcompat import versions

    return ScriptError(
        "a bfloat16 convolution on the CPU",
        "plain TensorFlow %s fails at it too, without tpudist: it was tried" % versions.TF,
        "float32 on the CPU, or another TensorFlow; tpudist run --compile compiles what was "
        "traced all the same, and with --trace-only nothing runs",
    )


def _fails():
    """Whether a bfloat16 convolution fails here."""
    import tensorflow as tf

    try:
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            image = tf.compat.v1.placeholder(tf.float32, [1, 1, 1, 1])
            narrow = tf.cast(image, tf.bfloat16)
            wide = tf.cast(tf.nn.conv2d(narrow, narrow, [1] * 4, "SAME"), tf.float32)
            session.run(wide, {image: [[[[1.0]]]]})
    except Exception:  # of whatever kind: it is what the script met
        return True
    return False
