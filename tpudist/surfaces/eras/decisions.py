"""Decides the era of a program: names exclude eras, they do not vote."""

from __future__ import annotations

from typing import NamedTuple

from tpudist import surfaces
from tpudist.surfaces.eras import evidence
from tpudist.surfaces.eras.evidence import ASIDE, CALLED, OF_SCRIPT, UNCALLED, Evidence

#: Names by which code of TensorFlow 2 trains on a TPU. 1.15 had them too: they exclude nothing,
#: but a program that has them is seldom of TensorFlow 1. Its TPUEstimators have a
#: TPUClusterResolver of ``tf.distribute`` as well, which is none of these.
_TRAINING = frozenset(
    ["TPUStrategy", "initialize_tpu_system", "experimental_connect_to_cluster"]
    + ["experimental_connect_to_host", "experimental_run_v2"]
)


class Decision(NamedTuple):
    """An era and the names that decided it.

    `decisive` is the Evidence for it and against others, in reading order, none where no name is
    evidence, which leaves the newest; `outvoted` that against it; `graph` that the program works in
    a graph only and leaves it to TensorFlow 1 to make one.
    """

    era: str
    decisive: list[Evidence]
    outvoted: list[Evidence]
    graph: list[Evidence]


def decide(clues: list[Evidence]) -> Decision:
    """Decides the era of a program by its names.

    What a file states comes first. Names of TensorFlow 1 alone exclude the later eras, those of
    TensorFlow 2 alone the first, and those of 2.2 alone 2.0. Where both stand in one program,
    the script comes before its helpers, and what can run before what nothing calls; where both
    can run, the newest era is meant, since code that was carried forward keeps old branches.
    """
    says_itself = any(each.kind == evidence.MODE for each in clues)
    graph = [each for each in clues if each.kind == evidence.GRAPH and not says_itself]
    named = [each for each in clues if each.kind != evidence.GRAPH or each in graph]
    stated = [each for each in named if each.kind == evidence.STATED]
    if stated:
        era = max((each.eras[0] for each in stated), key=surfaces.ERAS.index)
        return Decision(era, stated, [], graph)
    era = "contrib" if _is_first_generation(named) else _later(named)
    against = [each for each in named if _is_against(each, era)]
    for_it = [each for each in named if era in each.eras and each.eras != tuple(surfaces.ERAS)]
    narrow = (each for each in for_it if len(each.eras) == 1 or "v2_2" not in each.eras)
    own = [each for each in narrow if each.eras[-1] == era]
    used = list(filter(_is_used, own))
    return Decision(era, used or own or for_it, against, graph)


def _is_first_generation(clues: list[Evidence]) -> bool:
    """Whether the program is of TensorFlow 1."""
    for place in (OF_SCRIPT, CALLED):
        here = [each for each in clues if each.place == place]
        second = any(map(_excludes_first, here))
        if second or any(map(_excludes_later, here)):
            return not second
    is_later = any(each.eras and "contrib" not in each.eras for each in clues if _is_used(each))
    for places in ((OF_SCRIPT, CALLED), (ASIDE,), (UNCALLED,)):
        here = [each for each in clues if each.place in places]
        if any(_speaks_for_second(each) or _excludes_first(each) for each in here):
            return False
        if any(_may_run(each, is_later) for each in here if each.eras == ("contrib",)):
            return True
    return False


def _is_used(clue: Evidence) -> bool:
    return clue.place < ASIDE


def _may_run(clue: Evidence, is_later: bool) -> bool:
    """Whether a name of TensorFlow 1 counts as evidence.

    Not in an unused function of a helper, nor where a program with names of later eras first asks
    whether there is such a name.
    """
    if clue.place == UNCALLED and clue.kind == evidence.FIRST_GENERATION:
        return False
    return not (clue.guarded and is_later)


def _later(clues: list[Evidence]) -> str:
    """The era of a program of TensorFlow 2."""
    for used in (True, False):
        eras = [each.eras for each in clues if _is_used(each) == used and each.eras]
        if ("v2_2",) in eras:
            return "v2_2"
        if any("v2_2" not in each and "v2_0" in each for each in eras):
            return "v2_0"
    return surfaces.ERAS[-1]


def _excludes_first(clue: Evidence) -> bool:
    is_v2 = clue.kind == evidence.MODE and clue.name.endswith("enable_v2_behavior")
    return is_v2 or clue.kind == evidence.SECOND_GENERATION or clue.eras == ("v2_2",)


def _excludes_later(clue: Evidence) -> bool:
    """Whether a name excludes the later eras; an unused old name in a helper does not."""
    is_surface = clue.kind == evidence.SURFACE
    return clue.eras == ("contrib",) and (is_surface or clue.place == OF_SCRIPT)


def _speaks_for_second(clue: Evidence) -> bool:
    """Whether a name suggests TensorFlow 2, without excluding TensorFlow 1."""
    if clue.kind == evidence.COMPAT_V2:
        return clue.place == OF_SCRIPT
    return clue.name.rpartition(".")[2] in _TRAINING and clue.eras != ("contrib",)


def _is_against(clue: Evidence, era: str) -> bool:
    if era == "contrib":
        return _excludes_first(clue) or _speaks_for_second(clue)
    return len(clue.eras) == 1 and era not in clue.eras
