# Written by: python -m tpudist.dropin.stubs
from typing import Any

from tensorflow._api.v2.estimator import *
from tensorflow.estimator import *

from tensorflow._api.v2.compat.v1.train import CheckpointSaverHook as CheckpointSaverHook
from tensorflow._api.v2.compat.v1.train import CheckpointSaverListener as CheckpointSaverListener
from tensorflow._api.v2.compat.v1.train import FeedFnHook as FeedFnHook
from tensorflow._api.v2.compat.v1.train import FinalOpsHook as FinalOpsHook
from tensorflow._api.v2.compat.v1.train import GlobalStepWaiterHook as GlobalStepWaiterHook
from tensorflow._api.v2.compat.v1.train import LoggingTensorHook as LoggingTensorHook
from tensorflow._api.v2.compat.v1.train import NanLossDuringTrainingError as NanLossDuringTrainingError
from tensorflow._api.v2.compat.v1.train import NanTensorHook as NanTensorHook
from tensorflow._api.v2.compat.v1.train import ProfilerHook as ProfilerHook
from tensorflow._api.v2.compat.v1.train import SecondOrStepTimer as SecondOrStepTimer
from tensorflow._api.v2.compat.v1.train import SessionRunArgs as SessionRunArgs
from tensorflow._api.v2.compat.v1.train import SessionRunContext as SessionRunContext
from tensorflow._api.v2.compat.v1.train import SessionRunHook as SessionRunHook
from tensorflow._api.v2.compat.v1.train import SessionRunValues as SessionRunValues
from tensorflow._api.v2.compat.v1.train import StepCounterHook as StepCounterHook
from tensorflow._api.v2.compat.v1.train import StopAtStepHook as StopAtStepHook
from tensorflow._api.v2.compat.v1.train import SummarySaverHook as SummarySaverHook
from tensorflow._api.v2.compat.v1.train import VocabInfo as VocabInfo
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

def __getattr__(name: str) -> Any: ...  # Not every release of TensorFlow has the rest.
