"""``experimental_connect_to_host(resolver.master())`` is ``..._connect_to_cluster(resolver)``.

The later function, of 1.15 and 2.1, connects all hosts of a slice; the page of
2.2 uses it. Another host than a resolver's master is connected as before.
"""

import libcst as cst

STEP = "2.2"
NOTE = (
    "https://www.tensorflow.org/versions/r2.2/api_docs/python/tf/config/"
    "experimental_connect_to_cluster"
)
USES = [("tf", "config.experimental_connect_to_host")]

_NEW = "config.experimental_connect_to_cluster"


def apply(use):
    """Rewrites a call whose only argument is the master of a resolver.

    Args:
      use: the `Use`.
    """
    host = use.argument(0, "remote_host") if use.call is not None else None
    resolver = _resolver(use, host.value) if host is not None and len(use.call.args) == 1 else None
    if resolver is None:
        return None
    if not isinstance(use.node, cst.Attribute):
        return use.leave("it is imported by name", "tf.%s(%s)" % (_NEW, use.code(resolver)))
    func = use.respelled(_NEW)
    argument = cst.Arg(use.module.copied(resolver))
    return use.rewrite(
        use.call,
        lambda call: call.with_changes(func=func(call.func), args=[argument]),
        "tf." + _NEW,
    )


def _resolver(use, node):
    """The expression whose ``master()`` a node is, if it can only be a resolver."""
    if not isinstance(node, cst.Call) or node.args or not isinstance(node.func, cst.Attribute):
        return None
    is_master = use.evaluator.values(use.module, node.func) in (
        {("method", "resolver", "master")},
        {("method", "resolver", "get_master")},
    )
    return node.func.value if is_master else None
