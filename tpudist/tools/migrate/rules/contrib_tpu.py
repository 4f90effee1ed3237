"""``tf.contrib.tpu`` moved to ``tf.tpu`` (``tf.compat.v1.tpu``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpudist import surfaces

if TYPE_CHECKING:
    from tpudist.tools.migrate.use import Use

STEP = "2.0"
NOTE = "https://www.tensorflow.org/api_docs/python/tf/compat/v1/tpu"
_NAMES = {old: new for old, new in surfaces.NAMES["v2_0"].items() if old.startswith("contrib.tpu.")}

#: Modules below ``contrib.tpu.python`` that programs import the same names from.
_MODULES = ("ops.tpu_ops", "tpu.bfloat16", "tpu.tpu", "tpu.tpu_optimizer")
USES = [
    ("tf", "contrib.tpu." + module + old.rpartition(".")[2])
    for old in _NAMES
    for module in ("", *("python.%s." % each for each in _MODULES))
]


def apply(use: Use) -> None:
    """Renames a function or class.

    Args:
      use: the `Use`.
    """
    use.respell(_NAMES[surfaces.public_name(use.name)])
