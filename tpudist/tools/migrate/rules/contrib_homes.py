"""Names of contrib that somebody carries on."""

from __future__ import annotations

import ast

from tpudist import surfaces
from tpudist.surfaces import leads
from tpudist.surfaces.leads import Lead
from tpudist.tools.migrate.resolution.module import Argument, first_name
from tpudist.tools.migrate.rules import rule
from tpudist.tools.migrate.use import Use

_V1 = "tensorflow.compat.v1."
_UNMODIFIED = "tpudist run, which runs the program as it was; or another name of tf_slim or tf"


@rule("contrib-homes", [("tf", "contrib.+")])
def contrib_homes(use: Use) -> None:
    """Names of contrib that TensorFlow, another package or tpudist.legacy carries on."""
    new = leads.successor(use.name)
    if new is None:
        return
    has_ended = new.package == "tf_slim" and new.target.rpartition(".")[2] in surfaces.SLIM_ENDED
    if use.plan.target == "latest" and has_ended:
        use.leave("tf_slim's does not run on TensorFlow 2.15 and newer", _UNMODIFIED)
    values = use.evaluator.values(use.module, first_name(use.node))
    if any(value[0] == "unread" for value in values):
        return  # the program has the package already
    if use.call is not None and new.parameters is not None:
        renamed = _renamed(use, new)
        if renamed is None:
            kept = ", ".join(new.parameters.values())
            instead = "%s(%s)" % (_spelled(new), kept) if kept else leads.gone_text(use.name)
            use.leave("its arguments are not those of %s" % _spelled(new), instead)
            return
        for argument, name in renamed:
            use.rename_keyword(argument, name)
    base = first_name(use.node)
    module = use.tensorflow_name(base) if isinstance(base, ast.Name) else None
    is_carried = module is not None and module.startswith("contrib.")
    if module and is_carried:  # what binds its first word may lead there
        is_carried = leads.lead(module).target + use.name[len(module) :] == new.target
    if isinstance(use.node, ast.Name) or is_carried:
        return  # what binds its first name changes
    if new.target.startswith(_V1):
        use.respell(new.target[len(_V1) :])
    elif not use.respell_whole(new.target):
        use.leave("%s names something else here" % new.target.partition(".")[0], new.target)


def _renamed(use: Use, new: Lead) -> list[tuple[Argument, str]] | None:
    """[(argument, its new keyword)] of a call; None if it has an argument that is not kept."""
    named = [each for each in use.arguments if each.name]
    positional = len(use.arguments) - len(named)
    kept = new.parameters or {}
    if use.has_stars or positional > new.places or any(each.name not in kept for each in named):
        return None
    pairs = [(each, kept[each.name]) for each in named]
    return [(each, name) for each, name in pairs if each.name != name]


def _spelled(new: Lead) -> str:
    return "tf." + new.target[len(_V1) :] if new.target.startswith(_V1) else new.target
