"""Finds whether a replica function asks in Python for the number or the device of its replica.

``if get_tower_context().tower_id == 0`` wants a number of Python's, which one trace for all lacks.
What the function can reach in the program is looked through before it is called; if anything
in it asks, each replica is traced on its own.
"""

from __future__ import annotations

import dis
import functools
import inspect
import io
import os
import sys
import sysconfig
import types
from typing import Any, Iterator

import numpy as np
import tensorflow as tf

from tpudist import machine
from tpudist.tfcompat import distributed, nests

_NUMBERS = ("tower_id", "replica_id", "replica_id_in_sync_group", "worker_device_index")

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

#: Attributes of objects of libraries by which a program's own functions are reached.
_HELD = ("_layers", "function", "_python_function")


def reason(fn: object, arguments: object) -> str | None:
    """The reason, with its line, why one trace of `fn` is not enough; None if it is."""
    leaves = [leaf for leaf in nests.flatten(arguments) if not distributed.is_tensor_like(leaf)]
    try:
        return _search([fn, *leaves])
    except Exception as error:  # an object of the program may raise anything when it is looked at  # noqa: BLE001
        return "what it can reach cannot be looked through: %r" % error


def _search(pending: list[Any]) -> str | None:
    seen: dict[int, Any] = {}
    while pending:
        thing = pending.pop()
        if id(thing) in seen or isinstance(thing, _PLAIN):
            continue
        seen[id(thing)] = thing
        if len(seen) > _MAX_OBJECTS:
            return "it can reach more than %d objects" % _MAX_OBJECTS
        if isinstance(thing, types.FunctionType) and not _is_library(thing.__code__.co_filename):
            for line, what in _asks(thing, thing.__code__):
                file, name = thing.__code__.co_filename, thing.__name__
                return "%s:%d: %s %s" % (file, line, name, what)
        pending += _reached(thing)
    return None


def _reached(thing: object) -> Iterator[Any]:
    """The objects that calls of `thing` may reach, to be searched next."""
    if isinstance(thing, types.FunctionType):
        held = _cells(thing).values()
        if _is_library(thing.__code__.co_filename):
            yield from (getattr(thing, "__wrapped__", None), *filter(callable, held))
        else:
            yield from (*held, *(thing.__defaults__ or ()), *(thing.__kwdefaults__ or {}).values())
            yield from (value for _, _, _, value in _loads(thing, thing.__code__))
    elif isinstance(thing, type):
        for base in thing.__mro__:
            if base is not object and not _is_library(_file_of(base)):
                yield from vars(base).values()
    elif isinstance(thing, functools.partial):
        yield from (thing.func, *thing.args, *thing.keywords.values())
    elif isinstance(thing, types.MethodType):
        yield from (thing.__self__, thing.__func__)
    elif isinstance(thing, (staticmethod, classmethod)):
        yield thing.__func__
    elif isinstance(thing, property):
        yield from (thing.fget, thing.fset)
    elif isinstance(thing, (list, tuple, set, frozenset)):
        yield from thing
    elif isinstance(thing, dict):
        yield from thing.values()
    elif not isinstance(thing, types.ModuleType):
        parts = getattr(thing, "__dict__", None) or {}
        if _is_library(_file_of(type(thing))):
            yield from (parts[name] for name in _HELD if name in parts)
        else:
            yield from (type(thing), *parts.values())


def _asks(fn: Any, code: Any) -> Iterator[tuple[int, str]]:
    """(line, what it does) of each place of a function that asks for its replica."""
    for line, owner, name, _ in _loads(fn, code):
        if name in _NUMBERS:
            yield line, "reads the number of its replica"
        elif name == "device" and owner is not fn and not isinstance(owner, types.ModuleType):
            yield line, "reads the device of its replica"
    if any(isinstance(each, str) and each in _NUMBERS for each in code.co_consts):
        yield code.co_firstlineno, "names the number of its replica"


def _loads(fn: Any, code: Any) -> Iterator[tuple[int, Any, str, Any]]:
    """(line, owner, name, value) of each name or attribute that code loads, None if unknown."""
    lines, line = dict(dis.findlinestarts(code)), code.co_firstlineno
    names = {**fn.__globals__, **_cells(fn)}
    value = None
    for each in dis.get_instructions(code):
        line = lines.get(each.offset) or line
        if each.opname in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF"):
            value = names.get(each.argval)
            yield line, fn, each.argval, value
        elif each.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            owner, value = value, None
            if isinstance(owner, (types.ModuleType, type)):
                value = inspect.getattr_static(owner, each.argval, None)
            yield line, owner, each.argval, value
        elif each.opname != "EXTENDED_ARG":
            value = None
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _loads(fn, constant)


def _cells(fn: Any) -> dict[str, Any]:
    values = {}
    for name, cell in zip(fn.__code__.co_freevars, fn.__closure__ or ()):
        try:
            values[name] = cell.cell_contents
        except ValueError:  # not set yet
            values[name] = None
    return values


def _is_library(path: str) -> bool:
    if path.startswith(_LIBRARIES):
        return True
    return path.startswith(_STANDARD) and not machine.is_installed(path)


def _file_of(cls: type) -> str:
    """The file of a class; for a class without one, a file of Python's library."""
    module = sys.modules.get(str(cls.__module__))
    path = getattr(module, "__file__", None)
    return "" if path is None and cls.__module__ == "__main__" else path or _STANDARD
