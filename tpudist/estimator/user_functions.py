"""Calls the user's model and input functions with those arguments that they accept."""

from __future__ import annotations

import copy
import inspect
from typing import TYPE_CHECKING, Any

from tpudist.errors import ArgumentError
from tpudist.tfcompat import nests

if TYPE_CHECKING:
    from tpudist.annotations import Fn
    from tpudist.tfcompat.annotations import Nest


def argument_names(fn: Fn) -> tuple[str, ...]:
    """Returns the names of the arguments of a function, method, partial or callable object."""
    return tuple(
        name
        for name, parameter in inspect.signature(fn).parameters.items()
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    )


def call(fn: Fn, *args: Any, **optional: Any) -> Any:
    """Calls `fn` with `args` and with those of `optional` that it has an argument for."""
    accepted = argument_names(fn)
    return fn(*args, **{name: value for name, value in optional.items() if name in accepted})


def require_params(fn: Fn, what: str) -> None:
    """Refuses a function without an argument ``params``: it could not get its batch size."""
    if "params" not in argument_names(fn):
        name = getattr(fn, "__name__", repr(fn))
        raise ArgumentError(
            "%s (%s) does not include a params argument" % (what, name),
            "TPUEstimator passes the batch size, which depends on the TPU, as params['batch_size']",
            "def %s(..., params): ... params['batch_size']" % name,
        )


def require_input(value: Any) -> Nest:
    """Returns what an input function returned, if batches can be made of it."""
    is_pair = isinstance(value, (tuple, list)) and not hasattr(value, "_fields")
    is_plain = any(
        isinstance(leaf, (bool, int, float, str, bytes)) for leaf in nests.flatten(value)
    )
    if is_plain or is_pair and len(value) not in (1, 2):
        raise ArgumentError(
            "an input function returned %r" % (value,),
            "it returns batches: a dataset, or the tensors (features, labels)",
            "return tf.data.Dataset.from_tensor_slices((features, labels)).batch(BATCH_SIZE)",
        )
    return value


def with_items(params: Any, **items: Any) -> dict[str, Any]:
    """Returns a copy of `params`, a dictionary or HParams, with further items."""
    params = copy.deepcopy(params)
    for name, value in items.items():
        if not hasattr(params, "set_hparam"):
            params[name] = value
        elif name in params:
            params.set_hparam(name, value)
        else:
            params.add_hparam(name, value)
    return params
