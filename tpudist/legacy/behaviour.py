"""Sets the switches of TensorFlow's behaviour as in an era, and back.

Found by running them on 1.15, 2.2, 2.4, 2.15 and 2.21:

- Each ``tf.compat.v1`` switch can be undone in process. They are used one by
  one, not ``disable_v2_behavior()``, which also disables eager execution; the flag that
  TensorFlow's modules and Keras read of it is turned off after them: with it on, Keras'
  recurrent layers need the control flow of TensorFlow 2.
- ``disable_eager_execution()`` cannot be undone completely: ``tf.init_scope`` in
  functions traced later is a graph if TensorFlow's eager context was made after
  the call (Keras' ``fit`` then meets graph tensors), and eager if it was made
  before. Instead the script gets graph mode from a default graph of its own. Such
  a graph refuses ``tf.reset_default_graph()`` and ``tf.enable_eager_execution()``,
  so both are replaced while the script runs.
- On TensorFlow 1 eager execution is complete only in a process that has run
  nothing before, such as that of ``tpudist run``.
"""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Any, Callable, Iterator

from tpudist import dropin
from tpudist.errors import ScriptError

if TYPE_CHECKING:
    from types import ModuleType

#: {name: whether it is on} of ``tf.compat.v1.enable_<name>()`` and
#: ``disable_<name>()``; early releases of 1.x cannot tell all.
_SWITCHES: dict[str, Callable[[Any], bool]] = {
    "v2_tensorshape": lambda v1: isinstance(v1.TensorShape([1])[0], int),
    "resource_variables": lambda v1: v1.resource_variables_enabled(),
    "control_flow_v2": lambda v1: v1.control_flow_v2_enabled(),
    "tensor_equality": lambda v1: v1.Tensor._USE_EQUALITY,
}


@contextlib.contextmanager
def of_era(era: str, in_graph: bool | None = None) -> Iterator[Any]:
    """Context manager: inside, TensorFlow behaves as in an era.

    contrib is TensorFlow 1: graph mode, ``Dimension`` objects in shapes,
    reference variables, control flow v1, tensors as dict keys; eager execution
    if the script enables it. The 2.x eras are TensorFlow 2. On leaving,
    everything is what it was before, even what the script switched itself. `in_graph` says
    whether the program builds a graph; None is as the era's programs did. A 2.x era on TensorFlow
    1.x, in a process that has built a graph, is a ScriptError.
    """
    from tpudist.tfcompat import graphs, versions

    in_graph = era == "contrib" if in_graph is None else in_graph
    with contextlib.ExitStack() as stack:
        stack.enter_context(_verbosity_restored())
        if versions.TF2:
            _v1().config.get_soft_device_placement()  # Makes the eager context.
        stack.enter_context(_switches_restored(versions.TF2))
        if not versions.TF2:
            _on_first_generation(stack, era, in_graph)
        elif in_graph:
            stack.enter_context(ScriptGraph(era))
            with _quiet():
                for switch in _SWITCHES:
                    getattr(_v1(), "disable_" + switch)()
            stack.enter_context(graphs.first_generation())
        stack.enter_context(_sessions_closed())
        yield


def _on_first_generation(stack: Any, era: str, in_graph: bool | None) -> None:
    from tpudist.tfcompat import functions

    fresh = not _v1().get_default_graph().get_operations() and _reset_graph()
    if fresh:
        stack.callback(_reset_graph)
    if in_graph:
        if not fresh:
            stack.enter_context(ScriptGraph(era))
    elif not functions.eager_by_default() and not (fresh and functions.turn_second_generation_on()):
        raise ScriptError(
            "a script of TensorFlow 2 in a process that has built a graph",
            "TensorFlow 1 can turn eager execution on only at its start",
            "python -m tpudist run, which starts a process of its own",
        )


class ScriptGraph:
    """Context manager: a default graph for the script alone.

    The era's ``reset_default_graph`` and ``enable_eager_execution`` work on this graph while it is
    entered; a ``config`` for eager execution is not used, as TensorFlow takes none once it runs.
    """

    def __init__(self, era: str) -> None:
        self._spaces = [dropin.top(era), dropin.top(era, "compat.v1")]
        self._undo = contextlib.ExitStack()
        self._scope: Any = None

    def __enter__(self) -> ScriptGraph:
        self._open()
        self._native_reset = self._replace("reset_default_graph", self._reset)
        self._native_enable_eager = self._replace("enable_eager_execution", self._enable_eager)
        return self

    def __exit__(self, *exception: Any) -> None:
        self._undo.close()
        self._close()

    def _open(self) -> None:
        self._graph = _v1().Graph()
        self._scope = self._graph.as_default()
        self._scope.__enter__()

    def _close(self) -> None:
        scope, self._scope = self._scope, None
        if scope is not None:
            with contextlib.suppress(AssertionError):  # The script left another one open.
                scope.__exit__(None, None, None)

    def _replace(self, name: str, ours: object) -> Callable[..., Any]:
        """Puts a method in the place of a function of TensorFlow's; returns that function."""
        native: Callable[..., Any] = getattr(_v1(), name)
        _set_everywhere(name, native, ours)
        self._undo.callback(_set_everywhere, name, ours, native)
        for space in self._spaces:
            vars(space)[name] = ours
            self._undo.callback(vars(space).pop, name)
        return native

    def _reset(self) -> None:
        """Replaces the default graph by an empty one."""
        if self._scope is None or _v1().get_default_graph() is not self._graph:
            self._native_reset()
        else:
            self._close()
            self._open()

    def _enable_eager(self, *args: Any, **kwargs: Any) -> None:
        """Turns eager execution on for the script."""
        self._close()
        if not _v1().executing_eagerly():
            self._native_enable_eager(*args, **kwargs)


def _set_everywhere(name: str, old: object, new: object) -> None:
    """Gives the modules that have `old` under its own name `new`; some were imported since.

    They are the one that defines it, and each copy of ``tf.compat.v1``.
    """
    for module in [_v1(), *sys.modules.values()]:
        is_native = getattr(module, "__dict__", {}).get(name) is old
        if module is _v1() or (is_native and not isinstance(module, dropin.Namespace)):
            setattr(module, name, new)


def _v1() -> ModuleType:
    import tensorflow as tf

    return tf.compat.v1


def _reset_graph() -> bool:
    try:
        _v1().reset_default_graph()
        return True
    except AssertionError:  # Inside of a with graph.as_default().
        return False


@contextlib.contextmanager
def _switches_restored(second_generation: bool) -> Iterator[Any]:
    from tpudist.tfcompat import functions

    v1 = _v1()
    eager = v1.executing_eagerly() if second_generation else functions.eager_by_default()
    before = {}
    for name, enabled in _SWITCHES.items():
        with contextlib.suppress(AttributeError):
            before[name] = enabled(v1)
    try:
        yield
    finally:
        with _quiet():
            if eager and (second_generation or not v1.executing_eagerly()):
                try:
                    v1.enable_v2_behavior()
                except ValueError:  # The script disabled it and then built a graph.
                    _reset_graph()
                    v1.enable_v2_behavior()
            elif v1.executing_eagerly() and not eager:
                _reset_graph()
                v1.disable_v2_behavior()
            for name, on in before.items():
                getattr(v1, ("enable_" if on else "disable_") + name)()


@contextlib.contextmanager
def _sessions_closed() -> Iterator[Any]:
    """Closes the InteractiveSessions that the script leaves open."""
    v1 = _v1()
    before = v1.get_default_session()
    try:
        yield
    finally:
        for _ in range(100):
            session = v1.get_default_session()
            if session is None or session is before:
                break
            session.close()


@contextlib.contextmanager
def _verbosity_restored() -> Iterator[Any]:
    logging = _v1().logging
    before = logging.get_verbosity()
    try:
        yield
    finally:
        logging.set_verbosity(before)


@contextlib.contextmanager
def _quiet() -> Iterator[Any]:
    """No warnings of TensorFlow about switches that the user did not set."""
    with _verbosity_restored():
        _v1().logging.set_verbosity(_v1().logging.ERROR)
        yield
