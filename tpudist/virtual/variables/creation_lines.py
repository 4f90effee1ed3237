"""Records the source line that created a variable, which an eager one does not know."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tpudist.tfcompat import graphs

if TYPE_CHECKING:
    from typing import Any

    from tpudist.tfcompat.annotations import Tensor


def here() -> Any:
    """((file, line), ...) of the calls that lead here, the innermost first."""
    return tuple(reversed(graphs.stack()))


def of_handle(handle: Tensor) -> Any:
    """What :func:`here` was when the variable of a handle was created; () if nobody noted.

    Args:
      handle: a resource tensor.
    """
    return getattr(handle, "_tpudist_made_at", ())
