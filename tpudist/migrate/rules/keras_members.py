"""Methods that Keras 3 has not: ``fit_generator``, ``predict_classes``, ``reset_states``, ..."""

import re

from tpudist import surfaces

STEP = "latest"
NOTE = "https://github.com/tensorflow/tensorflow/releases/tag/v2.16.1"
USES = [("keras", name) for name in surfaces.KERAS_MEMBERS]

#: What other libraries have as well, and those.
_OF_OTHERS = ("predict_classes", "predict_proba")
_RECURRENT = re.compile("layer|rnn|lstm|gru|cell|env|^self$|^super$")
_OTHERS = re.compile(r"^\s*(?:from|import)\s+(?:sklearn|xgboost|lightgbm|catboost)\b", re.M)


def apply(use):
    """Leaves the use, and says what replaces it.

    Args:
      use: the `Use`.
    """
    text = use.module.text
    if use.name in _OF_OTHERS and ("keras" not in text or _OTHERS.search(text)):
        return
    if use.name == "reset_states" and not _resets(use):
        return
    use.leave("Keras 3 has it no longer", surfaces.KERAS_MEMBERS[use.name])


def _resets(use):
    """Whether ``reset_states`` may be of a metric or a model: recurrent layers have it still."""
    owner = use.last_word(use.node.value).lower()
    is_keras = "keras" in use.module.text or "tensorflow" in use.module.text
    return is_keras and not _RECURRENT.search(owner)
