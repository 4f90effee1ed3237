"""Which names are told where they stand in strings and comments, and what to type instead."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tpudist import surfaces
from tpudist.surfaces.eras import names
from tpudist.tools.migrate.common_members import OF_OTHERS

if TYPE_CHECKING:
    from typing import Mapping, Sequence

    from tpudist.tools.migrate.rules import Rule

_GONE, _KEPT = "gone-names", surfaces.KEPT_IN_V1


class Rules(NamedTuple):
    """Which names are told.

    Args:
      names: {dotted name below ``tf``: the name of its rule}.
      members: the same, of a strategy's.
      every: the rule of all else in contrib, None if it is not told.
      first: the rule of other names of TensorFlow 1, None if they are not told.
    """

    names: Mapping[str, str]
    members: Mapping[str, str]
    every: str | None
    first: str | None

    @classmethod
    def on_the_way(cls, wanted: Sequence[Rule], steps: Sequence[str], first: str | None) -> Rules:
        """The names that some rules change or tell in some steps.

        Args:
          wanted: the rules.
          steps: keys of `tpudist.tools.migrate.use.STEPS`.
          first: the rule of names that TensorFlow 1 alone has, if it is wanted.
        """
        keys = {key: rule.name for rule in wanted[::-1] if rule.step in steps for key in rule.uses}
        members = {name: rule for (kind, name), rule in keys.items() if kind == "strategy"}
        return cls(
            {name: rule for (kind, name), rule in keys.items() if kind == "tf"},
            {name: rule for name, rule in members.items() if name not in OF_OTHERS},
            keys.get(("tf", "contrib.*")),
            first if "2.0" in steps else None,
        )

    def gone(self, dotted: str) -> str | None:
        """The rule of a dotted name below ``tf`` that today's TensorFlow has not; else None."""
        rule = self.names.get(surfaces.gone_today(names.without_compat(dotted)) or "")
        is_kept = dotted.startswith("compat.v1.") and surfaces.gone_today(dotted[10:]) in _KEPT
        return None if is_kept or rule != _GONE else rule

    def of(self, dotted: str) -> str | None:
        """The rule of a dotted name below ``tf``; None if it is no legacy name."""
        plain = names.without_compat(dotted)
        if plain in self.names or plain.partition(".")[0] == "contrib":
            return self.names.get(plain, self.every)
        return self.first if names.is_first_generation(dotted) else None

    def new_member(self, name: str) -> str:
        """What to type instead of a strategy's member."""
        new = (surfaces.MEMBERS[era].get(("strategy", name)) for era in ("v2_0", "v2_2", "latest"))
        return next(filter(None, new), "see --list-rules, " + self.members[name])


def instead(below: str) -> str:
    """What to type instead of a dotted name below ``tf``."""
    plain = names.without_compat(below).strip(".")
    for era in ("v2_0", "v2_2", "latest"):
        if plain in surfaces.NAMES[era]:
            return "tensorflow." + surfaces.NAMES[era][plain]
    gone = surfaces.gone_today(plain)
    if gone:
        return surfaces.instead_of_gone(gone)
    if plain.partition(".")[0] != "contrib":
        return "tensorflow.compat.v1." + plain
    new = surfaces.successor(plain)
    return new.target if new is not None else surfaces.gone_text(plain)
