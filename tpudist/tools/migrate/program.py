"""Facts about a code base, collected before its files are rewritten one by one.

Some of it goes for a whole program: files that import each other, or that one file imports,
have one generation of TensorFlow, and build a graph or none.
"""

from __future__ import annotations

import ast
import os
import re
from typing import Callable, Dict, Mapping, NamedTuple, Tuple

from tpudist import surfaces
from tpudist.surfaces.eras import decisions, evidence, local_names, walks
from tpudist.surfaces.eras import names as names_lib
from tpudist.surfaces.eras.local_names import joined
from tpudist.tools.migrate import estimators, generation, outcomes, rules
from tpudist.tools.migrate.generation import Hints
from tpudist.tools.migrate.resolution.codebase import CodeBase
from tpudist.tools.migrate.resolution.module import Module

_NAMING = (b"tensorflow", b"tpudist", b"keras", b"tf.")
#: Members that hardly anything but a strategy, or Keras, has: a file with one is looked at.
_OWN = {
    name.encode("ascii")
    for rule in rules.load()
    for kind, name in rule.uses
    if kind not in ("tf", "call") and "_" in name
    if not rule.name.startswith("keras-") or name in surfaces.KERAS_ALONE
}
#: The session of a test case.
_OF_TESTS = r"\b(test|cached)_session\(|\bself\.session\("
#: What TensorFlow does in graphs alone, or raises where eager execution is on.
_OF_GRAPHS = (
    r"""\b(Session|InteractiveSession|(Singular)?Monitored(Training)?Session)(["'][)\]])?\("""
    r"|\bmanaged_session\(|\btf\.(gradients|placeholder)\(|" + _OF_TESTS
)
#: {what is asked of a file's text: a pattern}.
_SAYS = {
    "own graph": re.compile(r"\btf\.Graph\("),
    "sessions": re.compile(_OF_GRAPHS),
    "test sessions": re.compile(_OF_TESTS),
    "strategies": re.compile(
        r"Strategy(V[12])?\b|get_\w*(strategy|tower_context|replica_context)\b|tpudist"
    ),
    "distribute": re.compile(r"\bdistribute="),
    "sums": re.compile(r"\bReduction\.(SUM|NONE)\b"),
    "tpu": re.compile(r"TPUStrategy\b|\btpu_strategy\b"),
    "towers": re.compile(
        r"(?<!\.extended)\.call_for_each_(tower|replica)\(|\.run_steps_on_dataset\("
    ),
    "run_v2": re.compile(r"\bexperimental_run_v2\b"),
    "later": re.compile(
        r"\.(experimental_run_v2|experimental_distribute_\w+|"
        r"experimental_local_results|tpu\.experimental)\b|\binitialize_tpu_system\b"
    ),
    "main": re.compile(r"^if __name__ == ", re.M),
    "disabled": re.compile(r"disable_v2_behavior\("),
    "keras 2": re.compile("TF_USE_LEGACY_KERAS"),
    "sparse": re.compile(r"\bEmbedding\(|\bembedding_lookup|\bgather\("),
}
#: Names that Keras implements, but for those that do the same in Keras 2 and 3.
_OF_KERAS = re.compile(
    r"(layers|nn\.rnn_cell|contrib\.(keras|layers|slim))\b"
    r"|keras\.(?!datasets\b|utils(\.(get_file|to_categorical|Progbar))?$)"
)
_OF_SURFACES = (evidence.STATED, evidence.SURFACE)
_TENSORFLOW = ("", "compat.v1", "compat.v2")  # names of TensorFlow itself, below ``tf``


class Facts(NamedTuple):
    """Facts about one file."""

    says: frozenset[str] = frozenset()  # keys of `_SAYS` that its text has
    era: str = ""  # the era of its names, "" without evidence
    contrib: bool = False  # whether it is of the contrib era
    tensorflow_1: bool = False  # whether it names what only TensorFlow 1 has below ``tf``
    hints: Hints = Hints()  # on its generation
    # the names by which it chooses between graphs and eager execution
    modes: frozenset[str] = frozenset()
    exporters: frozenset[str] = frozenset()  # the files whose import of TensorFlow itself it uses
    estimator: str = ""  # a name of a TPUEstimator that it has, "" if none
    later: bool = False  # whether it has a name of strategies that the contrib era has not
    keras: bool = False  # whether it has a name that Keras implements


class Program:
    """Facts about a code base; most are sets of files, or of the files of whole programs.

    A file is read after those that it imports. Its generation of TensorFlow is that of its names
    and calls; where a call means something else in each, that of the files that it is used with. A
    file whose import of TensorFlow one of TensorFlow 1 uses is of TensorFlow 1 as well.

    Args:
      codebase: a `CodeBase`.
      origin: ``--from``: "auto", "1.11", "1.13", "1.15", "2.0" or "2.2".

    Attributes:
      eras, handed: {path: the era that its names show}, {path: eras of the files that use its tf}.
      files: the files to look at.
      companions, plain_v1: of TensorFlow 1: imported by contrib files; in no program with one.
      undecided, disputed: with a call that differs, and no hints; beside files of both generations.
      mixed: with names that only TensorFlow 1 has, and with such of TensorFlow 2.
      estimators: {file of a program with a TPUEstimator: its name of one, "" if it has none}.
      starts, keras_starts: the first of programs with Sessions or a TPUEstimator, or with Keras.
      graphs, v2_graphs: of programs with a Session or Graph; those with TensorFlow 2's behavior.
      keras, keras_graphs, sparse: of programs with Keras; with Keras and a graph; with tables.
      summing, divided, divided_in_part: of programs with losses that are no means; that optimizers
        divided by the number of towers; where replica functions of 1.14 run as well.
      later, strategic: with names of strategies that contrib has not; that may have a strategy.
      names_strategies: whether a file has a name of one, in a comment or a text perhaps.
      faults: {path: why it is refused} of files that tpudist failed to read.
    """

    def __init__(self, codebase: CodeBase, origin: str = "auto") -> None:
        self.faults: dict[str, str] = {}
        self._facts: dict[str, Facts] = {}
        named = set(codebase.files).intersection(codebase.bytes)
        naming = [
            path
            for path, raw in codebase.bytes.items()
            if any(word in raw for word in _NAMING) or names_legacy(raw)
        ]
        related = codebase.below(naming) | codebase.above(naming)
        related &= codebase.programs(named)
        self._read(codebase, related)
        facts = self._facts
        self.eras = {path: each.era for path, each in facts.items() if each.era}
        self.handed: dict[str, set[str]] = {}
        for path, era in self.eras.items():
            for other in facts[path].exporters:
                self.handed.setdefault(other, set()).add(era)
        self._contrib = {path for path, each in facts.items() if each.contrib}
        beside = codebase.below(self._contrib)
        self._decide(codebase, origin, beside)
        self.companions = (beside & self._v1) - self._contrib
        self.plain_v1 = self._v1 - beside
        self.graphs = codebase.programs(self._saying("sessions") | self._saying("own graph"))
        self.summing = codebase.programs(self._saying("sums"))
        self.divided = self._divided(codebase, origin) & beside
        self.divided_in_part = self.divided & codebase.programs(self._saying("run_v2"))
        naming_one = {path: each.estimator for path, each in facts.items() if each.estimator}
        second = {path for path, each in facts.items() if each.hints.second}
        self.later = {path for path, each in facts.items() if each.later}
        self.estimators = estimators.files(codebase, naming_one, (second | self.later) - self._v1)
        self.starts = self._starts(codebase)
        naming_keras = {path for path, each in facts.items() if each.keras}
        self.keras = codebase.programs(naming_keras)
        self.sparse = codebase.programs(self._saying("sparse"))
        self.keras_graphs = naming_keras & self.graphs
        keras_starts = self._entries(codebase, naming_keras, self._saying("keras 2"))
        self.keras_starts = keras_starts.difference(self.estimators)
        disabled = self._saying("disabled")
        self.v2_graphs = self.graphs - codebase.programs(self.starts | disabled)
        making = self._saying("strategies") | self._saying("distribute")
        self.names_strategies = bool(making)
        self.strategic = codebase.programs(making)
        read = set(facts).union(naming)  # the rest of them is nobody's to read
        self.faults = {path: why for path, why in self.faults.items() if path in named}
        self.files = sorted((read & related & named) - set(self.faults))

    def _read(self, codebase: CodeBase, paths: set[str]) -> None:
        """Collects the facts of each file, after those of the files that it imports."""
        exports: dict[str, Names] = {}
        for path in codebase.imported_first(sorted(paths)):
            if path not in paths:
                continue
            try:
                module = codebase.module(path)
                if module is None:
                    continue  # it is refused when its turn comes
                self._facts[path], exports[path] = _read(codebase, module, exports)
            except Exception:  # one bad file never stops a run, and is named  # noqa: BLE001
                self.faults[path] = outcomes.fault()
            codebase.drop(path)

    def is_contrib(self, path: str) -> bool:
        """Whether a file is of the contrib era, or TensorFlow 1 beside such a file."""
        return path in self._contrib or path in self.companions

    def wants_v1(self, path: str) -> bool:
        """Whether ``tf`` in a file means that of TensorFlow 1."""
        return path in self._v1

    def _of(self, path: str) -> Facts:
        return self._facts.get(path, Facts())

    def _saying(self, what: str) -> set[str]:
        return {path for path, each in self._facts.items() if what in each.says}

    def _decide(self, codebase: CodeBase, origin: str, beside: set[str]) -> None:
        """Finds the files of TensorFlow 1, of both, of neither; contrib imports `beside`."""
        facts = self._facts
        self._v1 = {path for path in beside if self._of(path).tensorflow_1}
        self._v1 |= {path for path, each in facts.items() if each.hints.first}
        second = {path for path, each in facts.items() if each.hints.second}
        self.mixed = (self._v1 & second) - beside
        self._v1 -= self.mixed
        second |= {path for path, era in self.eras.items() if era != "contrib"}
        known = dict.fromkeys(sorted(second), generation.SECOND)
        known.update(dict.fromkeys(sorted(self._v1 | self._contrib), generation.FIRST))
        self.undecided: set[str] = set()
        self.disputed: set[str] = set()
        for path, each in facts.items():
            if each.hints.differs and path not in known and path not in self.mixed:
                found = generation.of_program(codebase, path, known, origin)
                if found == generation.FIRST:
                    self._v1.add(path)
                elif found != generation.SECOND:
                    self.undecided.add(path)
                if found == generation.BOTH:
                    self.disputed.add(path)
        for path in sorted(self._v1):
            self._v1 |= facts[path].exporters - second

    def _starts(self, codebase: CodeBase) -> set[str]:
        """The files that programs with Sessions or a TPUEstimator start with."""
        of_1 = self._v1 | self.mixed | set(self.estimators)
        sessions = {path for path in of_1 if "sessions" in self._of(path).says}
        tests = sessions & self._saying("test sessions")  # their graph is not that of a test's own
        choosing = {path for path, each in self._facts.items() if each.modes}
        switching = {
            path
            for path in choosing
            if not all(name.endswith(".Graph") for name in self._facts[path].modes)
        }
        naming = {path for path, name in self.estimators.items() if name}
        disabling = self._saying("disabled")  # a TPUEstimator makes the graph itself
        found = self._entries(codebase, naming, disabling).intersection(self.estimators)
        found |= self._entries(codebase, tests, switching)
        return found | self._entries(codebase, sessions - tests, choosing)

    def _entries(self, codebase: CodeBase, paths: set[str], choosing: set[str]) -> set[str]:
        """The first files of the programs of some files, unless they import one of `choosing`."""
        return {
            path
            for path in codebase.above(paths)
            if "main" in self._of(path).says
            or all(map(_is_setup, codebase.importers.get(path, ())))
            if not _is_setup(path) and choosing.isdisjoint(codebase.below([path]))
        }

    def _divided(self, codebase: CodeBase, origin: str) -> set[str]:
        """The files of programs with a contrib TPUStrategy of 1.13 or before."""
        if origin not in ("auto", "1.11", "1.13"):
            return set()
        found: set[str] = set()
        for path in self._contrib & self._saying("tpu"):
            program = codebase.programs([path])
            says = {key for each in self._contrib & program for key in self._of(each).says}
            if origin != "auto" or "towers" in says or "later" not in says:
                found |= program
        return found


def _read(codebase: CodeBase, module: Module, exports: Mapping[str, Names]) -> tuple[Facts, Names]:
    """(the facts of a file, the names of TensorFlow that it exports), from others' exports."""
    path, text, nodes = module.path, module.text, module.nodes

    def find(dotted: str, level: int) -> str | None:
        return codebase.find_module(dotted, level, path)

    names = _imported(nodes, find, exports)
    used = _used(nodes, names)
    exporters = frozenset(other for below, other in used.values() if below in _TENSORFLOW)
    bindings = local_names.Bindings(nodes, {name: below for name, (below, _) in used.items()})
    found = evidence.uses(nodes, path, bindings).evidence
    decision = decisions.decide([each for each in found if each.kind in _OF_SURFACES])
    says = frozenset(each for each, pattern in _SAYS.items() if pattern.search(text))
    kinds = (evidence.STATED, evidence.SURFACE)
    stated, own = ([each for each in found if each.kind == kind] for kind in kinds)
    every = [*bindings.dotted_names.values(), *bindings.tensorflow.values()]
    plain = set(map(names_lib.without_compat, every))
    keras = {surfaces.MOVED.get(each, each) for each in plain}
    is_a_variable = "keras" in keras and not any(each.startswith("keras.") for each in keras)
    return (
        Facts(
            says=says,
            era=decision.era if decision.decisive else "",
            contrib=any(each.eras == ("contrib",) for each in stated or own),
            tensorflow_1=any(
                each.eras == ("contrib",)
                and each.kind != evidence.GRAPH
                and not each.name.startswith(".")
                for each in found
            ),
            hints=generation.of_file(text, nodes, bindings, found),
            modes=frozenset(each.name for each in found if each.kind == evidence.MODE),
            exporters=exporters - {path},
            estimator=estimators.named(found),
            later=any(each.eras and "contrib" not in each.eras for each in found),
            keras=is_a_variable or any(map(_OF_KERAS.match, keras)),
        ),
        _exported(path, nodes, bindings, names),
    )


def _is_setup(path: str) -> bool:
    return os.path.basename(path) == "setup.py"


def names_legacy(raw: bytes) -> bool:
    """Whether a text has a member that hardly anything but a strategy, or Keras, has."""
    return any(name in raw for name in _OWN)


#: {name: (what it is below ``tf``, the file that imports it from TensorFlow)}. A name is "name",
#: ".attribute" of whatever object, or "*" for every name of a module of TensorFlow.
Names = Dict[str, Tuple[str, str]]


def _imported(
    nodes: walks.Nodes, find: Callable[[str, int], str | None], exports: Mapping[str, Names]
) -> Names:
    """The names that a file imports from other files, which `exports` has of each."""
    found: Names = {}

    def add_members(module: str, level: int) -> None:
        theirs = exports.get(find(module, level) or "", {})
        found.update(("." + name, value) for name, value in theirs.items())

    for node in nodes.of(ast.ImportFrom):
        module, level = node.module or "", node.level
        theirs = exports.get(find(module, level) or "", {})
        for alias in node.names:
            if alias.name == "*":
                found.update(theirs)
            elif alias.name in theirs:
                found[alias.asname or alias.name] = theirs[alias.name]
            add_members(joined(module, alias.name), level)
    for node in nodes.of(ast.Import):
        for alias in node.names:
            add_members(alias.name, 0)
    return found


def _used(nodes: walks.Nodes, names: Names) -> Names:
    """The names, of some, that a file reads."""
    read = {"*"}
    if names:
        read.update(node.id for node in nodes.of(ast.Name))
        read.update("." + node.attr for node in nodes.of(ast.Attribute))
    return {name: value for name, value in names.items() if name in read}


def _exported(path: str, nodes: walks.Nodes, bindings: local_names.Bindings, names: Names) -> Names:
    """The names of TensorFlow that other files can import: a file's own, and those it imports."""
    found = {name: (below, path) for name, below in bindings.tensorflow.items()}
    for node in nodes.of(ast.ImportFrom):
        below = local_names.below_tensorflow(node.module or "") if not node.level else None
        if below is not None and node.names[0].name == "*":
            found["*"] = joined(below, "*"), path
    return {name: value for name, value in {**found, **names}.items() if name[0] != "."}
