# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.estimator.copied_estimators import GracefulShutdownHook as GracefulShutdownHook
from tpudist.estimator.copied_estimators import ResetComputation as ResetComputation
from tpudist.estimator.copied_estimators import RestartComputation as RestartComputation
from tpudist.estimator.copied_estimators import ShutdownAllWorkers as ShutdownAllWorkers
from tpudist.estimator.copied_estimators import ShutdownLameWorkers as ShutdownLameWorkers
from tpudist.estimator.copied_estimators import start_worker_watchdog as start_worker_watchdog

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
