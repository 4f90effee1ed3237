"""The names of ``tf.estimator.export``.

They are TensorFlow's until 2.15; from 2.16 on
:mod:`tpudist.estimator.stand_ins.saved_models` defines them.

Reference: https://github.com/tensorflow/docs/blob/r1.15/site/en/api_docs/python/tf/estimator/export.md
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tpudist.estimator import lookup

if TYPE_CHECKING:
    # To checkers and editors they are what stands in for TensorFlow's.
    from tpudist.estimator.stand_ins.saved_models import (
        ClassificationOutput as ClassificationOutput,
    )
    from tpudist.estimator.stand_ins.saved_models import ExportOutput as ExportOutput
    from tpudist.estimator.stand_ins.saved_models import PredictOutput as PredictOutput
    from tpudist.estimator.stand_ins.saved_models import RegressionOutput as RegressionOutput
    from tpudist.estimator.stand_ins.saved_models import (
        ServingInputReceiver as ServingInputReceiver,
    )
    from tpudist.estimator.stand_ins.saved_models import (
        TensorServingInputReceiver as TensorServingInputReceiver,
    )
    from tpudist.estimator.stand_ins.saved_models import (
        build_parsing_serving_input_receiver_fn as build_parsing_serving_input_receiver_fn,
    )
    from tpudist.estimator.stand_ins.saved_models import (
        build_raw_serving_input_receiver_fn as build_raw_serving_input_receiver_fn,
    )


def __getattr__(name: str) -> Any:
    if "export." + name not in lookup.STAND_INS:
        raise AttributeError("module %r has no attribute %r" % (__name__, name))
    return lookup.load("export." + name)
