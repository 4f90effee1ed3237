# Written by: python -m compat.make.stubs
from typing import Any

from tpudist.estimator import BestExporter as BestExporter
from tpudist.estimator import Exporter as Exporter
from tpudist.estimator import FinalExporter as FinalExporter
from tpudist.estimator import LatestExporter as LatestExporter

def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.
