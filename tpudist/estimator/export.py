"""``tf.estimator.export``: TensorFlow's until 2.15, then :mod:`tpudist.estimator.exporting`.

Reference: https://github.com/tensorflow/docs/blob/r1.15/site/en/api_docs/python/tf/estimator/export.md
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpudist.estimator import names

if TYPE_CHECKING:
    from typing import Any


def __getattr__(name: str) -> Any:
    if "export." + name not in names.STAND_INS:
        raise AttributeError("module %r has no attribute %r" % (__name__, name))
    return names.load("export." + name)
