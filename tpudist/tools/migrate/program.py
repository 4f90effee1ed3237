"""What is known of a code base before its files are rewritten one by one.

Some of it goes for a whole program: files that import each other, or that one file imports,
have one generation of TensorFlow, and build a graph or none.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Iterable, NamedTuple

from tpudist.surfaces.eras import evidence, walks
from tpudist.surfaces.eras import names as era_names
from tpudist.tools.migrate import generation, outcomes, rules, word_flow
from tpudist.tools.migrate.generation import Tells
from tpudist.tools.migrate.resolution import sources
from tpudist.tools.migrate.resolution.module import parse

if TYPE_CHECKING:
    from tpudist.surfaces.eras.evidence import Evidence
    from tpudist.tools.migrate.resolution.codebase import CodeBase

    #: (module, level, [(name, as)]) of an import statement; module is None without ``from``.
    Import = tuple["str | None", int, list[tuple[str, "str | None"]]]

_NAMING = (b"tensorflow", b"tpudist", b"keras", b"tf.")
#: The members that a rule asks for: of strategies and what comes from them, or of anything.
_MEMBERS = {
    name.encode("ascii")
    for rule in rules.load()
    for kind, name in rule.uses
    if kind not in ("tf", "call")
}
#: Members that hardly anything but a strategy, or Keras, has: a file with one is looked at.
_OWN = re.compile(rb"\b(?:%s)\b" % b"|".join(sorted(each for each in _MEMBERS if b"_" in each)))
#: What may lead to a name of TensorFlow, or of Keras, by another way than an import.
_BY_STRING = re.compile(
    rb"""tensorflow\.|keras|import \*|["'][\w.]*\b(?:tf|tensorflow)\b|>>> |#\s*type:|"""
    rb"""\b(?:getattr|vars|__dict__|exec|eval|compile|timeit|Timer|patch|getmembers)\b"""
)
#: What strategies are called.
_CALLED_SO = re.compile(rb"(?i)strateg|distribution|replicator|tower")
_WORD = re.compile(rb"\w+")
_STRATEGY = re.compile(
    rb"Strategy(?:V[12])?\b|get_\w*(?:strategy|tower_context|replica_context)\b|tpudist"
    rb"|\bdistribute="
)
_SESSION = r"""\b(Session|InteractiveSession|MonitoredTrainingSession)(["'][)\]])?\("""
#: {what is asked of a file's text: (words of which it has one then, a pattern)}.
_SAYS = {
    "graph": (("Session", "Graph("), re.compile(_SESSION + r"|\btf\.Graph\(")),
    "sessions": (("Session",), re.compile(_SESSION)),
    "sums": (("Reduction.",), re.compile(r"\bReduction\.(SUM|NONE)\b")),
    "tpu": (
        ("TPUStrategy", "tpu_strategy"),
        re.compile(
            r"\bdistribute(\.python)?(\.tpu_strategy)?\.TPUStrategy\b|"
            r"import\s.*\bTPUStrategy\b|tpu_strategy\b"
        ),
    ),
    "later": (
        ("experimental", "initialize_tpu_system"),
        re.compile(
            r"\.(experimental_run_v2|experimental_distribute_\w+|"
            r"experimental_local_results|tpu\.experimental)\b|\binitialize_tpu_system\b"
        ),
    ),
    "main": (("__name__",), re.compile(r"^if __name__ == ", re.M)),
    #: of a TensorFlow that another file has imported
    "mode": (
        (".Graph(", ".function(", "able_eager", "able_v2"),
        re.compile(r"\.(?:Graph|function|(?:dis|en)able_(?:eager_execution|v2_behavior))\("),
    ),
    "disabled": (("disable_v2_behavior(",), re.compile(r"disable_v2_behavior\(")),
}
_OF_SURFACES = (evidence.STATED, evidence.SURFACE)
_DEEPEST = 4  # files through which TensorFlow may come
_TENSORFLOW = ("tensorflow", "tensorflow.compat.v1", "tensorflow.compat.v2")


class Facts(NamedTuple):
    """What one file says.

    Args:
      says: keys of `_SAYS` that its text has.
      imports: its import statements.
      era: the era that its names tell, "" if none.
      contrib: whether it is of the contrib era.
      tensorflow_1: whether it names what only TensorFlow 1 has below ``tf``.
      tells: what of it tells its generation.
      mode: whether it chooses between graphs and eager execution.
      stated: whether it imports a drop-in of tpudist, which says an era.
    """

    says: frozenset[str] = frozenset()
    imports: tuple[Import, ...] = ()
    era: str = ""
    contrib: bool = False
    tensorflow_1: bool = False
    tells: Tells = Tells()
    mode: bool = False
    stated: bool = False


class Program:
    """What is known of a code base, small enough to be sent to other processes.

    Args:
      codebase: a `CodeBase`.
      origin: ``--from``: "auto", "1.11", "1.13", "1.15", "2.0" or "2.2".

    Attributes:
      eras: {path: era} of the files whose names tell one.
      handed: {path: eras} of files that others import their ``tf`` from.
      files: the files to look at.
      plain_v1: files of TensorFlow 1 that are no part of a contrib program.
      undecided: files of which nothing tells the generation, with calls that mean something else
        in the other one.
      mixed: files that name what only TensorFlow 1 has, and what only TensorFlow 2 has.
      starts: the files that programs with Sessions start with, unless they choose
        themselves between graphs and eager execution.
      strategic: the files of programs with a strategy, or something that may be one.
      names_strategies: whether a file has a name of one, in a comment or a text perhaps.
      strategy_classes: the classes that TPU strategies have after a migration to
        latest, dotted names below ``tf``: they are three in TensorFlow 2.
      faults: {path: why it is refused} of files that tpudist failed to read.
    """

    def __init__(self, codebase: CodeBase, origin: str = "auto") -> None:
        self.faults: dict[str, str] = {}
        self._facts: dict[str, Facts] = {}
        self._flow = word_flow.WordFlow()
        naming = [path for path, raw in codebase.bytes.items() if _names_tensorflow(raw)]
        related = codebase.below(naming) | codebase.above(naming)
        for path in sorted(related):
            self._read(codebase, path)
        self._flow.settle()
        facts = self._facts
        self.eras = {path: each.era for path, each in facts.items() if each.era}
        self._lent = self._borrow(codebase)
        self._contrib = {path for path, each in facts.items() if each.contrib}
        reached = codebase.below(self._contrib)
        companions = {path for path in reached - self._contrib if self._of(path).tensorflow_1}
        self.handed = self._handed(codebase)
        companions |= {path for path, eras in self.handed.items() if "contrib" in eras}
        self.companions = companions - self._contrib
        self._graph = codebase.programs(self._saying("graph"))
        self._sums = codebase.programs(self._saying("sums"))
        self._scaled = self._divided(codebase, origin, reached)
        self._v1 = {path for path in self._contrib | self.companions if self._of(path).tensorflow_1}
        self._v1 |= {path for path, eras in self.handed.items() if "contrib" in eras}
        self.plain_v1 = {path for path, each in facts.items() if each.tells.first}
        self.plain_v1 -= self._v1 | self._contrib
        self.mixed = {path for path in self.plain_v1 if self._of(path).tells.second}
        self.plain_v1 -= self.mixed
        self._decide(codebase, origin)
        lenders = {each for path in self.plain_v1 for each in self._lent.get(path, ())} - self._v1
        self.plain_v1 |= lenders
        self._v1 |= self.plain_v1
        self.starts = self._starts(codebase)
        disabled = self._saying("disabled")
        self._v2_graph = self._graph - codebase.programs(self.starts | disabled)
        making = {path for path in related if _STRATEGY.search(codebase.bytes[path])}
        self.names_strategies = bool(making)
        self.strategic = codebase.programs(making)
        self.strategy_classes = self._strategy_classes(codebase)
        every = {path for path in related if self._is_looked_at(path, codebase.bytes[path])}
        every |= self._scaled
        self.files = sorted(every - set(self.faults))

    def _is_looked_at(self, path: str, raw: bytes) -> bool:
        """Whether a rule may ask for something in a file; one that cannot be read is refused."""
        if path not in self._facts:
            return _names_tensorflow(raw)
        tells = self._facts[path].tells
        return (
            any(tells)
            or path in self.eras
            or path in self._v1
            or path in self.starts
            or path in self.handed
            or path in self._flow.legacy
            or self._flow.has_word(path)
            or (path in self.strategic or _CALLED_SO.search(raw) is not None)
            and not _MEMBERS.isdisjoint(_WORD.findall(raw))
            or names_legacy(raw)
            or _BY_STRING.search(raw) is not None
        )

    def is_contrib(self, path: str) -> bool:
        """Whether a file is of the contrib era, or TensorFlow 1 beside such a file."""
        return path in self._contrib or path in self.companions

    def builds_graph(self, path: str) -> bool:
        """Whether a file is of a program that uses a Session or makes a Graph."""
        return path in self._graph

    def keeps_v2(self, path: str) -> bool:
        """Whether a file is of a program that builds graphs and has TensorFlow 2's behavior."""
        return path in self._v2_graph

    def sums_losses(self, path: str) -> bool:
        """Whether a file is of a program that asks for losses that are no means."""
        return path in self._sums

    def scales(self, path: str) -> bool:
        """Whether optimizers in a file divided a mean loss by the number of towers."""
        return path in self._scaled

    def may_hold(self, path: str, node: Any) -> bool:
        """Whether a Name or Attribute may be one of TensorFlow's, if no import of it says so."""
        return self._flow.may_hold(path, node)

    def wants_v1(self, path: str) -> bool:
        """Whether ``tf`` in a file means that of TensorFlow 1."""
        return path in self._v1

    def _of(self, path: str) -> Facts:
        return self._facts.get(path, Facts())

    def _saying(self, what: str) -> set[str]:
        return {path for path, each in self._facts.items() if what in each.says}

    def _read(self, codebase: CodeBase, path: str) -> None:
        try:
            text = codebase.source(path).text
            nodes = walks.nodes(parse(text))
            found = evidence.evidence_of(nodes, path)
        except sources.UNREADABLE:
            return  # it is refused when its turn comes
        except Exception:  # one bad file never stops a run, and is named
            self.faults[path] = outcomes.fault()
            return
        self._flow.take(
            path, nodes, lambda module, level: codebase.find_module(module, level, path)
        )
        imports = tuple(walks.imported(node) for node in nodes.of(*walks.IMPORTS))
        tells = generation.of_file(text, nodes, found)
        self._facts[path] = _facts(text, imports, found, tells)

    def _handed(self, codebase: CodeBase) -> dict[str, set[str]]:
        """{path: eras of the files that import TensorFlow itself from it}."""
        found: dict[str, set[str]] = {}
        for path, era in self.eras.items():
            for module, level, names in self._facts[path].imports:
                other = module is not None and codebase.find_module(module, level, path)
                if not other or other == path:
                    continue
                theirs = _modules(self._of(other).imports)
                asked = {name for name, _ in names}
                if theirs & asked or theirs and "*" in asked:
                    found.setdefault(other, set()).add("contrib" if path in self._contrib else era)
        return found

    def _decide(self, codebase: CodeBase, origin: str) -> None:
        """Gives files that do not tell their generation that of the files they are used with."""
        of_1 = self._v1 | self.plain_v1 | self._contrib
        known = dict.fromkeys(sorted(of_1), generation.FIRST)
        for path, each in self._facts.items():
            if path not in known and (each.tells.second or each.era in ("v2_0", "v2_2")):
                known[path] = generation.SECOND
        self.undecided: set[str] = set()
        self._why: dict[str, str] = {}
        for path, each in self._facts.items():
            if not each.tells.differs or path in known or path in self.mixed:
                continue
            found, self._why[path] = generation.of_program(codebase, path, known, origin)
            if found == generation.FIRST:
                self.plain_v1.add(path)
            elif not found:
                self.undecided.add(path)

    def explain(self, path: str) -> str:
        """Of which generation a file's ``tf`` is taken to be, and why, in a sentence or two."""
        tells = self._of(path).tells
        if path in self.mixed:
            return "TensorFlow 1 and 2: %s, %s" % (tells.first, tells.second)
        of = generation.FIRST if self.wants_v1(path) else generation.SECOND
        if path in self._why:
            of = "not decided" if path in self.undecided else of
            return "%s: %s, which both have; %s" % (of, tells.differs, self._why[path])
        own = tells.first if of == generation.FIRST else tells.second
        if not own and path in self.eras:
            own = "its names are of tpudist's era %s" % self.eras[path]
        return "%s: %s" % (of, own or "nothing in it is another one in TensorFlow 1")

    def _borrow(self, codebase: CodeBase) -> dict[str, set[str]]:
        """{path: the files whose own ``tf`` it uses, to name what only TensorFlow 1 has}."""
        lending = {
            path: {(word, path) for word in _modules(facts.imports)}
            for path, facts in self._facts.items()
        }
        for _ in range(_DEEPEST):
            for path, facts in self._facts.items():
                for module, level, names in facts.imports:
                    other = (
                        codebase.find_module(module or "", level, path) if module or level else None
                    )
                    for name, bound in names if other and other != path else ():
                        theirs = lending.get(other or "", set())
                        lending[path] |= {
                            (bound or word, origin)
                            for word, origin in theirs
                            if name in (word, "*")
                        }
        found: dict[str, set[str]] = {}
        for path in self._facts:
            words = {
                (r"(?<![\w.])" + word, origin) for word, origin in lending[path] if origin != path
            }
            for other in codebase.imports.get(path, ()):
                words |= {(r"\w\." + word, origin) for word, origin in lending.get(other, ())}
            text = codebase.source(path).text if words else ""
            if words and "mode" in self._of(path).says:
                self._facts[path] = self._facts[path]._replace(mode=True)
            for word, origin in words:
                names = re.findall(word + r"\.([\w.]+)", text)
                if any(map(era_names.is_first_generation, names)):
                    found.setdefault(path, set()).add(origin)
        for path in found:
            facts = self._facts[path]
            first = facts.tells.first or "it names what only TensorFlow 1 has by another file's tf"
            self._facts[path] = facts._replace(tells=facts.tells._replace(first=first))
        return found

    def _starts(self, codebase: CodeBase) -> set[str]:
        """The files that programs with Sessions start with.

        With ``if __name__ == "__main__"``, or that no file imports.
        """
        sessions = {path for path in self._v1 | self.mixed if "sessions" in self._of(path).says}
        found = {
            path
            for path in codebase.above(sessions)
            if "main" in self._of(path).says
            or path.endswith("__main__.py")
            or not codebase.importers.get(path)
        }
        choosing = {path for path, each in self._facts.items() if each.mode}
        return {path for path in found if choosing.isdisjoint(codebase.below([path]))}

    def _strategy_classes(self, codebase: CodeBase) -> tuple[str, ...]:
        named = {path for path, raw in codebase.bytes.items() if b"TPUStrategy" in raw}
        every = {
            "compat.v1.distribute.experimental.TPUStrategy": named & self._v1,
            "distribute.TPUStrategy": named & set(self.eras) - self._v1,
            "distribute.experimental.TPUStrategy": named - set(self._facts),  # Python 2
        }
        return tuple(name for name, paths in every.items() if paths)

    def _divided(self, codebase: CodeBase, origin: str, reached: set[str]) -> set[str]:
        """The contrib files of programs with a contrib TPUStrategy of 1.13 or before."""
        if origin not in ("auto", "1.11", "1.13"):
            return set()
        found: set[str] = set()
        for path in self._contrib & self._saying("tpu"):
            program = codebase.programs([path])
            later = any("later" in self._of(each).says for each in self._contrib & program)
            if origin != "auto" or self._facts[path].stated or not later:
                found |= program
        return found & (self._contrib | reached)


def _names_tensorflow(raw: bytes) -> bool:
    """The one filter of files before they are parsed."""
    return any(word in raw for word in _NAMING) or names_legacy(raw)


def names_legacy(raw: bytes) -> bool:
    """Whether a text has a member that hardly anything but a strategy, or Keras, has."""
    return _OWN.search(raw) is not None


def _facts(text: str, imports: tuple[Import, ...], found: list[Evidence], tells: Tells) -> Facts:
    kinds = {each.kind for each in found}
    told = evidence.decide([each for each in found if each.kind in _OF_SURFACES])
    says = frozenset(
        each
        for each, (words, pattern) in _SAYS.items()
        if any(word in text for word in words) and pattern.search(text)
    )
    return Facts(
        says=says,
        imports=imports,
        era=told.era if told.decisive else "",
        contrib=_tells_contrib(found),
        tensorflow_1=_names_tensorflow_1(found),
        tells=tells,
        mode=evidence.MODE in kinds,
        stated=evidence.STATED in kinds,
    )


def _tells_contrib(found: Iterable[Evidence]) -> bool:
    stated = [each for each in found if each.kind == evidence.STATED]
    own = [each for each in found if each.kind == evidence.SURFACE]
    return any(each.eras == ("contrib",) for each in stated or own)


def _names_tensorflow_1(found: Iterable[Evidence]) -> bool:
    """Whether a file names what only TensorFlow 1 has below ``tf``."""
    return any(
        each.eras == ("contrib",) and each.kind != evidence.GRAPH and not each.name.startswith(".")
        for each in found
    )


def _modules(imports: Iterable[Import]) -> set[str]:
    """The names that import statements bind to TensorFlow itself."""
    found = set()
    for module, _, names in imports:
        base = "" if module is None else module + "."
        found |= {
            bound or name
            for name, bound in names
            if base + name in _TENSORFLOW and "." not in (bound or name)
        }
    return found
