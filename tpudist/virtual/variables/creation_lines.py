"""Records the source line that created a variable, which an eager one does not know."""

from tpudist.tfcompat import graphs


def here():
    """((file, line), ...) of the calls that lead here, the innermost first."""
    return tuple(reversed(graphs.stack()))


def of_handle(handle):
    """What :func:`here` was when the variable of a handle was created; () if nobody noted.

    Args:
      handle: a resource tensor.
    """
    return getattr(handle, "_tpudist_made_at", ())
