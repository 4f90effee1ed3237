"""The names of ``tf.estimator.export``, which are TensorFlow's, and its package's from 2.16 on.

Reference: https://github.com/tensorflow/docs/blob/r1.15/site/en/api_docs/python/tf/estimator/export.md
"""

from __future__ import annotations

from typing import Any

from tpudist.estimator import lookup
from tpudist.surfaces import dropins


def __getattr__(name: str) -> Any:
    if name not in dropins.ESTIMATOR_EXPORT:
        raise AttributeError("module %r has no attribute %r" % (__name__, name))
    return lookup.load("export." + name)
