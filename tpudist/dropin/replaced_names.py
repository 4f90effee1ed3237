"""Passes what a program sets or deletes in a drop-in namespace on to TensorFlow's modules.

A library reads a name in TensorFlow's module, so that is where a program means it that sets
``tf.train.get_global_step``, or tests with ``mock.patch.object(tf.train, ...)``. The name is
written to each module below the namespace that has the same object under it. Where there is none,
as for a new name and for tpudist's own, the namespace alone has it.
"""

from __future__ import annotations

import contextlib
import types
from typing import Any, NamedTuple, Sequence

_ABSENT = object()


class Replaced(NamedTuple):
    """The original value of a name that a program replaced, and the modules that had it."""

    original: Any
    modules: list[types.ModuleType]


def assign(space: Any, below: Sequence[types.ModuleType], name: str, value: object) -> None:
    """Sets a name in a `Namespace`, and in TensorFlow's modules `below` it that had what it had.

    With the value that it had at first, it is not replaced any more.
    """
    replaced = space._tpudist_replaced
    if name not in replaced:
        replaced[name] = _owned(space, below, name)
    original, modules = replaced[name]
    for module in modules:
        setattr(module, name, value)
    space.__dict__[name] = value
    if value is original:
        del replaced[name]


def delete(space: Any, below: Sequence[types.ModuleType], name: str) -> None:
    """Puts back what the program has replaced; else deletes a name as :func:`assign` sets it.

    Raises:
      AttributeError: there is no such name.
    """
    replaced = space._tpudist_replaced
    is_set = name in replaced and name in space.__dict__
    original, modules = replaced.pop(name) if is_set else _owned(space, below, name)
    if not is_set:
        getattr(space, name)
        replaced[name] = Replaced(original, modules)
    space.__dict__.pop(name, None)
    for module in modules:
        if is_set:
            setattr(module, name, original)
        else:
            with contextlib.suppress(AttributeError):  # A lazy module may not have loaded it.
                delattr(module, name)


def _owned(space: object, below: Sequence[types.ModuleType], name: str) -> Replaced:
    before = getattr(space, name, _ABSENT)
    return Replaced(
        before, [each for each in below if hasattr(each, name) and getattr(each, name) is before]
    )
