"""Methods that Keras 3 has not: ``fit_generator``, ``predict_classes``, ``reset_states``, ..."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tpudist import surfaces
from tpudist.surfaces.eras.walks import last_word

if TYPE_CHECKING:
    from tpudist.tools.migrate.use import Use

STEP = "latest"
NOTE = "https://github.com/tensorflow/tensorflow/releases/tag/v2.16.1"
USES = [("any", name) for name in surfaces.KERAS_MEMBERS]

#: What other libraries have as well, and those.
_OF_OTHERS = ("predict_classes", "predict_proba")
#: What the owner of a member is called that others have as well; recurrent layers have
#: ``reset_states`` still.
_OWNERS = {
    "add_update": re.compile("^$|^self$|layer|model"),
    "reset_states": re.compile(r"^(?!self$|$)(?!.*(layer|rnn|lstm|gru|cell|env))"),
    "to_yaml": re.compile("model|network"),
}
_OTHERS = re.compile(r"^\s*(?:from|import)\s+(?:sklearn|xgboost|lightgbm|catboost)\b", re.M)


def apply(use: Use) -> None:
    """Leaves the use, and says what replaces it.

    Args:
      use: the `Use`.
    """
    text = use.module.text
    if use.name in _OF_OTHERS and ("keras" not in text or _OTHERS.search(text)):
        return
    if use.name in _OWNERS and not _may_be_of_keras(use):
        return
    use.leave("Keras 3 has it no longer", surfaces.KERAS_MEMBERS[use.name])


def _may_be_of_keras(use: Use) -> bool:
    """Whether what has a member that others have too is called like what Keras made."""
    is_keras = "keras" in use.module.text or "tensorflow" in use.module.text
    owner = last_word(use.node.value).lower()
    return is_keras and _OWNERS[use.name].search(owner) is not None
