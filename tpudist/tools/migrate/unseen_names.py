"""Names that only the run knows: ``getattr(tf, name)``, of TensorFlow or its Keras backend."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import libcst as cst

from tpudist.tools.migrate.resolution import import_origins
from tpudist.tools.migrate.rules import gone_names
from tpudist.tools.migrate.use import Use

if TYPE_CHECKING:
    from typing import Iterator, Mapping

    from tpudist.tools.migrate.rules import Rule
    from tpudist.tools.migrate.use import Plan

#: Modules of whose names many are gone, and which may be asked for any.
_ASKED = ("", "keras.backend")
_TYPES = re.compile("type|float|int", re.IGNORECASE)  # tf.float32: every release has those


def leave(plan: Plan, table: Mapping[tuple[str, str], Rule]) -> None:
    """Leaves the first of them in a file.

    Args:
      plan: the `Plan`.
      table: {(kind, name): Rule}.
    """
    rule = table.get(gone_names.KEY)
    if rule is None or plan.survey.wants_v1(plan.module.path):
        return
    for call, owner in _asking(plan.module):
        dotted = plan.evaluator.tensorflow_name(plan.module, owner)
        if dotted not in _ASKED or import_origins.is_v1_name(plan, plan.module, owner):
            continue
        of = ".".join(filter(None, ("tf", dotted)))
        Use(plan, rule.name, "", "", call).leave(
            "it cannot be told which names of %s these are" % of,
            "each name as code, where TensorFlow may have it no longer",
        )
        return


def _asking(module: Any) -> Iterator[tuple[Any, Any]]:
    """(call, what is asked) of each that asks for a name that is no literal."""
    by_name = module.nodes.calls_by_name
    for call in by_name.get("getattr", ()):
        if len(call.args) == 2 and not any(each.star for each in call.args):
            name = call.args[1].value
            if type(name) is not cst.SimpleString and not _TYPES.search(module.code(name)):
                yield call, call.args[0].value
    for call in by_name.get("getmembers", ()):
        if call.args:
            yield call, call.args[0].value
    for call in by_name.get("partial", ()):
        if len(call.args) == 2 and getattr(call.args[0].value, "value", "") == "getattr":
            yield call, call.args[1].value
