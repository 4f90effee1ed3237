"""Gives cross-replica code a copy for each replica, also of a variable that is stored once.

Such a copy reads the one stored variable. Assigning it splits the variable, and the copy is then
its replica's own. Copies are made on demand. Where a graph relies on the one value, a program
that sets every copy in a loop gets a warning and continues.
"""

from __future__ import annotations

import functools
import warnings
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from tpudist.errors import ContextError
from tpudist.tfcompat import distributed, functions, nests
from tpudist.virtual.variables import splits, stored_once

if TYPE_CHECKING:
    from typing import Sequence

    from tpudist.tfcompat.annotations import Fn, Nest, Tensor


#: Assignments that give the same value when a loop repeats them for every copy.
_REPEATABLE = ("assign", "load")


def of(value: object) -> tuple[Any, ...]:
    """The copies of `value` for code that may assign one; ``(value,)`` if it has none."""
    copies = distributed.components(value)
    if not stored_once.may_split(value) or distributed.is_updating():
        return copies
    return tuple(of_replica(value, i) for i in range(len(copies)))


def of_nest(structure: Any, copies: Any) -> Sequence[Any]:
    """Replaces `copies`, TensorFlow's for `structure`, by those of :func:`of` where needed."""
    if distributed.is_distributed(structure):
        return of(structure) if stored_once.may_split(structure) else copies
    if not any(map(stored_once.may_split, nests.flatten(structure))):
        return copies

    def own(leaf: object, i: int) -> Nest:
        return of(leaf)[i] if distributed.is_distributed(leaf) else leaf

    return tuple(
        nests.map_structure(lambda leaf, i=i: own(leaf, i), structure) for i in range(len(copies))
    )


def of_replica(variable: Any, index: int) -> Nest:
    """The copy of replica `index`, of a variable that is stored once."""
    made = variable._copies.get(index)
    if made is None:
        stored = distributed.components(variable)[0]
        cls: Any = _class_for(type(stored))  # type: ignore[arg-type]
        made = variable._copies[index] = cls.__new__(cls)
        object.__setattr__(made, "__dict__", stored.__dict__)
        object.__setattr__(made, "_copy", (variable, index))
    return made


@functools.lru_cache(maxsize=None)
def _class_for(base: type) -> type[Any]:
    """The class of copies of a stored variable, whose class is `base`; they share its state."""
    names = [name for name in distributed.ASSIGNMENTS if hasattr(base, name)]
    members: dict[str, Any] = {name: _assigning(base, name) for name in names}
    members.update((name, _without_read(name)) for name in ("device", "graph", "op"))
    members.update(__slots__=("_copy",), __module__=base.__module__)
    return type(base)(base.__name__, (_Copy, base), members)


class _Copy:
    """Members in which a copy of a variable that is stored once differs from what is stored."""

    __slots__ = ()
    _copy: tuple[Any, int]

    @property
    def _handle(self) -> Tensor:
        """The resource; a graph that reads it relies on the variable's being stored once."""
        variable, index = self._copy
        if index and not tf.executing_eagerly():
            stored_once.assume_equal(variable)
        return self.__dict__["_handle"]

    def _lazy_read(self, op: object) -> Nest:
        inherited: Any = super()
        if stored_once.is_stored_once(self._copy[0]):
            raise ContextError(
                _seen(self),
                "a function of TensorFlow assigns it, not its own method",
                "the method of the copy: copy.assign(value), "
                "copy.scatter_update(tf.IndexedSlices(values, indices))",
            )
        return inherited._lazy_read(op)


def _assigning(base: Any, name: str) -> Fn:
    def assign(self: Any, *args: Any, **kwargs: Any) -> Nest:
        why = _split_for(self)
        if why is None:
            return getattr(base, name)(self, *args, **kwargs)
        every = "to give all replicas one value, assign the variable itself: v.assign(value)"
        if name not in _REPEATABLE:
            raise ContextError(_seen(self), why[0], every + "; else " + why[1])
        warning = "%s, and with it every copy: %s. Instead: %s; else %s"
        warnings.warn(warning % (_seen(self), why[0], every, why[1]), stacklevel=2)
        return getattr(distributed.components(self._copy[0])[0], name)(*args, **kwargs)

    assign.__name__ = name
    assign.__doc__ = getattr(base, name).__doc__
    return assign


def _without_read(name: str) -> property:
    """A property that does not count as a read of the handle."""
    return property(lambda self: getattr(distributed.components(self._copy[0])[0], name))


def _split_for(copy: Any) -> tuple[str, str] | None:
    """Splits the variable of an assigned copy; returns why not, and what to do instead."""
    variable, _ = copy._copy
    if not stored_once.is_stored_once(variable):
        return None
    if splits.is_relied_on(variable):
        return (
            "a graph built earlier uses the variable as one value for all replicas",
            "assign the copy before the first function that uses the variable",
        )
    in_session = not tf.executing_eagerly() and not functions.in_function()
    if in_session and variable._initializer_requested:
        return (
            "the op that initializes it was made earlier, and knows of one value",
            "make the assignment before tf.global_variables_initializer()",
        )
    splits.split(variable)
    return None


def _seen(copy: Any) -> str:
    variable, index = copy._copy
    return "copy %d of variable %r is assigned" % (index, variable.name)
