"""Reports imports that cannot be rewritten and that fail on today's TensorFlow."""

from __future__ import annotations

import ast
from typing import Any, Iterator

from tpudist import surfaces
from tpudist.surfaces import leads
from tpudist.surfaces.eras import names as era_names
from tpudist.tools.migrate import imports
from tpudist.tools.migrate.relocation import Relocation
from tpudist.tools.migrate.resolution import tensorflow_names
from tpudist.tools.migrate.resolution.module import imported, is_star
from tpudist.tools.migrate.use import Plan

#: A copy of Keras 2 that ``tf.keras`` does not know: it was that once.
OWN_KERAS = "python.keras"


def covered(name: str, era: str) -> bool:
    """Whether the drop-in namespace of an era answers for a dotted name below ``tf``."""
    names = set(surfaces.DROPINS[era])
    if era == "contrib":
        if leads.lead(name).kind != "gone":
            return True
        names.update(surfaces.MOVED, surfaces.LEADS, surfaces.WRITTEN)
    return any(
        key == name or key.startswith(name + ".") or name.startswith(key + ".") for key in names
    )


def leave_contrib(plan: Plan, relocation: Relocation | None, era: str) -> None:
    """Reports imports of contrib that stay, for which the drop-in of `era` does not answer."""
    for node, full, bound in _imports(plan):
        below = tensorflow_names.below_tensorflow(full) or ""
        stays = below.partition(".")[0] == "contrib" and below not in surfaces.NAMES["v2_0"]
        moves = relocation is not None and relocation.carried_on(below) != below
        if not stays or moves or era and covered(below, era):
            continue
        if not bound or not imports.dropped(plan, node, full, bound):
            why = "tf.contrib ended with TensorFlow 1.15"
            instead = leads.gone_text(below)
            plan.leave(node, "gone-contrib", "import of " + full, instead, why)


def leave_names(plan: Plan, rule: str) -> None:
    """Reports other imports of what today's TensorFlow ("gone-names") or 2.2 has not."""
    is_today = rule == "gone-names"
    for node, full, _ in _imports(plan):
        below = tensorflow_names.below_tensorflow(full) or ""
        plan.has_moved |= is_today and below in surfaces.RENAMED_TODAY
        why, instead = _gone_today(plan, full) if is_today else ("", "")
        is_kept = below in surfaces.GONE_BY_2_2_BUT_V1 and is_v1(plan, full)
        if not is_today and below in surfaces.GONE_BY_2_2 and not is_kept:
            why, instead = "not in TensorFlow 2.2", surfaces.GONE_BY_2_2[below]
        around = plan.module.around(node, ast.Try)
        if why and (around is None or not around.handlers):  # else the program has an answer to it
            plan.leave(node, rule, "import of " + full, instead, why)


def _gone_today(plan: Plan, full: str) -> tuple[str, str]:
    """(why an imported name is not there today, what to type instead); ("", "") if it is."""
    if full.startswith("tensorflow.google"):
        return "no TensorFlow outside of Google has it", "import tensorflow.compat.v1 as tf"
    package = full.partition(".")[0]
    if package in surfaces.ENDED_PACKAGES:
        ended = surfaces.ENDED_PACKAGES[package]
        return ended["why"], ended["instead"]
    below = tensorflow_names.below_tensorflow(full) or ""
    below = surfaces.MOVED.get(leads.public_name(below), below)
    name = leads.gone_today(below)
    if below.partition(".")[0] == "contrib" or name and plan.has(name, is_v1(plan, full)):
        return "", ""
    if name is not None:
        return "not in every TensorFlow of today", leads.gone_names()[name]
    if full.startswith("tensorflow.") and leads.gone_module(below):
        return "not in every TensorFlow of today", leads.instead_of_module(below)
    if era_names.is_below(below, (OWN_KERAS,)):
        why = "tf.keras knows nothing of it since TensorFlow 2.6"
        return why, leads.instead_of_module(below)
    return "", ""


def is_v1(plan: Plan, full: str) -> bool:
    """Whether an import is, or becomes, one of ``tf.compat.v1``."""
    return ".compat.v1." in full + "." or plan.program.wants_v1(plan.module.path)


def _imports(plan: Plan) -> Iterator[tuple[Any, str, str]]:
    """Yields (statement, full name, bound name); of ``from x import *``, x and no bound name."""
    for node in plan.module.imports:
        if is_star(node):
            if not node.level:
                yield node, node.module, ""
        else:
            for full, bound in imported(node):
                yield node, full, bound
