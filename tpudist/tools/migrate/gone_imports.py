"""Imports that stay and that no TensorFlow of today can do, which is told."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Iterator

from tpudist import surfaces
from tpudist.surfaces.eras import names as era_names
from tpudist.tools.migrate import imports
from tpudist.tools.migrate.resolution import tensorflow_names
from tpudist.tools.migrate.resolution.module import imported, is_star

if TYPE_CHECKING:
    from tpudist.tools.migrate.relocation import Relocation
    from tpudist.tools.migrate.resolution.module import Module
    from tpudist.tools.migrate.use import Plan

#: A copy of Keras 2 that ``tf.keras`` does not know: it was that once.
OWN_KERAS = "python.keras"


def covered(name: str, era: str) -> bool:
    """Whether the drop-in namespace of an era answers for a dotted name below ``tf``."""
    names = set(surfaces.DROPINS[era])
    if era == "contrib":
        if surfaces.lead(name).kind != "gone":
            return True
        names.update(surfaces.MOVED, surfaces.LEADS, surfaces.WRITTEN)
    return any(
        key == name or key.startswith(name + ".") or name.startswith(key + ".") for key in names
    )


def leave_contrib(plan: Plan, relocation: Relocation | None, era: str) -> None:
    """Notes imports of contrib modules that stay, which no later TensorFlow has.

    Args:
      plan: the `Plan`, with all edits.
      relocation: the `Relocation` of the imports, None if they stay.
      era: the era whose drop-in namespace the file uses afterwards; "" for none.
    """
    for node in plan.module.imports:
        for full, bound in _imported(node):
            below = tensorflow_names.below_tensorflow(full) or ""
            stays = below.partition(".")[0] == "contrib" and below not in surfaces.NAMES["v2_0"]
            moves = relocation is not None and relocation.moves_on(below)
            if (
                stays
                and not moves
                and not (era and covered(below, era))
                and not (bound and imports.dropped(plan, node, full, bound))
            ):
                plan.leave(
                    node,
                    "gone-contrib",
                    "import of " + full,
                    surfaces.gone_text(below),
                    "tf.contrib ended with TensorFlow 1.15",
                )


def leave_names(plan: Plan, rule: str) -> None:
    """Notes imports of what is in no TensorFlow of today.

    Args:
      plan: the `Plan` of the step to latest.
      rule: the rule's name.
    """
    for node in plan.module.imports:
        for full, _ in _imported(node):
            below = tensorflow_names.below_tensorflow(full) or ""
            if plan.ignores(node, rule) or below.partition(".")[0] == "contrib":
                continue
            name = surfaces.gone_today(below)
            if name in surfaces.KEPT_IN_V1 and is_v1(plan, full):
                continue
            instead = surfaces.instead_of_gone(name) if name else ""
            if name is None and full.partition(".")[0] == "tensorflow":
                name = surfaces.gone_module(below)
                instead = surfaces.instead_of_module(below)
            why = "not in every TensorFlow of today"
            if name is None and era_names.is_below(below, (OWN_KERAS,)):
                name, instead = below, surfaces.instead_of_module(below)
                why = "tf.keras knows nothing of it since TensorFlow 2.6"
            if name and not _is_tried(plan.module, node):
                plan.leave(node, rule, "import of " + full, instead, why)


def leave_names_of_2_2(plan: Plan, rule: str) -> None:
    """As `leave_names`, of what TensorFlow 2.2 has not.

    Args:
      plan: the `Plan` of a migration that ends at 2.2.
      rule: the rule's name.
    """
    for node in plan.module.imports:
        for full, _ in _imported(node):
            name = tensorflow_names.below_tensorflow(full)
            if name not in surfaces.GONE_BY_2_2:
                continue
            kept = name in surfaces.GONE_BY_2_2_BUT_V1 and is_v1(plan, full)
            if not kept and not _is_tried(plan.module, node):
                instead = surfaces.GONE_BY_2_2[name]
                plan.leave(node, rule, "import of " + full, instead, "not in TensorFlow 2.2")


def is_v1(plan: Plan, full: str) -> bool:
    """Whether an import is, or becomes, one of ``tf.compat.v1``."""
    return ".compat.v1." in full + "." or plan.program.wants_v1(plan.module.path)


def renames(plan: Plan) -> bool:
    """Whether an import of a file is of a name that today's TensorFlow has elsewhere."""
    return any(
        tensorflow_names.below_tensorflow(full) in surfaces.RENAMED_TODAY
        for node in plan.module.imports
        for full, _ in _imported(node)
    )


def _imported(node: Any) -> Iterator[tuple[str, str]]:
    """As `imported`; of ``from x import *``, x and no bound name."""
    if is_star(node):
        if not node.level:
            yield node.module, ""
    else:
        yield from imported(node)


def _is_tried(module: Module, node: Any) -> bool:
    """Whether an import stands in a ``try`` that has an answer to its failing."""
    around = module.around(node, ast.Try)
    return around is not None and bool(around.handlers)
