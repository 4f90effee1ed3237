"""The names of ``tf.estimator.export``, which are TensorFlow's, and its package's from 2.16 on.

Reference: https://github.com/tensorflow/docs/blob/r1.15/site/en/api_docs/python/tf/estimator/export.md
"""

from __future__ import annotations

from typing import Any

from tpudist import surfaces
from tpudist.estimator import lookup


def __getattr__(name: str) -> Any:
    if "estimator.export." + name not in surfaces.DROPINS["contrib"]:
        raise AttributeError("module %r has no attribute %r" % (__name__, name))
    return lookup.load("export." + name)
