"""The Keras that a script of an era gets, and what is said where it is not there."""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
import re
import sys
from typing import TYPE_CHECKING, Any, Iterator

from tpudist import machine, surfaces
from tpudist.errors import EraNameError

if TYPE_CHECKING:
    from tpudist.annotations import Fn
    from tpudist.surfaces.eras.keras import Keras
    from tpudist.tfcompat.annotations import Nest


_SAID = (
    "tf.keras (%s) is Keras 3 here, and code of the three eras is written for Keras 2%s: "
    "%s, or --keras installed if Keras 3 is meant"
)
_OWN = (
    "%s imports keras, which was a package of its own until 2020; strategies train models of "
    "tf.keras: from tensorflow import keras"
)
#: Methods of Keras' batch normalization that the eras' programs override, without a mask.
_MASKED = ("_moments", "_calculate_mean_and_var")
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

    Args:
      choice: "era" or "installed", as ``tpudist run --keras`` takes them; None is "era",
        unless the variable is set already.
    """
    before = os.environ.get(machine.LEGACY_KERAS)
    if choice == "installed":
        os.environ[machine.LEGACY_KERAS] = "0"
    elif choice == "era" or before is None:
        os.environ.pop(machine.LEGACY_KERAS, None)
        if "tensorflow" not in sys.modules and machine.legacy_keras_fits():
            os.environ[machine.LEGACY_KERAS] = "1"
    try:
        yield
    finally:
        os.environ.pop(machine.LEGACY_KERAS, None)
        if before is not None:
            os.environ[machine.LEGACY_KERAS] = before


def lines(uses: Keras) -> list[str]:
    """What to say before a script runs, and again where Keras fails.

    Args:
      uses: how its files use Keras.

    Returns:
      A list of lines.
    """
    from tpudist.tfcompat import keras_packages, versions

    said = of_tensorflow(uses.tensorflows) if uses.tensorflows else []
    is_tensorflows = versions.KERAS_IS_A_PACKAGE and not versions.KERAS_3
    if uses.own and not is_tensorflows and not keras_packages.is_chosen():
        said.append(_OWN % uses.own)
    return ["keras: " + line for line in said]


def of_tensorflow(place: str) -> list[str]:
    """What to say of a ``tf.keras`` that is Keras 3 because no Keras 2 is installed, a list.

    Args:
      place: where it is named.
    """
    from tpudist.tfcompat import keras_packages, versions

    if not keras_packages.is_keras_3() or keras_packages.is_chosen():
        return []
    own = machine.legacy_keras()
    beside = " (tf_keras %s does not go with TensorFlow %s)" % (own, versions.TF) if own else ""
    return [_SAID % (place, beside, machine.legacy_keras_line(keras_packages.minor()))]


def needs_a_graph(mode: Keras) -> tuple[bool, list[str]]:
    """Whether a program of contrib's era gets a graph, and what is said of it.

    Args:
      mode: how its files use Keras.

    Returns:
      (whether it does, a list of lines).
    """
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


@contextlib.contextmanager
def optimizers_of_era() -> Iterator[Any]:
    """Context manager: Keras 2 finds the optimizers of the eras by their names.

    ``model.compile("adam")`` then makes the class that ``tf.keras.optimizers.Adam`` was.
    """
    from tpudist.tfcompat import keras_packages

    module: Any = keras_packages.optimizers_found_by_name()
    if module is None:
        yield
        return
    native = module.get
    module.get = keras_packages.of_older_classes(native)
    try:
        yield
    finally:
        module.get = native


@contextlib.contextmanager
def layers_of_slim() -> Iterator[Any]:
    """Context manager: ``tf_slim.batch_norm`` finds Keras' layer of TensorFlow 1.

    TensorFlow 2.13 and newer look for it in a module that Keras has elsewhere.
    """
    from tpudist.tfcompat import keras_packages

    normalization = keras_packages.normalization_of_graphs()
    if normalization is None:
        yield
        return
    module, layers = normalization
    native, module.normalization = module.normalization, layers
    try:
        yield
    finally:
        module.normalization = native


@contextlib.contextmanager
def moments_of_era() -> Iterator[Any]:
    """Context manager: subclasses of Keras' batch normalization may take no ``mask``.

    Keras 2.12 and newer hand a mask to methods that programs of the eras override
    (``_moments`` of EfficientNet's TpuBatchNormalization) and that took none.
    """
    from tpudist.tfcompat import keras_packages

    base: Any = keras_packages.batch_normalization_with_masks()
    if base is None:
        yield
        return

    def of_subclass(cls: Any, **keywords: Any) -> None:
        super(base, cls).__init_subclass__(**keywords)
        for name in _MASKED:
            method = vars(cls).get(name)
            if inspect.isfunction(method) and not _takes(method, "mask"):
                setattr(cls, name, _without_mask(method))

    base.__init_subclass__ = classmethod(of_subclass)  # type: ignore[arg-type]
    try:
        yield
    finally:
        del base.__init_subclass__


@contextlib.contextmanager
def units_of_era() -> Iterator[Any]:
    """Context manager: a layer ``Dense`` that was made with -1 units takes their number later.

    SimCLR's layer of a projection does so when it is built. Keras refuses it since 2.6.
    """
    from tpudist.tfcompat import keras_packages

    if keras_packages.is_keras_3():
        yield
        return
    dense = keras_packages.of_graphs().layers.Dense
    native = dense.__init__

    @functools.wraps(native)
    def made(self: Any, units: Any, *args: Any, **keywords: Any) -> None:
        is_unknown = isinstance(units, int) and units < 0
        native(self, 1 if is_unknown else units, *args, **keywords)
        if is_unknown:
            self.units = units

    dense.__init__ = made
    try:
        yield
    finally:
        dense.__init__ = native


class _Gone:
    """A member that Keras has no more: an error says what to type.

    An object may be given an attribute of that name.
    """

    def __init__(self, name: str, instead: str) -> None:
        self._name, self._instead = name, instead

    def __get__(self, instance: Any, owner: Any) -> object:
        raise EraNameError(
            "%s.%s is not in the Keras of TensorFlow %s" % (owner.__name__, self._name, _release()),
            "Keras has taken it away since the program was written",
            self._instead,
        )


def _release() -> str:
    from tpudist.tfcompat import versions

    return str(versions.TF)


@contextlib.contextmanager
def members_of_era() -> Iterator[Any]:
    """Context manager: members that Keras had in the eras, and has no more, say what to type."""
    from tpudist.tfcompat import keras_packages

    with contextlib.ExitStack() as undo:
        for base, names in keras_packages.classes_with_members():
            for name in names:
                if not hasattr(base, name):
                    setattr(base, name, _Gone(name, surfaces.KERAS_MEMBERS[name]))
                    undo.callback(delattr, base, name)
        yield


def _takes(function: Any, name: str) -> bool:
    parameters = inspect.signature(function).parameters
    return name in parameters or any(each.kind == each.VAR_KEYWORD for each in parameters.values())


def _without_mask(method: Any) -> Fn:
    @functools.wraps(method)
    def called(*args: Any, mask: Any = None, **keywords: Any) -> Nest:
        del mask
        return method(*args, **keywords)

    return called
