"""``experimental.TPUStrategy`` is ``TPUStrategy`` since 2.3, its assignment ``experimental_``.

Below ``tf.compat.v1`` there is only the experimental one, which stays. The two are
different classes: where a code base has both, ``isinstance`` asks for either.
"""

import libcst as cst

from tpudist import surfaces
from tpudist.tools.migrate.resolution import import_origins

STEP = "latest"
NOTE = "https://github.com/tensorflow/tensorflow/releases/tag/v2.3.0"
_OLD = "distribute.experimental.TPUStrategy"
USES = [("tf", _OLD)]


def apply(use):
    """Renames the class and its argument.

    Args:
      use: the `Use`.
    """
    is_v1 = import_origins.is_v1_name(use.plan, use.module, use.node)
    classes = use.plan.survey.strategy_classes
    if len(classes) > 1 and _is_asked_for(use) and use.plan.target == "latest":
        return _either(use, classes, is_v1)
    if is_v1:
        return None
    if use.call is not None:
        if use.has_stars:
            return use.leave("its arguments cannot be read here", "tf.distribute.TPUStrategy")
        assignment = use.argument(1, "device_assignment")
        if assignment is not None:
            _keyword(use, assignment)
    return use.respell(surfaces.NAMES["latest"][_OLD])


def _is_asked_for(use):
    """Whether it is the class that an ``isinstance`` asks for, on its own."""
    argument = use.module.parent(use.node)
    call = use.module.parent(argument)
    return (
        isinstance(argument, cst.Arg)
        and use.last_word(getattr(call, "func", None)) in ("isinstance", "issubclass")
        and argument is call.args[-1]
    )


def _either(use, classes, is_v1):
    root = use.plan.root()
    names = [
        name
        if not is_v1
        else name.replace("compat.v1.", "")
        if "v1" in name
        else "compat.v2." + name
        for name in classes
    ]
    either = "(%s)" % ", ".join("%s.%s" % (root, name) for name in names)
    return use.rewrite(use.node, lambda _: cst.parse_expression(either), either)


def _keyword(use, assignment):
    place = [each is assignment for each in use.call.args].index(True)

    def call(updated):
        arguments = list(updated.args)
        old = arguments[place]
        arguments[place] = old.with_changes(
            keyword=cst.Name("experimental_device_assignment"),
            equal=cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace("")),
        )
        return updated.with_changes(args=arguments)

    use.plan.replace(use.call, call)
