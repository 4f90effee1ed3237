"""Restores behaviour of TensorFlow, Keras and Python that later releases changed.

`QUIRKS` is the list of it: each says which objects get which attributes while a program runs, and
nothing on a release that needs none.
"""

from __future__ import annotations

import collections
import contextlib
import functools
import inspect
from typing import TYPE_CHECKING, Any, Iterable, Iterator, Tuple

from tpudist.errors import EraNameError

if TYPE_CHECKING:
    from tpudist.annotations import Fn
    from tpudist.tfcompat.annotations import Nest

#: (object, attribute, what it is while a program runs).
Patch = Tuple[Any, str, Any]

#: Methods of Keras' batch normalization that the eras' programs override, without a mask.
_MASKED = ("_moments", "_calculate_mean_and_var")


def applied() -> contextlib.AbstractContextManager[None]:
    """Returns a context manager that applies all of `QUIRKS`."""
    return patched(patch for quirk in QUIRKS for patch in quirk())


@contextlib.contextmanager
def patched(patches: Iterable[Patch]) -> Iterator[None]:
    """Context manager: inside, some attributes are others.

    Args:
      patches: (object, attribute, what it is meanwhile); each is set before the next is asked for.
    """
    with contextlib.ExitStack() as undo:
        for owner, name, value in patches:
            if name in vars(owner):
                undo.callback(setattr, owner, name, vars(owner)[name])
            else:
                undo.callback(delattr, owner, name)
            setattr(owner, name, value)
        yield


def _optimizers_by_name() -> Iterator[Patch]:
    """Yields what has ``model.compile("adam")`` make what ``tf.keras.optimizers.Adam`` was."""
    from tpudist.tfcompat import keras_packages

    module: Any = keras_packages.optimizers_found_by_name()
    if module is not None:
        yield module, "get", keras_packages.of_older_classes(module.get)


def _layers_of_slim() -> Iterator[Patch]:
    """Yields where ``tf_slim.batch_norm`` finds Keras' layer of TensorFlow 1.

    TensorFlow 2.13 and newer look for it in a module that Keras has elsewhere.
    """
    from tpudist.tfcompat import keras_packages

    normalization = keras_packages.normalization_of_graphs()
    if normalization is not None:
        module, layers = normalization
        yield module, "normalization", layers


def _moments_without_mask() -> Iterator[Patch]:
    """Yields what lets subclasses of Keras' batch normalization take no ``mask``.

    Keras 2.12 and newer hand a mask to methods that programs of the eras override
    (``_moments`` of EfficientNet's TpuBatchNormalization) and that took none.
    """
    from tpudist.tfcompat import keras_packages

    base: Any = keras_packages.batch_normalization_with_masks()

    def of_subclass(cls: object, **keywords: Any) -> None:
        super(base, cls).__init_subclass__(**keywords)
        for name in _MASKED:
            method: Any = vars(cls).get(name)
            if inspect.isfunction(method):
                taken = inspect.signature(method).parameters
                if "mask" not in taken and all(x.kind != x.VAR_KEYWORD for x in taken.values()):
                    setattr(cls, name, _without_mask(method))

    if base is not None:
        yield base, "__init_subclass__", classmethod(of_subclass)  # type: ignore[arg-type]


def _without_mask(method: Any) -> Fn:
    @functools.wraps(method)
    def called(*args: Any, mask: object = None, **keywords: Any) -> Nest:
        del mask
        return method(*args, **keywords)

    return called


def _units_later() -> Iterator[Patch]:
    """Yields a layer ``Dense`` that may be made with -1 units, and takes their number later.

    SimCLR's layer of a projection does so when it is built. Keras refuses it since 2.6.
    """
    from tpudist.tfcompat import keras_packages

    if keras_packages.is_keras_3():
        return
    dense = keras_packages.of_graphs().layers.Dense
    native = dense.__init__

    @functools.wraps(native)
    def made(self: Any, units: object, *args: Any, **keywords: Any) -> None:
        is_unknown = isinstance(units, int) and units < 0
        native(self, 1 if is_unknown else units, *args, **keywords)
        if is_unknown:
            self.units = units

    yield dense, "__init__", made


class _Gone:
    """A member that Keras has no more: an error says what to type.

    An object may have an attribute of that name.
    """

    def __init__(self, name: str, instead: str) -> None:
        self._name, self._instead = name, instead

    def __get__(self, instance: Any, owner: Any) -> object:
        from tpudist.tfcompat import versions

        raise EraNameError(
            "%s.%s is not in the Keras of TensorFlow %s"
            % (owner.__name__, self._name, versions.TF),
            "Keras has taken it away since the program was written",
            self._instead,
        )


def _members_of_keras() -> Iterator[Patch]:
    """Yields the members that Keras had in the eras, and has no more: they say what to type."""
    from tpudist.tfcompat import keras_packages

    for base, members in keras_packages.classes_with_members():
        for name, instead in members.items():
            if not hasattr(base, name):
                yield base, name, _Gone(name, instead)


def _cores_in_lists() -> Iterator[Patch]:
    """Yields a ``list_devices`` of every Session that has the cores of the virtual TPU.

    Those of ``tf.test.TestCase`` and of TensorFlow's own classes are not the drop-in's.
    """
    from tpudist.system import workers
    from tpudist.tfcompat import tpu

    native = tpu.BaseSession.list_devices

    def list_devices(self: object) -> list[Any]:
        return workers.with_cores(native(self), workers.virtual())

    yield tpu.BaseSession, "list_devices", list_devices


def _signatures() -> Iterator[Patch]:
    """Yields ``inspect.getargspec``, which Python 3.11 took away.

    Programs of the eras and packages of contrib (tensorflow_gan) ask it what a function takes.
    """
    ArgSpec = collections.namedtuple("ArgSpec", "args varargs keywords defaults")
    if not hasattr(inspect, "getargspec"):
        yield inspect, "getargspec", lambda function: ArgSpec(*inspect.getfullargspec(function)[:4])


class _OfBools(type):
    """Makes a class that stands for a message of integers, and takes NumPy's bools for some."""

    native: Any

    def __call__(cls, value: Iterable[Any] = (), **given: Any) -> Any:
        import numpy as np

        numbers = [int(each) if isinstance(each, np.bool_) else each for each in value]
        return cls.native(value=numbers, **given)

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, cls.native)

    def __getattr__(cls, name: str) -> object:
        return getattr(cls.native, name)


def _bools_in_features() -> Iterator[Patch]:
    """Yields a ``tf.train.Int64List`` that takes NumPy's bools, as it did with NumPy 1."""
    import numpy as np
    import tensorflow as tf

    if hasattr(np.bool_, "__index__"):
        return
    message = _OfBools("Int64List", (), {"native": tf.train.Int64List})
    for each in (tf.train, tf.compat.v1.train):
        yield each, "Int64List", message


def _run_v2() -> Iterator[Patch]:
    """Yields ``experimental_run_v2`` of TensorFlow's own strategies.

    Programs make a MirroredStrategy, or take the default strategy, where there is no TPU.
    """
    import tensorflow as tf

    from tpudist.tfcompat import versions

    for each in (tf.distribute.Strategy, tf.compat.v1.distribute.Strategy):
        if versions.RUN_V2_IS_GONE:
            yield each, "experimental_run_v2", each.run


#: In the order in which they are applied.
QUIRKS = (
    *(_optimizers_by_name, _layers_of_slim, _moments_without_mask, _units_later),
    *(_members_of_keras, _cores_in_lists, _signatures, _bools_in_features, _run_v2),
)
