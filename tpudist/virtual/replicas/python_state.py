"""Python state check: decides whether one trace of a replica function can stand for all.

It can unless the function keeps in Python what differs per replica: the number of its
replica, a list that each replica appends to, a random number of Python's. The function, and
what it can reach in the program, is read before it is called; where that cannot be done,
each replica is traced on its own.
"""

from __future__ import annotations

import ast
import collections.abc
import functools
import inspect
import io
import linecache
import os
import sys
import sysconfig
import types
from typing import TYPE_CHECKING

import numpy as np
import tensorflow as tf

from tpudist import machine
from tpudist.tfcompat import distributed, nests
from tpudist.virtual.replicas import python_effects

if TYPE_CHECKING:
    from typing import Any, Iterator, Mapping

#: The search gives up after this many objects.
_MAX_OBJECTS = 5000

_SITE = os.path.dirname(os.path.dirname(os.path.abspath(tf.__file__)))

#: Files that are not part of a program. Packages installed beside TensorFlow may be.
_LIBRARIES = (
    os.path.join(machine.PACKAGE, ""),
    os.path.join(os.path.dirname(os.path.abspath(np.__file__)), ""),
    os.path.join(_SITE, "six.py"),
) + tuple(
    os.path.join(_SITE, name, "")
    for name in (
        "tensorflow tensorflow_core tensorflow_estimator keras tf_keras absl google wrapt scipy"
    ).split()
)
_STANDARD = os.path.join(sysconfig.get_paths()["stdlib"], "")
_PLAIN = (str, bytes, int, float, complex, type(None), type(...), np.ndarray, np.generic, io.IOBase)

#: Modules whose functions return something else at each call.
_NONDETERMINISTIC = ("random", "secrets", "uuid", "time", "numpy.random")


def reason(fn: Any, arguments: Any) -> str | None:
    """Why one trace of `fn` cannot stand for one per replica, with the line; None if it can.

    Args:
      fn: a replica function.
      arguments: a nest of what it is called with.
    """
    if tf.compat.v1.get_default_graph().seed is not None:
        return "the graph has a seed, and TensorFlow numbers a random op by the ops before it"
    leaves = [leaf for leaf in nests.flatten(arguments) if not distributed.is_tensor_like(leaf)]
    try:
        return _Search([fn, *leaves]).reason()
    except Exception as error:  # an object of the program may raise anything when it is looked at
        return "what it can reach cannot be looked through: %r" % error


class _Search:
    """Searches the objects that a function can reach."""

    def __init__(self, things: list[Any]) -> None:
        self._seen: dict[int, Any] = {}
        self._pending = list(reversed(things))

    def reason(self) -> str | None:
        """The first object that is kept per replica, in words; None if there is none."""
        while self._pending:
            thing = self._pending.pop()
            if id(thing) in self._seen or isinstance(thing, _PLAIN):
                continue
            self._seen[id(thing)] = thing
            if len(self._seen) > _MAX_OBJECTS:
                return "it can reach more than %d objects" % _MAX_OBJECTS
            reason = self._look_at(thing)
            if reason:
                return reason
        return None

    def _look_at(self, thing: Any) -> str | None:
        if isinstance(thing, types.FunctionType):
            return self._function(thing)
        if isinstance(thing, type):
            return self._class(thing)
        if isinstance(thing, functools.partial):
            self._pending += [thing.func, *thing.args, *thing.keywords.values()]
        elif isinstance(thing, types.MethodType):
            self._pending += [thing.__self__, thing.__func__]
        elif isinstance(thing, (staticmethod, classmethod)):
            self._pending.append(thing.__func__)
        elif isinstance(thing, property):
            self._pending += [thing.fget, thing.fset]
        elif isinstance(thing, (list, tuple, set, frozenset)):
            self._pending += thing
        elif isinstance(thing, dict):
            self._pending += thing.values()
        elif not isinstance(thing, types.ModuleType):
            return self._object(thing)
        return None

    def _function(self, fn: Any, cls: type | None = None) -> str | None:
        code = fn.__code__
        names = _names(fn)
        if _is_library(code.co_filename):
            self._pending += [getattr(fn, "__wrapped__", None)]
            self._pending += [value for value in _cells(fn).values() if callable(value)]
            return None
        self._pending += [*(fn.__defaults__ or ()), *(fn.__kwdefaults__ or {}).values()]
        nodes = _nodes(fn)
        if not nodes:
            return "the source of %s (%s) cannot be read" % (fn.__name__, code.co_filename)
        for node in nodes:
            source = python_effects.Source(
                node,
                _runs_once_per_object(fn, cls),
                lambda name: isinstance(names.get(name), types.ModuleType),
            )
            for effect in sorted(source.effects()):
                return "%s:%d: %s %s" % (code.co_filename, effect.line, fn.__name__, effect.what)
            for path in source.names():
                reached = _reach(names, path)
                if _is_nondeterministic(reached):
                    return "%s:%d: %s uses %s, which gives something else each time" % (
                        code.co_filename,
                        node.lineno,
                        fn.__name__,
                        ".".join(path),
                    )
                self._pending.append(reached)
        return None

    def _class(self, cls: type) -> str | None:
        if issubclass(cls, tuple) or hasattr(cls, "__dataclass_fields__"):
            return None  # its generated methods have no source
        for base in cls.__mro__:
            if base is object or _is_library(_file_of(base)):
                continue
            for member in vars(base).values():
                if isinstance(member, property):
                    parts = [member.fget, member.fset]
                else:
                    parts = [getattr(member, "__func__", member)]
                for part in parts:
                    if not isinstance(part, types.FunctionType) or id(part) in self._seen:
                        continue
                    self._seen[id(part)] = part
                    reason = self._function(part, base)
                    if reason:
                        return reason
        return None

    def _object(self, thing: Any) -> str | None:
        file = _file_of(type(thing))
        is_iterator = isinstance(thing, collections.abc.Iterator)
        if (is_iterator and not file.startswith(_LIBRARIES)) or _is_nondeterministic(thing):
            return "it can reach %r, which gives something else each time" % (thing,)
        parts = getattr(thing, "__dict__", None) or {}
        if _is_library(file):
            names = ("_layers", "function", "_python_function")
            self._pending += [parts[name] for name in names if name in parts]
        else:
            self._pending += [type(thing), *parts.values()]
        return None


def _names(fn: Any) -> Mapping[str, Any]:
    """{name that a function does not set: its value}."""
    return collections.ChainMap(_cells(fn), fn.__globals__)


def _cells(fn: Any) -> dict[str, Any]:
    values = {}
    for name, cell in zip(fn.__code__.co_freevars, fn.__closure__ or ()):
        try:
            values[name] = cell.cell_contents
        except ValueError:  # not set yet
            values[name] = None
    return values


def _reach(names: Mapping[str, Any], path: list[str]) -> Any:
    """The value of ``a.b.c``, as far as it can be read without running code of an object."""
    value = names.get(path[0])
    for name in path[1:]:
        if not isinstance(value, (types.ModuleType, type)) or _is_nondeterministic(value):
            break
        value = inspect.getattr_static(value, name, None)
    return value


def _runs_once_per_object(fn: Any, cls: type | None) -> bool:
    """Whether `fn` runs once per object: a constructor, or the `build` of a layer."""
    if cls is None:
        return False
    names = ["__init__"]
    if issubclass(cls, (tf.Module, tf.keras.layers.Layer)):
        names.append("build")
    return fn.__name__ in names


def _is_nondeterministic(thing: Any) -> bool:
    if isinstance(thing, types.ModuleType):
        return thing.__name__ in _NONDETERMINISTIC
    if isinstance(thing, types.BuiltinFunctionType):
        owner = thing.__self__
        is_module = isinstance(owner, types.ModuleType)
        return _is_nondeterministic(owner) if is_module else _is_generator(type(owner))
    return _is_generator(type(thing))


def _is_generator(cls: type) -> bool:
    return str(cls.__module__).startswith(("random", "_random", "numpy.random", "mtrand"))


def _is_library(path: str) -> bool:
    if path.startswith(_LIBRARIES):
        return True
    return path.startswith(_STANDARD) and not machine.is_installed(path)


def _file_of(cls: type) -> str:
    """The file of a class; for a class without one, a file of Python's library."""
    module = sys.modules.get(str(cls.__module__))
    path = getattr(module, "__file__", None)
    return "" if path is None and cls.__module__ == "__main__" else path or _STANDARD


def _nodes(fn: Any) -> list[Any]:
    """The definitions on the line of `fn`; there are several if it has several lambdas."""
    code = fn.__code__
    tree = _parsed("".join(linecache.getlines(code.co_filename, fn.__globals__)))
    return [node for node in _definitions(tree) if _begins_at(node, code)]


@functools.lru_cache(maxsize=100)
def _parsed(text: str) -> Any:
    try:
        return ast.parse(text)
    except SyntaxError:
        return ast.parse("")


def _definitions(tree: Any) -> Iterator[Any]:
    return (node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.Lambda)))


def _begins_at(node: Any, code: Any) -> bool:
    name = getattr(node, "name", "<lambda>")
    lines = [node.lineno, *(line.lineno for line in getattr(node, "decorator_list", ()))]
    return name == code.co_name and code.co_firstlineno in lines
