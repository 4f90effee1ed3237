"""Which model Keras is training when it asks a strategy for something."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import types
    from typing import Any

#: Methods of a model that take datasets, and what the datasets are called in them.
_METHODS = ("fit", "evaluate", "predict")
_DATASETS = ("x", "validation_data")


def compiled_with(strategy: Any, dataset: Any) -> bool:
    """Whether a dataset was given to a model whose ``compile(distribute=)`` named the strategy.

    Keras tells a strategy neither whose data it is nor how the strategy got to the model; the
    calls that are running do.

    Args:
      strategy: the strategy.
      dataset: what Keras asks it to distribute; one that Keras has made of arrays is not it.
    """
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name in _METHODS and "keras" in frame.f_globals.get("__name__", ""):
            names = frame.f_locals
            model = names.get("self")
            if getattr(model, "_distribution_strategy", None) is strategy:
                given = any(names.get(name) is dataset for name in _DATASETS)
                # Until 1.13 there is no other way for a strategy to get to a model.
                return given and getattr(model, "_compile_distribution", True)
        frame = frame.f_back
    return False
