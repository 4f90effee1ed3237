"""Calls the user's functions with the arguments that they ask for."""

from __future__ import annotations

import copy
import inspect
from typing import TYPE_CHECKING

from tpudist.errors import ArgumentError

if TYPE_CHECKING:
    from typing import Any, Callable


def arguments(fn: Callable[..., Any]) -> tuple[str, ...]:
    """The names of the arguments of a function, method, partial or callable object."""
    return tuple(
        name
        for name, each in inspect.signature(fn).parameters.items()
        if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)
    )


def call(fn: Callable[..., Any], *positional: Any, **offered: Any) -> Any:
    """Calls `fn` with `positional` and those of `offered` that it has an argument for."""
    known = arguments(fn)
    return fn(*positional, **{name: each for name, each in offered.items() if name in known})


def require_params(fn: Callable[..., Any], what: str) -> None:
    """Refuses a function that cannot be told its batch size.

    Raises:
      ArgumentError: (a ValueError) it has no argument ``params``.
    """
    if "params" not in arguments(fn):
        name = getattr(fn, "__name__", repr(fn))
        raise ArgumentError(
            "%s (%s) does not include a params argument" % (what, name),
            "TPUEstimator passes the batch size, which depends on the TPU, as params['batch_size']",
            "def %s(..., params): ... params['batch_size']" % name,
        )


def with_items(params: Any, **items: Any) -> Any:
    """A copy of `params`, a dictionary or HParams, with further items."""
    params = copy.deepcopy(params)
    for name, value in items.items():
        if not hasattr(params, "set_hparam"):
            params[name] = value
        elif name in params:
            params.set_hparam(name, value)
        else:
            params.add_hparam(name, value)
    return params
