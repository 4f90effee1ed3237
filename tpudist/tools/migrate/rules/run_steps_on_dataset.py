"""``run_steps_on_dataset(fn, iterator, n)`` is a ``tf.function`` with ``tf.range``.

Only where its context is simple: eager code; `fn` a function of this file that
makes no variables and uses its context for ``set_last_step_output`` alone, as
statements of its own; and of the result only ``last_step_outputs`` is read.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from tpudist.surfaces.eras import walks
from tpudist.surfaces.eras.walks import last_word
from tpudist.tools.migrate.resolution.module import FUNCTIONS

if TYPE_CHECKING:
    from tpudist.tools.migrate.use import Use

STEP = "2.0"
NOTE = (
    "https://github.com/tensorflow/docs/blob/r1.11/site/en/api_docs/python/tf/contrib/"
    "distribute/TPUStrategy.md#run_steps_on_dataset"
)
USES = [("strategy", "run_steps_on_dataset")]

#: Why a loop is left: what was seen, what to do.
_REASONS = {
    "session": (
        "the program runs in a Session",
        "session.run the op of one step n times; or make the program eager, then this rule "
        "writes a tf.function; or keep this file as it was, with --level import",
    ),
    "used": (
        "it is part of a larger expression",
        "a statement of its own: loop = strategy.run_steps_on_dataset(fn, iterator, n)",
    ),
    "arguments": (
        "it has initial_loop_values, or arguments that cannot be read here",
        "strategy.run_steps_on_dataset(fn, iterator, n)",
    ),
    "elsewhere": (
        "its function is not a def of this file",
        "def fn(context, x): ... beside the call",
    ),
    "parameters": (
        "the parameters of its function are not (context, inputs...)",
        "def fn(context, x, y): ..., without decorators, defaults and stars",
    ),
    "variables": (
        "its function makes variables, which a tf.function may do only once",
        "make them before the loop, under strategy.scope()",
    ),
    "shared": ("its function is used elsewhere too", "a function of its own for the loop"),
    "context": (
        "its context is used for more than set_last_step_output(name, value, how)",
        "call it in the step function itself, not in the one that runs on each tower, "
        "with a name in quotes that is an identifier",
    ),
    "aggregation": (
        "the aggregation of an output is not spelled out",
        "tf.VariableAggregation.SUM, MEAN or ONLY_FIRST_TOWER",
    ),
    "returns": ("its function returns in several places", "one return, at its end"),
    "result": (
        "its result is read otherwise than by last_step_outputs",
        "loop.last_step_outputs[name]; in eager code run_op is not needed",
    ),
}
_OPERATIONS = ("SUM", "MEAN", "ONLY_FIRST_TOWER", "ONLY_FIRST_REPLICA")
_MAKES_VARIABLES = ("get_variable", "Variable(", "layers.", "variable_scope")


def apply(use: Use) -> None:
    """Rewrites loop and step function, or says why not.

    Args:
      use: the `Use`.
    """
    reason = _Loop(use).plan()
    if reason:
        use.leave(*_REASONS[reason])


class _Loop:
    """One loop: what it is made of, and what becomes of it."""

    def __init__(self, use: Use) -> None:
        self._use, self._module = use, use.module
        self._outputs: list[tuple[Any, str, str]] = []  # (statement, name, operation)

    def plan(self) -> str:
        """Plans all edits, or returns the key of the reason why there are none."""
        reason = self._call() or self._function() or self._context() or self._result()
        if reason:
            return reason
        self._write_step()
        self._write_loop()
        for node in self._reads:
            self._use.edits.remove(self._module.span(node.value)[1], self._module.span(node)[1])
        self._use.note("a tf.function with tf.range")
        return ""

    def _call(self) -> str:
        use = self._use
        if use.plan.program.builds_graph(use.module.path):
            return "session"
        around = None if use.call is None else self._module.parent(use.call)
        targets: Any = getattr(around, "targets", ())
        alone = type(around) is ast.Expr or (
            type(around) is ast.Assign and len(targets) == 1 and type(targets[0]) is ast.Name
        )
        if not alone or not self._module.is_alone(around):
            return "used"
        self._line = around
        self._target = targets[0] if targets else None
        parts = [use.argument(0, "fn"), use.argument(1, "iterator"), use.argument(2, "iterations")]
        function, iterator, steps = parts
        if use.has_stars or function is None or iterator is None:
            return "arguments"
        if use.argument(3, "initial_loop_values"):
            return "arguments"
        self._fn, self._iterator = function.value, iterator.value
        self._steps = use.code(steps.value) if steps is not None else "1"
        return ""

    def _function(self) -> str:
        found: list[Any] = list(self._use.evaluator.values(self._module, self._fn))
        is_here = len(found) == 1 and found[0][:2] == ("function", self._module)
        if not is_here or type(self._fn) is not ast.Name or type(found[0][2]) is ast.Lambda:
            return "elsewhere"
        self._step = found[0][2]
        parameters = self._step.args
        if self._step.decorator_list or len(parameters.args) < 2:
            return "parameters"
        if parameters.kwonlyargs or parameters.defaults or parameters.vararg or parameters.kwarg:
            return "parameters"
        if any(word in self._module.code(self._step) for word in _MAKES_VARIABLES):
            return "variables"
        bindings = self._module.scope(self._step)[self._step.name]
        return "shared" if sum(len(each.references) for each in bindings) != 1 else ""

    def _context(self) -> str:
        context = self._step.args.args[0].arg
        scope = self._module.scope(self._step.body[0])
        for node in [each for one in scope[context] for each in one.references]:
            call = self._module.parent(self._module.parent(node))
            line = self._module.statement(node)
            if (
                type(call) is not ast.Call
                or last_word(call.func) != "set_last_step_output"
                or line not in self._step.body
                or not self._module.is_alone(line)
                or len(call.args) != 3
                or walks.text(call.args[0]) is None
            ):
                return "context"
            dotted = self._use.tensorflow_name(call.args[2]) or ""
            family, _, operation = dotted.rpartition(".")
            if family != "VariableAggregation" or operation not in _OPERATIONS:
                return "aggregation"
            name = walks.text(call.args[0]) or ""
            if not name.isidentifier():
                return "context"
            self._outputs.append((line, name, operation))
        self._outputs.sort(key=lambda output: output[0].lineno)
        returns = [each for each in self._module.of(ast.Return) if self._is_own(each)]
        at_end = returns == [self._step.body[-1]] and self._module.is_alone(self._step.body[-1])
        return "returns" if returns and not at_end else ""

    def _is_own(self, node: Any) -> bool:
        return self._module.around(node, (*FUNCTIONS, ast.Lambda)) is self._step

    def _result(self) -> str:
        self._reads = []
        if self._target is None:
            return ""
        scope = self._module.scope(self._use.node)
        for node in [each for one in scope[self._target.id] for each in one.references]:
            parent = self._module.parent(node)
            if type(parent) is not ast.Attribute or parent.attr != "last_step_outputs":
                return "result"
            self._reads.append(parent)
        return ""

    def _write_step(self) -> None:
        edits, module, root = self._use.edits, self._module, self._use.plan.root()
        first, second = self._step.args.args[:2]
        edits.remove(module.span(first)[0], module.span(second)[0])
        for line, name, operation in self._outputs:
            value = module.outer_span(line.value.args[1])
            before, after = _reduced(root, name, operation)
            edits.replace(module.span(line)[0], value[0], before)
            edits.replace(value[1], module.span(line)[1], after)
        names = ", ".join('"%s": last_%s' % (name, name) for _, name, _ in self._outputs)
        last = self._step.body[-1]
        start, end = module.span(last)
        returned = "return {%s}" % names
        if type(last) is not ast.Return:
            edits.insert(end, "\n" + module.indent(last) + returned)
        elif last.value is None or isinstance(last.value, (ast.Name, ast.Constant)):
            edits.replace(start, end, returned)
        else:
            edits.remove(start, module.outer_span(last.value)[0])
            edits.insert(end, "\n" + module.indent(last) + returned)

    def _write_loop(self) -> None:
        use, module = self._use, self._module
        inputs = "next(iterator)"
        if len(self._step.args.args) > 2:
            inputs = "*" + inputs
        steps, name = self._steps, self._step.name + "_loop"
        fewer = steps + " - 1" if steps.isidentifier() else "(%s) - 1" % steps
        if steps.isdigit():
            fewer = str(int(steps) - 1)
        while name in module.scope(use.node):
            name += "_"
        indent = module.indent(self._line)
        inner = " " * 4 if not indent.startswith("\t") else "\t"
        lines = [
            "@%s.function" % use.plan.root(),
            "def %s(iterator):" % name,
            inner + "outputs = %s(%s)" % (self._step.name, inputs),
            inner + "for _ in %s.range(%s):" % (use.plan.root(), fewer),
            inner * 2 + "outputs = %s(%s)" % (self._step.name, inputs),
            inner + "return outputs",
            "",
        ]
        start = module.span(self._line)[0]
        use.edits.wrap(start, start, ("\n" + indent).join(lines), "")
        (start, end), iterator = module.span(use.call), module.outer_span(self._iterator)
        use.edits.replace(start, iterator[0], name + "(")
        use.edits.replace(iterator[1], end, ")")


def _reduced(root: str, name: str, operation: str) -> tuple[str, str]:
    """What stands before and after a value of which an output of the last step is made."""
    before = "last_%s = %s.distribute.get_strategy()." % (name, root)
    if operation.startswith("ONLY_FIRST"):
        return before + "experimental_local_results(", ")[0]"
    return before + "reduce(%s.distribute.ReduceOp.%s, " % (root, operation), ", axis=None)"
