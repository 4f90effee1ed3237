"""Estimator and TPUEstimator: what training code of TensorFlow 1 was written around.

Where TensorFlow has ``tf.estimator`` (until 2.15) its classes are used and subclassed; from
2.16 on :mod:`tpudist.estimator.monitored` and its neighbours stand in for them. What runs on
the cores of a TPU is written once, in :mod:`tpudist.estimator.tpu_part`, over
`tpudist.core.adapter`.

To change: a name is a line of `tpudist.estimator.names` and a row of
`tpudist/surfaces/estimator.py`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any


def __getattr__(name: str) -> Any:
    names = importlib.import_module("tpudist.estimator.names")
    if name not in names.STAND_INS:
        raise AttributeError("module %r has no attribute %r" % (__name__, name))
    return names.load(name)
