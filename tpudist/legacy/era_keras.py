"""The Keras that a script of an era gets, and what is said where it is not there."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from typing import TYPE_CHECKING, Any, Iterator

from tpudist import machine

if TYPE_CHECKING:
    from tpudist.surfaces.eras.keras import Keras


_SAID = (
    "tf.keras (%s) is Keras 3 here, and code of the three eras is written for Keras 2%s: "
    "%s, or --keras installed if Keras 3 is meant"
)
_OWN = (
    "%s imports keras, which was a package of its own until 2020; strategies train models of "
    "tf.keras: from tensorflow import keras"
)
_OF_KERAS = re.compile(r"^(tf_)?keras\.|^tensorflow(_core)?\.python\.keras\.")
_WITHOUT_GRAPH = (
    "keras: TensorFlow 2 behaviour, for %s: in a graph Keras refuses it under a strategy, and "
    "nothing here needs one (--era contrib keeps the graph)"
)
_REFUSED = (
    "keras: under a strategy's scope %s cannot work: %s takes arrays and datasets in fit only. "
    "Instead: model.fit with these, tf.contrib.tpu.keras_to_tpu_model, or %s"
)


@contextlib.contextmanager
def chosen(choice: str | None) -> Iterator[Any]:
    """Context manager, entered before TensorFlow is imported: sets TF_USE_LEGACY_KERAS.

    The choice is "era" or "installed", as ``tpudist run --keras`` takes them; None is "era", unless
    the variable is set already.
    """
    with machine.restored(machine.LEGACY_KERAS):
        if choice == "installed":
            os.environ[machine.LEGACY_KERAS] = "0"
        elif choice == "era" or machine.LEGACY_KERAS not in os.environ:
            os.environ.pop(machine.LEGACY_KERAS, None)
            if "tensorflow" not in sys.modules and machine.legacy_keras_fits():
                os.environ[machine.LEGACY_KERAS] = "1"
        yield


def lines(uses: Keras) -> list[str]:
    """Notes on a program's Keras, to be shown before it runs and again where Keras fails."""
    from tpudist.tfcompat import keras_packages, versions

    said = of_tensorflow(uses.tensorflows) if uses.tensorflows else []
    is_tensorflows = versions.KERAS_IS_A_PACKAGE and not versions.KERAS_3
    if uses.own and not is_tensorflows and not keras_packages.is_chosen():
        said.append(_OWN % uses.own)
    return ["keras: " + line for line in said]


def of_tensorflow(place: str) -> list[str]:
    """Notes on a ``tf.keras``, named at a place, that is Keras 3: no Keras 2 is installed."""
    from tpudist.tfcompat import keras_packages, versions

    if not keras_packages.is_keras_3() or keras_packages.is_chosen():
        return []
    own = machine.legacy_keras()
    beside = " (tf_keras %s does not go with TensorFlow %s)" % (own, versions.TF) if own else ""
    return [_SAID % (place, beside, machine.legacy_keras_line(keras_packages.minor()))]


def needs_a_graph(mode: Keras) -> tuple[bool, list[str]]:
    """(whether a program of contrib's era gets a graph, the notes on it), by its use of Keras."""
    from tpudist.tfcompat import versions

    if not mode.refused or not versions.HAS_COMPAT_V2:  # 1.13 does not ask for the scope.
        return True, []
    if not versions.KERAS_TAKES_BATCHES:
        why = "Keras of TensorFlow %s" % versions.TF
        return True, [_REFUSED % (mode.refused, why, "TensorFlow 2.2 or newer")]
    if mode.graph:
        why = "in the graph that %s needs, Keras" % mode.graph
        return True, [_REFUSED % (mode.refused, why, "a program without that")]
    return False, [_WITHOUT_GRAPH % mode.refused]


def is_out_of_keras(error: BaseException) -> bool:
    """Whether an exception comes out of the installed package ``keras``, or is about it."""
    about = (getattr(error, "name", None), type(getattr(error, "obj", None)).__module__)
    if any(str(name).partition(".")[0] == "keras" for name in about):
        return True
    trace = error.__traceback__
    while trace is not None:
        if _OF_KERAS.search(trace.tb_frame.f_globals.get("__name__", "")):
            return True
        trace = trace.tb_next
    return "keras" in str(error).lower()
