"""Finds which kind of object a dotted name of TensorFlow makes, such as a strategy.

Reads the table (`tpudist.surfaces`); imports no TensorFlow.
"""

from __future__ import annotations

import re
from typing import Any, Iterable

from tpudist import surfaces
from tpudist.surfaces.eras import local_names
from tpudist.surfaces.eras.names import without_compat

_STRATEGY = re.compile(
    r"^(contrib\.)?distribute\.(experimental\.|python\.\w+\.)?\w*Strategy(V[12])?$"
    r"|^python\.distribute\.\w+\.\w*Strategy(V[12])?$"
)
_OPTIMIZER = re.compile(r"^train\.\w+Optimizer$")
_OF_KERAS = re.compile(
    r"^(?:keras\.)?(?:(?:metrics|losses|optimizers)|(?<=keras\.)(?:layers|callbacks|applications))"
    r"\.(?:\w+\.)*[A-Z]\w+$"
)
#: {module of Keras: the kind of what its classes make}.
_KINDS = {
    "applications": "model", "callbacks": "callback", "layers": "layer", "losses": "loss",
    "metrics": "metric", "optimizers": "keras_optimizer",
}  # fmt: skip

_V1 = "compat.v1."
#: What names of the table and of TensorFlow 1 begin with: ``from tensorflow import *`` binds them.
FIRST_WORDS = {"contrib", "compat"}.union(
    name.partition(".")[0]
    for every in (surfaces.FIRST_GENERATION, *surfaces.NAMES.values())
    for name in every
)


def value(dotted: str, is_v1: bool = False) -> tuple[str, str, bool]:
    """Returns the value of a dotted name below ``tf``, or `is_v1` below ``tf.compat.v1``."""
    return "tf", without_compat(dotted), is_v1 or (dotted + ".").startswith(_V1)


def only(values: Iterable[tuple[Any, ...]]) -> str | None:
    """The one dotted name below ``tf`` that some values are, or None."""
    names = {each[1] if each[0] == "tf" else None for each in values}
    return names.pop() if len(names) == 1 else None


def below_tensorflow(full: str) -> str | None:
    """The name below ``tf`` that a full one means: "" for TensorFlow itself; None for others."""
    below = spelled_below(full)
    return None if below is None else without_compat(below)


def spelled_below(full: str) -> str | None:
    """Returns what `below_tensorflow` does, with the ``compat.v1`` that the name begins with."""
    parts = full.split(".")
    if parts[:2] == ["tensorflow", "google"]:
        return None  # no TensorFlow outside of Google has it
    if parts[0] == "tpudist" and len(parts) > 2 and parts[1] in surfaces.ERAS:
        if parts[2] != "tensorflow":
            return _exported(parts[1], parts[2])
    return local_names.below_tensorflow(full)


def _exported(era: str, name: str) -> str | None:
    """The dotted name of what ``tpudist.<era>`` exports under `name`."""
    target = surfaces.EXPORTS[era].get(name)
    if target and target.startswith("tensorflow:"):
        return target.partition(":")[2]
    found = [
        dotted
        for dotted, other in surfaces.DROPINS[era].items()
        if target
        and other == target
        and dotted.rpartition(".")[2] in (name, "experimental_" + name)
    ]
    if not found:
        return None
    return min(found, key=lambda dotted: (not dotted.startswith("contrib."), len(dotted)))


def is_strategy_class(dotted: str) -> bool:
    """Whether a dotted name below ``tf`` is a class of strategies."""
    return bool(_STRATEGY.match(dotted))


def result_of(dotted: str) -> str | None:
    """The kind of what calling a dotted name below ``tf`` returns, or None."""
    if is_strategy_class(dotted):
        return "strategy"
    if _OPTIMIZER.match(dotted):
        return "optimizer"
    if dotted not in surfaces.RESULTS and _OF_KERAS.match(dotted):
        return _KINDS[dotted.replace("keras.", "").partition(".")[0]]
    return surfaces.RESULTS.get(dotted)
