"""``experimental_connect_to_host(resolver.master())`` is ``..._connect_to_cluster(resolver)``.

The later function, of 1.15 and 2.1, connects all hosts of a slice; the page of
2.2 uses it. Another host than a resolver's master is connected as before.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tpudist.tools.migrate.use import Use

STEP = "2.2"
NOTE = (
    "https://www.tensorflow.org/versions/r2.2/api_docs/python/tf/config/"
    "experimental_connect_to_cluster"
)
USES = [("tf", "config.experimental_connect_to_host")]

_NEW = "config.experimental_connect_to_cluster"
_MASTERS = ({("method", "resolver", "master")}, {("method", "resolver", "get_master")})


def apply(use: Use) -> None:
    """Rewrites a call whose only argument is the master of a resolver.

    Args:
      use: the `Use`.
    """
    host = use.argument(0, "remote_host") if use.call is not None else None
    resolver = None
    if host is not None and len(use.arguments) == 1:
        resolver = _resolver(use, host.value)
    if resolver is None or host is None:
        return
    if not isinstance(use.node, ast.Attribute):
        use.leave("it is imported by name", "tf.%s(%s)" % (_NEW, use.code(resolver)))
        return
    use.edits.replace(host.start, host.end, use.module.code(resolver))
    use.respell(_NEW)


def _resolver(use: Use, node: Any) -> Any:
    """The expression whose ``master()`` a node is, if it can only be a resolver."""
    if not isinstance(node, ast.Call) or node.args or node.keywords:
        return None
    if not isinstance(node.func, ast.Attribute):
        return None
    return node.func.value if use.evaluator.values(use.module, node.func) in _MASTERS else None
