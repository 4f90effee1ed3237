"""Estimator and TPUEstimator, which most training code of TensorFlow 1 is written around.

TensorFlow has ``tf.estimator`` until 2.15; there its classes are used and subclassed. From
2.16 on the classes of :mod:`tpudist.estimator.stand_ins` take their place. What runs on the
replicas of a TPU is written once for all releases, over `tpudist.core.adapter`.

The modules, from what a user names to what a replica runs:

- ``__init__``, `export`, `tpu`, `checkpoints`: the public names.
- `lookup`: which class a name is on the installed TensorFlow.
- `train_distribute`: ``Estimator`` with a TPUStrategy in its ``RunConfig``.
- `tpu_estimator`, `unsupported`: ``TPUEstimator``, the cores of its replicas, and what it refuses.
- `tpu_specs`: what a TPUEstimator runs in a training, an evaluation and a prediction.
- `step_loop`: the loop of steps on the replicas.
- `infeed`, `host_calls`: what the host sends to the replicas, and what they send back.
- `user_functions`: calls of the user's model and input functions.

To change: a name is a line of `tpudist.estimator.lookup` and a row of
`tpudist/surfaces/estimator.py`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # To checkers and editors they are what stands in for TensorFlow's.
    from tpudist.estimator.stand_ins.configs import RunConfig as RunConfig
    from tpudist.estimator.stand_ins.estimator import WarmStartSettings as WarmStartSettings
    from tpudist.estimator.stand_ins.saved_models import BestExporter as BestExporter
    from tpudist.estimator.stand_ins.saved_models import Exporter as Exporter
    from tpudist.estimator.stand_ins.saved_models import FinalExporter as FinalExporter
    from tpudist.estimator.stand_ins.saved_models import LatestExporter as LatestExporter
    from tpudist.estimator.stand_ins.specs import EstimatorSpec as EstimatorSpec
    from tpudist.estimator.stand_ins.specs import ModeKeys as ModeKeys
    from tpudist.estimator.stand_ins.train_and_evaluate import EvalSpec as EvalSpec
    from tpudist.estimator.stand_ins.train_and_evaluate import TrainSpec as TrainSpec
    from tpudist.estimator.stand_ins.train_and_evaluate import (
        train_and_evaluate as train_and_evaluate,
    )
    from tpudist.estimator.train_distribute import Estimator as Estimator


def __getattr__(name: str) -> Any:
    lookup = importlib.import_module("tpudist.estimator.lookup")
    if name not in lookup.STAND_INS:
        raise AttributeError("module %r has no attribute %r" % (__name__, name))
    return lookup.load(name)
