"""Programs with a TPUEstimator."""

from __future__ import annotations

import re
from typing import Iterable, Mapping

from tpudist.surfaces.eras.evidence import Evidence
from tpudist.tools.migrate.resolution.codebase import CodeBase
from tpudist.tools.migrate.use import Plan, is_of_tensorflow

NAME = "estimators"
_NAMED = re.compile(
    r"^tf\.(compat\.v1\.)?(contrib|estimator)\.tpu\.(.+\.)?"
    r"(InputPipelineConfig|RunConfig|TPUConfig|TPUEstimator|TPUEstimatorSpec)$"
)


def named(found: Iterable[Evidence]) -> str:
    """The first name of a TPUEstimator, or of a class that is made for one, in a file; or ""."""
    return next((each.name for each in found if _NAMED.match(each.name)), "")


def files(codebase: CodeBase, names: Mapping[str, str], second: Iterable[str]) -> dict[str, str]:
    """{file of a program with a TPUEstimator: its name of one}, without `second`'s."""
    kept = set(second).difference(names)
    beside = codebase.programs(names) - codebase.below(kept)
    moved = {path for path in beside if b"tensorflow" in codebase.bytes[path]}
    others = codebase.above(moved.union(names)).difference(names, kept)
    return {**dict.fromkeys(others, ""), **names}


def report(plan: Plan, name: str) -> None:
    """Reports, once in each file that names a TPUEstimator, that it is on tpudist.contrib now."""
    if name:
        node = next(filter(is_of_tensorflow, plan.module.imports), plan.module.tree.body[0])
        instead = 'pip install "tpudist[legacy]" where it runs'
        why = "a TPUEstimator's program, on tpudist.contrib now"
        plan.leave(node, NAME, plan.module.code(node).split("\n")[0], instead, why)
