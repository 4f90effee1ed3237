"""The Sessions of a worker of a cluster: each is of this worker's server, whoever makes it.

TensorFlow adds over the workers in such Sessions alone; in others it would wait for ever.
"""

from __future__ import annotations

import contextlib
import functools
from typing import Any, Iterator


@contextlib.contextmanager
def of_this_worker() -> Iterator[None]:
    """Context manager: Sessions that are made in the block are of this worker's server."""
    from tpudist.tfcompat import clusters

    base = clusters.session_class()
    native = base.__init__

    @functools.wraps(native)
    def start(self: Any, target: Any = "", graph: Any = None, config: Any = None) -> None:
        del target
        native(self, *clusters.in_session(graph, config))

    base.__init__, clusters.has_sessions = start, True
    try:
        yield
    finally:
        base.__init__, clusters.has_sessions = native, False
