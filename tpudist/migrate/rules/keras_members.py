"""Methods of a Keras model that Keras 3 has not: ``fit_generator``, ``predict_classes``, ..."""

import re

from tpudist import surfaces

STEP = "latest"
NOTE = "https://github.com/tensorflow/tensorflow/releases/tag/v2.16.1"
USES = [("keras", name) for name in surfaces.KERAS_MEMBERS]

#: What other libraries have as well, and those.
_OF_OTHERS = ("predict_classes", "predict_proba")
_OTHERS = re.compile(r"^\s*(?:from|import)\s+(?:sklearn|xgboost|lightgbm|catboost)\b", re.M)


def apply(use):
    """Leaves the use, and says what replaces it.

    Args:
      use: the `Use`.
    """
    text = use.module.text
    if use.name in _OF_OTHERS and ("keras" not in text or _OTHERS.search(text)):
        return
    use.leave("no model of Keras 3 has it", surfaces.KERAS_MEMBERS[use.name])
