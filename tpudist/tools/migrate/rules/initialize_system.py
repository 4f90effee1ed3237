"""``strategy.initialize()`` and its kin are ``tf.tpu.experimental.initialize_tpu_system``.

The later function starts the system at once: ``session.run(...)`` around it
goes away.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Iterator

from tpudist import surfaces
from tpudist.surfaces.eras.walks import last_word
from tpudist.tools.migrate.resolution import members
from tpudist.tools.migrate.resolution.import_origins import first_name
from tpudist.tools.migrate.resolution.module import FUNCTIONS

if TYPE_CHECKING:
    from tpudist.tools.migrate.use import Use

STEP = "2.0"
NOTE = "https://github.com/tensorflow/tpu/issues/316"
_START, _STOP = "tpu.experimental.initialize_tpu_system", "tpu.experimental.shutdown_tpu_system"
_NAMES = {
    "initialize": _START,
    "finalize": _STOP,
    "experimental_initialize": _START,
    "experimental_finalize": _STOP,
    "contrib.tpu.initialize_system": _START,
    "contrib.tpu.shutdown_system": _STOP,
}
_RESOLVER = {("is", "resolver")}
_SAME = "contrib.distribute.initialize_tpu_system"
USES = [("tf", _SAME)] + [("tf" if "." in name else "strategy", name) for name in _NAMES]


def apply(use: Use) -> None:
    """Rewrites the call, and the statement that runs it in a Session.

    Args:
      use: the `Use`.
    """
    if use.name == _SAME:
        use.respell(surfaces.NAMES["v2_0"][_SAME])
        return
    new, resolver, statement = _NAMES[use.name], _resolver(use), _statement(use)
    if resolver is None or statement is None or use.arguments:
        use.leave(
            "no resolver is named here"
            if resolver is None
            else "its result is used, or it has arguments",
            "tf.%s(resolver), without a Session around it" % new,
        )
        return
    if use.kind == "tf":
        use.plan.respelled.add(first_name(use.node))
    use.replace(statement, "%s(%s)" % (use.spelled(new), resolver))
    use.note("tf." + new)


def _statement(use: Use) -> Any:
    """The call to replace: a statement of its own, maybe ``session.run(...)``."""
    if use.call is None:
        return None
    outer, around = use.call, use.module.parent(use.call)
    if isinstance(around, ast.Call) and outer is not around.func:
        outer = around
        if len(use.module.arguments(outer)) != 1 or last_word(outer.func) != "run":
            return None
    return outer if isinstance(use.module.parent(outer), ast.Expr) else None


def _resolver(use: Use) -> str | None:
    """The source of what is a resolver where the use is: a name or ``self.name``; or None."""
    scope, last = use.module.scope(use.node), use.module.global_scope()
    while True:
        found = {
            each.name
            for each in scope.bindings
            if use.evaluator.bound(use.module, each) == _RESOLVER
        }
        if found or scope is last or scope.parent is None:
            break
        scope = scope.parent
    found = found or set(_of_self(use))
    return found.pop() if len(found) == 1 else None


def _of_self(use: Use) -> Iterator[str]:
    """The attributes of ``self`` that are resolvers, in a method of a class."""
    function = use.module.around(use.node, FUNCTIONS)
    owner = function and use.module.around(function, (*FUNCTIONS, ast.ClassDef))
    if isinstance(owner, ast.ClassDef) and function.args.args:
        instance = ("object", use.module, owner)
        for name in members.assignments(use.module, owner):
            if members.attribute(use.evaluator, instance, name) == _RESOLVER:
                yield "%s.%s" % (function.args.args[0].arg, name)
