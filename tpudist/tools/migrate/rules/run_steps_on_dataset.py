"""``run_steps_on_dataset(fn, iterator, n)`` is a ``tf.function`` with ``tf.range``.

Only where its context is simple: eager code; `fn` a function of this file that
makes no variables and uses its context for ``set_last_step_output`` alone, as
statements of its own; and of the result only ``last_step_outputs`` is read.
"""

import libcst as cst

from tpudist.tools.migrate.resolution.module import last_word

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


def apply(use):
    """Rewrites loop and step function, or says why not.

    Args:
      use: the `Use`.
    """
    reason = _Loop(use).plan()
    if reason:
        use.leave(*_REASONS[reason])


class _Loop:
    """One call of ``run_steps_on_dataset``, looked at part by part."""

    def __init__(self, use):
        self._use, self._module = use, use.module
        self._outputs = []  # (statement, name, value node, operation)

    def plan(self):
        """Plans all edits, or returns the key of the reason why there are none."""
        reason = self._call() or self._function() or self._context() or self._result()
        if reason:
            return reason
        use = self._use
        use.plan.replace(self._line, self._new_loop())
        use.plan.replace(self._step, self._new_step())
        for node in self._reads:
            use.plan.replace(node, lambda updated: updated.value)
        use.note("a tf.function with tf.range")
        return ""

    def _call(self):
        use = self._use
        if use.plan.survey.builds_graph(use.module.path):
            return "session"
        self._line = use.line_of()
        parent = None if use.call is None else self._module.parent(use.call)
        targets = getattr(parent, "targets", ())
        alone = (
            isinstance(parent, cst.Expr)
            or isinstance(parent, cst.Assign)
            and (len(targets) == 1 and isinstance(targets[0].target, cst.Name))
        )
        if not alone or len(self._line.body) != 1:
            return "used"
        self._target = targets[0].target if targets else None
        parts = [use.argument(0, "fn"), use.argument(1, "iterator"), use.argument(2, "iterations")]
        if use.has_stars or None in parts[:2] or use.argument(3, "initial_loop_values"):
            return "arguments"
        self._fn, self._iterator = parts[0].value, parts[1].value
        self._steps = parts[2].value if parts[2] is not None else cst.Integer("1")
        return ""

    def _function(self):
        found = list(self._use.evaluator.values(self._module, self._fn))
        if (
            len(found) != 1
            or found[0][:2] != ("function", self._module)
            or not isinstance(self._fn, cst.Name)
            or isinstance(found[0][2], cst.Lambda)
        ):
            return "elsewhere"
        self._step = found[0][2]
        parameters = self._step.params
        if (
            self._step.decorators
            or len(parameters.params) < 2
            or parameters.kwonly_params
            or any(each.default is not None for each in parameters.params)
            or isinstance(parameters.star_arg, cst.Param)
            or parameters.star_kwarg
        ):
            return "parameters"
        code = self._module.code(self._step)
        if any(word in code for word in _MAKES_VARIABLES):
            return "variables"
        scope = self._module.scope(self._step)
        if sum(len(each.references) for each in scope[self._step.name.value]) != 1:
            return "shared"
        return ""

    def _context(self):
        context = self._step.params.params[0].name
        scope = self._module.scope(self._step.body.body[0])
        uses = [access.node for each in scope[context.value] for access in each.references]
        for node in uses:
            call = self._module.parent(self._module.parent(node))
            line = self._module.around(node, cst.SimpleStatementLine)
            if (
                not isinstance(call, cst.Call)
                or last_word(call.func) != "set_last_step_output"
                or line not in self._step.body.body
                or len(line.body) != 1
                or len(call.args) != 3
                or not isinstance(call.args[0].value, cst.SimpleString)
            ):
                return "context"
            dotted = self._use.tensorflow_name(call.args[2].value) or ""
            family, _, operation = dotted.rpartition(".")
            if family != "VariableAggregation" or operation not in _OPERATIONS:
                return "aggregation"
            name = call.args[0].value.evaluated_value
            if not name.isidentifier():
                return "context"
            self._outputs.append((line, name, operation))
        lines = {line: index for index, line in enumerate(self._step.body.body)}
        self._outputs.sort(key=lambda output: lines[output[0]])  # references have no order
        returns = self._module.nodes.returns.get(self._step, ())
        last = self._step.body.body[-1]
        if len(returns) > 1 or (
            returns
            and not (
                isinstance(last, cst.SimpleStatementLine) and isinstance(last.body[-1], cst.Return)
            )
        ):
            return "returns"
        return ""

    def _result(self):
        scope = self._module.scope(self._use.node)
        self._reads = []
        if self._target is None:
            return ""
        for access in [each for one in scope[self._target.value] for each in one.references]:
            parent = self._module.parent(access.node)
            if not isinstance(parent, cst.Attribute) or (parent.attr.value != "last_step_outputs"):
                return "result"
            self._reads.append(parent)
        return ""

    def _new_step(self):
        root = self._use.plan.root()
        statements = {}
        for line, name, operation in self._outputs:
            statements[line] = (name, operation)
        names = ", ".join('"%s": last_%s' % (name, name) for _, name, _ in self._outputs)
        old = self._step.body.body

        def step(updated):
            body = []
            for before, after in zip(old, updated.body.body):
                if before in statements:
                    body.append(_reduced(after, root, *statements[before]))
                elif (
                    before is old[-1]
                    and isinstance(before, cst.SimpleStatementLine)
                    and (isinstance(before.body[-1], cst.Return))
                ):
                    body += _evaluated(after)
                else:
                    body.append(after)
            body.append(cst.parse_statement("return {%s}" % names))
            parameters = updated.params.with_changes(params=updated.params.params[1:])
            return updated.with_changes(
                params=parameters, body=updated.body.with_changes(body=body)
            )

        return step

    def _new_loop(self):
        root, function = self._use.plan.root(), self._step.name.value
        many = len(self._step.params.params) > 2
        inputs = "*next(iterator)" if many else "next(iterator)"
        steps = self._use.code(self._steps)
        fewer = (
            "%d" % (int(steps) - 1)
            if steps.isdigit()
            else "(%s) - 1" % steps
            if (not steps.isidentifier())
            else steps + " - 1"
        )
        name = function + "_loop"
        while name in self._module.scope(self._use.node):
            name += "_"
        text = (
            "@{tf}.function\ndef {name}(iterator):\n    outputs = {fn}({inputs})\n"
            "    for _ in {tf}.range({fewer}):\n        outputs = {fn}({inputs})\n"
            "    return outputs\n"
        ).format(tf=root, name=name, fn=function, inputs=inputs, fewer=fewer)

        def loop(updated):
            call = updated.body[0].value
            new = call.with_changes(func=cst.Name(name), args=[cst.Arg(call.args[1].value)])
            statement = updated.with_changes(
                body=[updated.body[0].with_changes(value=new)], leading_lines=[]
            )
            made = cst.parse_statement(text).with_changes(leading_lines=updated.leading_lines)
            return cst.FlattenSentinel([made, statement])

        return loop


def _reduced(line, root, name, operation):
    """``last_loss = tf.distribute.get_strategy().reduce(ReduceOp.MEAN, value, axis=None)``."""
    value = line.body[0].value.args[1].value
    form = (
        "experimental_local_results(x)[0]"
        if operation.startswith("ONLY_FIRST")
        else "reduce(%s.distribute.ReduceOp.%s, x, axis=None)" % (root, operation)
    )
    made = cst.parse_statement("last_%s = %s.distribute.get_strategy().%s" % (name, root, form))
    return line.with_changes(body=[made.body[0].visit(_Put(value))])


class _Put(cst.CSTTransformer):
    """Puts a node where the name ``x`` stands."""

    def __init__(self, node):
        super().__init__()
        self._node = node

    def leave_Arg(self, original_node, updated_node):
        is_it = isinstance(updated_node.value, cst.Name) and updated_node.value.value == "x"
        return updated_node.with_changes(value=self._node) if is_it else updated_node


def _evaluated(line):
    """The statement ``return x`` without its return; nothing where x does nothing."""
    value = line.body[-1].value
    if value is None or isinstance(value, (cst.Name, cst.BaseNumber)):
        return []
    return [line.with_changes(body=list(line.body[:-1]) + [cst.Expr(value)])]
