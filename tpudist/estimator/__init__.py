"""Estimator and TPUEstimator, which most training code of TensorFlow 1 is written around.

Its classes are TensorFlow's, used and subclassed; from 2.16 on those of the package
tensorflow-estimator. What runs on the replicas of a TPU is written once for all releases, over
`tpudist.adapter`.

The modules, from what a user names to what a replica runs:

- ``__init__``, `export`, `tpu`, `checkpoints`: the public names.
- `lookup`: which class a name is on the installed TensorFlow.
- `train_distribute`: ``Estimator`` with a TPUStrategy in its ``RunConfig``.
- `tpu_estimator`, `unsupported`: ``TPUEstimator``, the cores of its replicas, and what it refuses.
- `tpu_specs`: what a TPUEstimator runs in a training, an evaluation and a prediction.
- `step_loop`: the loop of steps on the replicas.
- `infeed`, `host_calls`: what the host sends to the replicas, and what they send back.
- `user_functions`: calls of the user's model and input functions.

To change: a name is a row of ROWS in `tpudist/surfaces/names.txt`, and stands in DROPINS there.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from tpudist import surfaces

if TYPE_CHECKING:
    from tpudist.estimator.train_distribute import Estimator as Estimator


def __getattr__(name: str) -> Any:
    if surfaces.DROPINS["contrib"].get("estimator." + name) != "tpudist.estimator:" + name:
        raise AttributeError("module %r has no attribute %r" % (__name__, name))
    lookup = importlib.import_module("tpudist.estimator.lookup")
    return lookup.load(name)
