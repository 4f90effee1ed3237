"""Finds the modules that imported names move to.

A step leads to an era's drop-in namespace, "latest" to plain TensorFlow. A file
of TensorFlow 1 gets the ``compat.v1`` of it, so that its other names keep their
meaning.
"""

from __future__ import annotations

from typing import Mapping, NamedTuple, Sequence

from tpudist import surfaces
from tpudist.surfaces import leads
from tpudist.surfaces.eras import names as era_names
from tpudist.tools.migrate.resolution import tensorflow_names

_HOMES = {
    "contrib": "tpudist.contrib.tensorflow",
    "v2_0": "tpudist.v2_0.tensorflow",
    "v2_2": "tpudist.v2_2.tensorflow",
    "latest": "tensorflow",
}
#: Folders of TensorFlow's own code: packages of ``tensorflow``, of no ``compat.v1``.
_OWN_CODE = frozenset(
    ("_api", "autodiff", "compiler", "core", "dtensor", "examples", "include", "python")
    + ("security", "stream_executor", "tools", "tsl")
)
_OF_LITE = (["profiling"], ["testing"], ["toco"], ["tools"])
#: Modules that ``compat.v1`` has as attributes only: no import goes below them since 2.16.
_NOT_BELOW_V1 = ("keras.",)
_V1 = "tensorflow.compat.v1."
_PACKAGES = ("tf_slim", "tensorflow_probability", "tpudist.legacy.contrib_ports")
#: Attributes of their package, with no module to import names from.
_NO_MODULES = ("tensorflow_probability.distributions.",)


class Relocation(NamedTuple):
    """The places of imported names after a step."""

    target: str  # an era, or "latest"
    sources: Sequence[str] = ()  # the eras whose drop-in imports move
    plain: bool = False  # whether imports of TensorFlow itself move too
    v1: bool = False  # whether they become those of ``compat.v1``
    successors: Mapping[str, str] = {}  # {old dotted name: new one}
    mixed: bool = False  # whether names that only TensorFlow 1 has become those of ``compat.v1``

    def __call__(self, full: str) -> str:
        """The new full name of an imported one; the same if it stays."""
        rest = self._below(full)
        if rest is None:
            return full
        home, compat, inner = _HOMES[self.target], "", rest
        for each in ("compat.v1", "compat.v2"):
            if (rest + ".").startswith(each + "."):
                compat, inner = each, rest[len(each) + 1 :]
        new = self.successors.get(inner) or self.carried_on(inner)
        if new.startswith(_PACKAGES):
            return new
        if home == _HOMES["contrib"]:
            return ".".join(filter(None, (home, rest)))  # as `tpudist run` has it
        if new.partition(".")[0] == "contrib":
            return full  # neither a later TensorFlow nor the era's drop-in has it
        if is_own_code(new):  # it stays, but for what an era answers for
            covered = any(
                (key + ".").startswith(new + ".") for key in surfaces.DROPINS.get(self.target, ())
            )
            return "%s.%s" % (home if covered else "tensorflow", new)
        v1 = self.v1 or self.mixed and era_names.is_first_generation(inner)
        if not compat and v1 and not new.startswith("_"):
            compat = "compat.v1"
        if compat == "compat.v1" and new == "distribute.TPUStrategy":
            new = "distribute.experimental.TPUStrategy"
        if compat == "compat.v1" and home == "tensorflow" and new.startswith(_NOT_BELOW_V1):
            compat = ""
        if home == "tensorflow" and not compat and new.startswith("distribute."):
            compat = "compat.v2"  # a folder of that name hides tensorflow.distribute since 2.7
        return ".".join(part for part in (home, compat, new) if part)

    def carried_on(self, inner: str) -> str:
        """The new import path of a name or module of contrib; the same if it has none."""
        if not self.successors or inner.partition(".")[0] != "contrib":
            return inner
        public = self.successors.get(leads.public_name(inner))
        if public and inner.startswith("contrib.tpu.python."):
            return public
        new = leads.successor(inner)
        if new is None or new.target.startswith(_NO_MODULES):
            return inner
        return new.target[len(_V1) :] if new.target.startswith(_V1) else new.target

    def _below(self, full: str) -> str | None:
        """The rest of a name below the module that moves; None if the name stays."""
        parts = full.split(".")
        if parts[0] == "tensorflow":
            return ".".join(parts[1:]) if self.plain else None
        if not self._is_of_sources(parts):
            return None
        if parts[2:3] == ["tensorflow"]:
            return ".".join(parts[3:])
        return tensorflow_names.below_tensorflow(full) or None

    def _is_of_sources(self, parts: list[str]) -> bool:
        return parts[0] == "tpudist" and len(parts) > 1 and parts[1] in self.sources

    def leaves(self, full: str) -> bool:
        """Whether a name is of an era's tpudist that is left, and has no successor."""
        return self._is_of_sources(full.split(".")) and not self.moves(full)

    def moves(self, full: str) -> bool:
        """Whether an imported name moves."""
        return self(full) != full


def is_own_code(dotted: str) -> bool:
    """Whether a dotted name below ``tensorflow`` is of its own code, no public name."""
    first, *rest = dotted.split(".")
    return first in _OWN_CODE or "python" in rest or (first == "lite" and rest[:1] in _OF_LITE)
