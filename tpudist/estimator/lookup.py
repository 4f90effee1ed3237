"""Looks up names of ``tf.estimator``: TensorFlow's own class, from 2.16 on that of its package.

``Estimator`` is a class of this package on every release, derived from TensorFlow's.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from tpudist.errors import EraNameError
from tpudist.tfcompat import estimators, versions

if TYPE_CHECKING:
    from types import ModuleType


def load(name: str) -> Any:
    """Returns what ``tf.estimator.<name>`` means on the installed TensorFlow."""
    if name == "Estimator":
        from tpudist.estimator import train_distribute

        return train_distribute.Estimator
    return operator.attrgetter(name)(native())


def load_tpu(name: str) -> type[Any]:
    """Returns what ``tf.estimator.tpu.<name>`` means on the installed TensorFlow."""
    native()
    return estimators.native_tpu[name]


def native() -> ModuleType:
    """Returns TensorFlow's ``tf.estimator``, or its package's."""
    if estimators.native is None:
        raise EraNameError(
            "tf.estimator on TensorFlow %s" % versions.TF,
            "it left TensorFlow with 2.16, and its package is not installed here",
            "pip install --no-deps " + estimators.REQUIREMENT,
        )
    return estimators.native
