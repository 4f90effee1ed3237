"""TPUs: how their system is started, their strategies made, and their cores laid out."""

from __future__ import annotations

import ast

from tpudist import surfaces
from tpudist.surfaces.eras.walks import last_word
from tpudist.tools.migrate.resolution import members
from tpudist.tools.migrate.resolution.module import FUNCTIONS, first_name
from tpudist.tools.migrate.rules import rule
from tpudist.tools.migrate.use import Use

_START, _STOP = "tpu.experimental.initialize_tpu_system", "tpu.experimental.shutdown_tpu_system"
_RESOLVER = {("is", "resolver")}
_OF_RESOLVER = "contrib.distribute.initialize_tpu_system"
_SYSTEM = {
    "initialize": _START,
    "finalize": _STOP,
    "experimental_initialize": _START,
    "experimental_finalize": _STOP,
    "contrib.tpu.initialize_system": _START,
    "contrib.tpu.shutdown_system": _STOP,
    _OF_RESOLVER: _START,
}


@rule("initialize-system", [("tf" if "." in name else "strategy", name) for name in _SYSTEM])
def initialize_system(use: Use) -> None:
    """``strategy.initialize()`` and the like are ``tf.tpu.experimental.initialize_tpu_system``."""
    new = _SYSTEM[use.name]
    if use.name == _OF_RESOLVER:
        use.respell(new)
        return
    resolver, statement = _resolver(use), _statement(use)
    if not resolver or not statement:
        use.leave(
            "it is no statement of its own, or no one resolver is named here",
            "tf.%s(resolver), without a Session around it" % new,
        )
        return
    if use.kind == "tf":
        use.plan.respelled.add(first_name(use.node))
    use.replace(statement, "%s(%s)" % (use.spelled(new), resolver))
    use.note("tf." + new)


def _statement(use: Use) -> ast.AST | None:
    """The call to replace, or the ``session.run(...)`` around it: a statement of its own."""
    if use.call is None or use.arguments:
        return None
    outer, around = use.call, use.module.parent(use.call)
    if type(around) is ast.Call and last_word(around.func) == "run":
        outer = around if len(use.module.arguments(around)) == 1 else None
    return outer if type(use.module.parent(outer)) is ast.Expr else None


def _resolver(use: Use) -> str | None:
    """The one variable or ``self.name`` that holds a resolver there; None if it is not just one."""
    scope = use.module.scope(use.node)
    found: set[str] = set()
    while scope.parent is not None and not found:
        found = {
            each.name
            for each in scope.bindings
            if use.evaluator.bound(use.module, each) == _RESOLVER
        }
        scope = scope.around()
    function = use.module.around(use.node, FUNCTIONS)
    owner = function and use.module.parent(function)
    if not found and type(owner) is ast.ClassDef and function.args.args:
        instance = ("object", use.module, owner)
        found = {
            "%s.%s" % (function.args.args[0].arg, name)
            for name in members.assignments(use.module, owner)
            if members.attribute(use.evaluator, instance, name) == _RESOLVER
        }
    return found.pop() if len(found) == 1 else None


_TPU = "distribute.experimental.TPUStrategy"
_OF_CONTRIB = {
    old: new
    for old, new in surfaces.NAMES["v2_0"].items()
    if old.endswith("Strategy") and "distribute" in old and "Distribution" not in old
}
_V2 = "distribute.TPUStrategy"
#: What ``isinstance`` asks for in a file of TensorFlow 2, and of 1.
_CLASSES, _CLASSES_OF_1 = (_V2, "compat.v1." + _TPU), (_TPU, "compat.v2." + _V2)
_FIRST = {"OneDeviceStrategy": "device", "MirroredStrategy": "devices"}


@rule("constructor", [("tf", name) for name in [*_OF_CONTRIB, _TPU]])
def constructor(use: Use) -> None:
    """``contrib.distribute.TPUStrategy(resolver, steps_per_run, num_cores)`` lost two arguments."""
    is_contrib, steps = use.name in _OF_CONTRIB, None
    new = _OF_CONTRIB.get(use.name, use.name)
    if use.call is not None and new == _TPU:
        cores = use.argument(2 if is_contrib else -1, "num_cores")
        has_cores = cores is not None and use.code(cores.value) != "None"
        if has_cores or is_contrib and use.has_stars:
            use.leave(
                "its arguments cannot be read here, or have num_cores",
                "device_assignment=tf.tpu.experimental.DeviceAssignment.build(topology, "
                "num_replicas=num_cores)",
            )
            return
        if not use.is_v1():
            steps = use.argument(1 if is_contrib else -1, "steps_per_run")
        use.remove_arguments([each for each in (steps, cores) if each is not None])
    elif use.call is not None and use.arguments:
        (argument, *more), name = use.arguments, use.name.rpartition(".")[2]
        # The first argument kept its meaning.
        if more or argument.star or argument.name not in ("", _FIRST.get(name)):
            use.leave("its arguments of contrib are not those of tf.distribute", "tf." + new)
            return
    if is_contrib:
        use.respell(new)
    elif steps is not None:
        use.note(use.code() + ", without steps_per_run")


@rule(
    "strategy-class",
    [("tf", name) for name in [*(old for old, new in _OF_CONTRIB.items() if new == _TPU), _TPU]],
)
def strategy_class(use: Use) -> None:
    """``experimental.TPUStrategy`` is ``TPUStrategy`` since 2.3."""
    around = use.module.parent(use.node)
    is_v1 = use.evaluator.is_v1(use.module, use.node)
    if type(around) is ast.Call and last_word(around.func) in ("isinstance", "issubclass"):
        either = "(%s)" % ", ".join(map(use.spelled, _CLASSES_OF_1 if is_v1 else _CLASSES))
        use.replace(use.node, either)
        use.note(either)
        return
    if is_v1:
        return
    if use.call is not None:
        if use.has_stars:
            use.leave("its arguments cannot be read here", "tf.distribute.TPUStrategy")
            return
        assignment = use.argument(1, "device_assignment")
        if assignment is not None:
            value = use.module.outer_span(assignment.value)[0]
            use.edits.replace(assignment.start, value, "experimental_device_assignment=")
    use.respell(_V2)


@rule("computation-shape", [("tf", "tpu.experimental.DeviceAssignment.build")])
def computation_shape(use: Use) -> None:
    """A ``computation_shape`` of three entries has four in newer TensorFlow: [x, y, z, core]."""
    for index, name in enumerate(("computation_shape", "computation_stride"), 1):
        argument = use.call and use.argument(index, name)
        if not argument or use.code(argument.value) == "None":
            continue
        if type(argument.value) not in (ast.List, ast.Tuple):
            use.leave(
                "%s=%s cannot be read here" % (name, use.code(argument.value)),
                "[x, y, 1, cores] if it is [x, y, cores]",
            )
        elif len(argument.value.elts) == 3:
            use.wrap(argument.value.elts[2], "1, ", "")
            use.note("[x, y, 1, cores]")


@rule("tpu-devices", [("text", "device")])
def tpu_devices(use: Use) -> None:
    """Only a machine with a TPU has a device of a name like ``/device:TPU:0``."""
    use.leave("TensorFlow has it with a TPU alone", "tf.config.list_logical_devices()")
