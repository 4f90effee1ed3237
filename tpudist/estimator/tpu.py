"""``tf.estimator.tpu``, which was ``tf.contrib.tpu`` before.

Reference: https://github.com/tensorflow/docs/blob/r1.15/site/en/api_docs/python/tf/estimator/tpu.md
"""

from tpudist.estimator.tpu_config import InputPipelineConfig, RunConfig, TPUConfig, TPUEstimatorSpec
from tpudist.estimator.tpu_estimator import TPUEstimator

__all__ = ["InputPipelineConfig", "RunConfig", "TPUConfig", "TPUEstimator", "TPUEstimatorSpec"]
