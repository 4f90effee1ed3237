"""Placeholders for names of ``tf.contrib`` that no package has any more.

Most scripts import far more than they run, so it can be imported, read and used as a
default argument; it raises when it is called or subclassed. A program that asks whether
there is such a name (``hasattr``, ``getattr`` with a default, ``try: import``) gets the
true answer.
"""

from __future__ import annotations

import ast
import dis
import functools
import linecache
import os
import sys
import types
from typing import Any, Callable, NoReturn

from tpudist.errors import ContribNameError

_OURS = os.path.dirname(os.path.abspath(__file__))
_HOOK = os.path.join(os.path.dirname(_OURS), "legacy", "hook.py")

#: Instructions that read a name without asking whether it is there.
_READS = ("LOAD_ATTR", "LOAD_METHOD", "IMPORT_FROM", "IMPORT_NAME")
_CAUGHT = ("ImportError", "ModuleNotFoundError", "AttributeError", "Exception", "BaseException")


class StandIn:
    """An object under the name below ``tf`` of one that is gone.

    ``error(attempt)`` makes the error for an attempt to use it.
    """

    def __init__(self, path: str, error: Callable[[str], ContribNameError]) -> None:
        self._path = path
        self._error = error
        self.__name__ = path.rpartition(".")[2]
        self.__doc__ = "tf.%s, which is gone." % path

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise self._error("tf.%s was called" % self._path)

    def __mro_entries__(self, bases: tuple[Any, ...]) -> NoReturn:
        raise self._error("tf.%s was subclassed" % self._path)

    def __instancecheck__(self, instance: object) -> bool:
        return False

    def __subclasscheck__(self, subclass: type) -> bool:
        return False

    def __getattr__(self, name: str) -> StandIn:
        if name.startswith("_") or is_asked():
            raise AttributeError(name)
        return StandIn("%s.%s" % (self._path, name), self._error)

    def __repr__(self) -> str:
        return "<tf.%s, which is gone>" % self._path


def is_asked() -> bool:
    """Whether the program asks if a name is there, rather than reading it."""
    frame: types.FrameType | None = sys._getframe(1)
    machinery = (_OURS, "<frozen importlib", _HOOK)
    while frame is not None:
        code = frame.f_code
        if not code.co_filename.startswith(machinery) and "importlib" not in code.co_filename:
            break
        frame = frame.f_back
    if frame is None:
        return True
    instruction = dis.opname[code.co_code[frame.f_lasti]] if frame.f_lasti >= 0 else ""
    if instruction not in _READS:
        return True
    return frame.f_lineno in _guarded_lines(code.co_filename)


@functools.lru_cache(maxsize=None)
def _guarded_lines(file: str) -> frozenset[int]:
    """Lines of a file in a ``try`` that catches a missing name."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):
        return frozenset()
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Try) and any(map(_catches, node.handlers)):
            last = node.handlers[0].lineno
            lines.update(range(node.body[0].lineno, last))
    return frozenset(lines)


def _catches(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    return any(isinstance(node, ast.Name) and node.id in _CAUGHT for node in ast.walk(handler.type))
