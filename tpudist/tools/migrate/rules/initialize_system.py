"""``strategy.initialize()`` and its kin are ``tf.tpu.experimental.initialize_tpu_system``.

The later function starts the system at once: ``session.run(...)`` around it
goes away.
"""

import libcst as cst

from tpudist import surfaces
from tpudist.tools.migrate.resolution import members

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


def apply(use):
    """Rewrites the call, and the statement that runs it in a Session.

    Args:
      use: the `Use`.
    """
    if use.name == _SAME:
        return use.respell(surfaces.NAMES["v2_0"][_SAME])
    new, resolver = _NAMES[use.name], _resolver(use)
    statement = _statement(use)
    if resolver is None or statement is None or use.call.args:
        return use.leave(
            "no resolver is named here"
            if resolver is None
            else "its result is used, or it has arguments",
            "tf.%s(resolver), without a Session around it" % new,
        )
    made = cst.Call(use.spelled(new), [cst.Arg(cst.parse_expression(resolver))])
    _mark_respelled(use)
    return use.rewrite(statement, lambda updated: made, "tf." + new)


def _mark_respelled(use):
    base = use.node
    while isinstance(base, cst.Attribute):
        base = base.value
    if use.kind == "tf":
        use.plan.respelled.add(base)


def _statement(use):
    """The call to replace: a statement of its own, maybe ``session.run(...)``."""
    if use.call is None:
        return None
    outer = use.call
    argument = use.module.parent(outer)
    if isinstance(argument, cst.Arg) and isinstance(use.module.parent(argument), cst.Call):
        outer = use.module.parent(argument)
        if len(outer.args) != 1 or use.last_word(outer.func) != "run":
            return None
    return outer if isinstance(use.module.parent(outer), cst.Expr) else None


def _resolver(use):
    """The source of what is a resolver where the use is: a name or ``self.name``; or None."""
    scope, last = use.module.scope(use.node), use.module.global_scope()
    while True:
        found = {
            each.name
            for each in scope.assignments
            if use.evaluator.assigned(use.module, each) == _RESOLVER
        }
        if found or scope is last:
            break
        scope = scope.parent
    found |= set(_of_self(use)) if not found else set()
    return found.pop() if len(found) == 1 else None


def _of_self(use):
    """The attributes of ``self`` that are resolvers, in a method of a class."""
    function = use.module.around(use.node, cst.FunctionDef)
    owner = function and use.module.around(function, (cst.FunctionDef, cst.ClassDef))
    if isinstance(owner, cst.ClassDef) and function.params.params:
        for name in members.own_names(use.module, owner):
            instance = ("object", use.module, owner)
            if members.attribute(use.evaluator, instance, name) == _RESOLVER:
                yield "%s.%s" % (function.params.params[0].name.value, name)
