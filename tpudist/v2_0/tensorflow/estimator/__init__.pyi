# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.estimator import BestExporter as BestExporter
from tpudist.estimator import Estimator as Estimator
from tpudist.estimator import EstimatorSpec as EstimatorSpec
from tpudist.estimator import EvalSpec as EvalSpec
from tpudist.estimator import Exporter as Exporter
from tpudist.estimator import FinalExporter as FinalExporter
from tpudist.estimator import LatestExporter as LatestExporter
from tpudist.estimator import ModeKeys as ModeKeys
from tpudist.estimator import RunConfig as RunConfig
from tpudist.estimator import TrainSpec as TrainSpec
from tpudist.estimator import WarmStartSettings as WarmStartSettings
from tpudist.estimator import train_and_evaluate as train_and_evaluate
from tpudist.v2_0.tensorflow.estimator import export as export
from tpudist.v2_0.tensorflow.estimator import tpu as tpu

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
