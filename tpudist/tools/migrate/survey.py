"""What is known of a code base before its files are rewritten one by one."""

import os
import re

from tpudist import surfaces
from tpudist.surfaces.eras import evidence, walks
from tpudist.surfaces.eras import names as era_names
from tpudist.tools.migrate import (
    asked_lines,
    carriers,
    excerpts,
    file_facts,
    graph_mode,
    outcomes,
    program_files,
    strategy_words,
)
from tpudist.tools.migrate.resolution import outside, python_trees, sources, tensorflow_names

_COMMON = re.compile(rb"\.(reduce|group|update|map|broadcast|initialize|finalize|configure)\b")
_EXCERPTS = 1000  # files of which it is kept what there is to read
_OF_SURFACES = (evidence.STATED, evidence.SURFACE)
_TENSORFLOW = ("tensorflow", "tensorflow.compat.v1", "tensorflow.compat.v2")


class Survey:
    """What is known of a code base, small enough to be sent to other processes.

    Args:
      codebase: a `CodeBase`.
      origin: ``--from``: "auto", "1.11", "1.13", "1.15", "2.0" or "2.2".

    Attributes:
      eras: {path: era} of the files whose names tell one.
      companions: files of TensorFlow 1 that a contrib file imports.
      handed: {path: eras} of files that others import their ``tf`` from.
      files: candidates and companions, the files to look at.
      plain_v1: files of TensorFlow 1 that are no part of a contrib program.
      mixed: files that name what only TensorFlow 1 has, and what only TensorFlow 2 has.
      starts: the files that programs with Sessions start with, unless they choose
        themselves between graphs and eager execution.
      strategic: the files of programs with a strategy, or something that may be one.
      names_strategies: whether a file has a name of one, in a comment or a text perhaps.
      makes_strategies: whether one may be made by what the files do.
      kinds: the kinds of objects that there may be, as of `tensorflow_names.kinds`.
      strategy_classes: the classes that TPU strategies have after a migration to
        latest, dotted names below ``tf``: they are three in TensorFlow 2.
      excerpts: {path: `excerpts.Parts`} of some files that may be read in part.
      faults: {path: why it is refused} of files that tpudist failed to read.
      carriers: the `Carriers` of TensorFlow's names.
    """

    def __init__(self, codebase, origin="auto"):
        self._facts, self.eras, self.excerpts, self.faults = {}, {}, {}, {}
        self._making, self._unread = set(), {}
        self.carriers = carriers.Carriers()
        self._borrowed = codebase.borrowed
        for path in codebase.candidates:
            self._read_once(codebase, path)
            self.carriers.borrow(path, codebase.borrowed.get(path, ()))
        self.carriers.settle(codebase)
        self._contrib = {path for path, found in self._facts.items() if found.contrib}
        reached = self._reached(codebase)
        self.companions = {path for path in reached - self._contrib if self._of(path).tensorflow_1}
        self.handed = self._handed(codebase)
        self.companions |= {
            path for path, eras in self.handed.items() if "contrib" in eras
        } - self._contrib
        self._graph, self._sums = (
            program_files.together(
                codebase, [path for path, found in self._facts.items() if what in found.says]
            )
            for what in ("graph", "sums")
        )
        self._scaled = self._divided(codebase, origin)
        for path in sorted(self._scaled):  # its optimizers' losses are rewritten, of any ``tf``
            self._read_once(codebase, path)
        self._v1 = {path for path in self._contrib | self.companions if self._of(path).tensorflow_1}
        self._v1 |= {path for path, eras in self.handed.items() if "contrib" in eras}
        self.plain_v1 = {path for path, found in self._facts.items() if found.first}
        self.plain_v1 -= self._v1 | self._contrib
        self.mixed = {path for path in self.plain_v1 if self._of(path).second}
        self.plain_v1 -= self.mixed
        lenders = self._lenders(self.plain_v1) - self._v1
        self.plain_v1 |= lenders
        self._v1 |= self.plain_v1
        self.starts = self._starts(codebase)
        disabled = {p for p in codebase.candidates if b"disable_v2_behavior(" in codebase.bytes[p]}
        self._v2_graph = self._graph - program_files.together(codebase, self.starts | disabled)
        self.strategic = program_files.together(codebase, sorted(self._making))
        self.names_strategies = any(
            strategy_words.makes_strategies(codebase.bytes[path]) for path in codebase.candidates
        )
        self.makes_strategies = bool(self._making) or self.carriers.unknown
        self.kinds = tensorflow_names.KINDS
        if self.makes_strategies:
            self.kinds = tensorflow_names.kinds(codebase.mentioning)
        if not self._scaled:
            self.kinds -= {"optimizer"}  # of which only a divided loss is asked
        self.strategy_classes = self._strategy_classes(codebase)
        self.overall = max(self.eras.values(), key=surfaces.ERAS.index, default="")
        every = set(codebase.candidates).union(self.companions, self.handed, self.starts, lenders)
        every |= self._scaled
        every.update(self._with_common_names(codebase, reached), self.carriers.holding(codebase))
        self.files = sorted(every - set(self.faults))
        self._facts = self._borrowed = self._unread = None

    def is_contrib(self, path):
        """Whether a file is of the contrib era, or TensorFlow 1 beside such a file."""
        return path in self._contrib or path in self.companions

    def builds_graph(self, path):
        """Whether a file is of a program that uses a Session or makes a Graph."""
        return path in self._graph

    def keeps_v2(self, path):
        """Whether a file is of a program that builds graphs and has TensorFlow 2's behavior."""
        return path in self._v2_graph

    def sums_losses(self, path):
        """Whether a file is of a program that asks for losses that are no means."""
        return path in self._sums

    def scales(self, path):
        """Whether optimizers in a file divided a mean loss by the number of towers."""
        return path in self._scaled

    def wants_v1(self, path):
        """Whether ``tf`` in a file means that of TensorFlow 1."""
        return path in self._v1

    def may_be_members(self, name):
        """Whether there may be an object with a member of a name that a rule asks for."""
        return not self.kinds.isdisjoint(asked_lines.MEMBERS[name])

    def _starts(self, codebase):
        def imported(path):
            return set(program_files.meant(codebase, path, self._imports(codebase, path)))

        def chooses(path):
            may = path in self._facts or file_facts.may_choose(codebase.bytes[path])
            return may and self._read_once(codebase, path).mode

        def importers(path):
            stem = _stem(path)
            near = codebase.mentioning("import", stem) if stem else ()
            return sorted(each for each in near if each != path and path in imported(each))

        sessions = [
            path for path in sorted(self._v1 | self.mixed) if "sessions" in self._of(path).says
        ]
        return graph_mode.starts(
            sessions,
            importers,
            imported,
            lambda path: "main" in self._read_once(codebase, path).says,
            chooses,
        )

    def _strategy_classes(self, codebase):
        named = {path for path in codebase.candidates if b"TPUStrategy" in codebase.bytes[path]}
        every = {
            "compat.v1.distribute.experimental.TPUStrategy": named & self._v1,
            "distribute.TPUStrategy": named & set(self.eras) - self._v1,
            "distribute.experimental.TPUStrategy": named - set(self._facts),  # Python 2
        }
        return tuple(name for name, paths in every.items() if paths)

    def _read(self, codebase, path):
        try:
            text = sources.read(path, codebase.bytes[path]).text
            nodes = walks.nodes(python_trees.parse(text))
            found = evidence.evidence_of(nodes, path)
        except sources.UNREADABLE:
            if strategy_words.makes_strategies(codebase.bytes[path]):
                self._making.add(path)
            return self.carriers.take_unread(codebase, path)
        imports = [walks.imported(node) for node in nodes.of(*walks.IMPORTS)]
        raw = codebase.bytes[path]
        if strategy_words.makes_strategies_in_code(raw, nodes):
            self._making.add(path)
        if len(self.excerpts) < _EXCERPTS and not path.endswith(".ipynb"):
            if path not in self._making and not strategy_words.uses_strategies(raw):
                found_parts = excerpts.parts(text, nodes)
                if found_parts is not None:
                    self.excerpts[path] = found_parts
        if path not in self.excerpts:  # it is read whole once more
            python_trees.parse(text, python_trees.WHOLE)
        self.carriers.take(codebase, path, text, nodes, imports)
        self._facts[path] = file_facts.of(text, imports, found)
        if self._lenders([path]):
            self._facts[path] = self._facts[path]._replace(first=True)
        if path in self._borrowed and file_facts.chooses_on_other(raw):
            self._facts[path] = self._facts[path]._replace(mode=True)
        told = evidence.decide([each for each in found if each.kind in _OF_SURFACES])
        if told.decisive:
            self.eras[path] = told.era

    def _lenders(self, paths):
        """The files from whose imports others have names of TensorFlow 1."""
        return {
            origin
            for path in paths
            for every in self._borrowed.get(path, {}).values()
            for below, origin in every
            if era_names.is_first_generation(below)
        }

    def _of(self, path):
        return self._facts.get(path, file_facts.NOTHING)

    def _read_once(self, codebase, path):
        if path not in self._facts and path not in self.faults:
            try:
                self._read(codebase, path)
            except Exception:  # one bad file never stops a run, and is named
                self.faults[path] = outcomes.fault()
                self._making.add(path)
        return self._of(path)

    def _imports(self, codebase, path):
        """The imports of a file, which is not parsed for them."""
        if path in self._facts:
            return self._facts[path].imports
        if path not in self._unread:
            self._unread[path] = list(outside.imports(codebase.bytes[path]))
        return self._unread[path]

    def _reached(self, codebase):
        """The files that contrib files import, directly or not; themselves too."""
        seen, todo = set(self._contrib), sorted(self._contrib)
        for path in todo:
            if file_facts.may_decide(codebase.bytes[path]):
                self._read_once(codebase, path)
            for other in program_files.meant(codebase, path, self._imports(codebase, path)):
                if other not in seen:
                    seen.add(other)
                    todo.append(other)
        return seen

    def _handed(self, codebase):
        """{path: eras of the files that import TensorFlow itself from it}."""
        found = {}
        for path, era in self.eras.items():
            for module, level, names in self._facts[path].imports:
                other = module is not None and codebase.find_module(module, level, path)
                if not other or other == path:
                    continue
                theirs = _modules(self._imports(codebase, other))
                asked = {name for name, _ in names}
                if theirs & asked or theirs and "*" in asked:
                    self._read_once(codebase, other)
                    found.setdefault(other, set()).add("contrib" if path in self._contrib else era)
        return found

    def _with_common_names(self, codebase, reached):
        """Files beside contrib files whose only legacy names are words such as ``reduce``."""
        stems = {os.path.splitext(os.path.basename(path))[0] for path in self._contrib}
        near = {path for stem in stems for path in codebase.mentioning("import", stem)}
        for path in sorted((near | reached) - set(codebase.candidates)):
            if _COMMON.search(codebase.bytes[path]):
                imports = self._imports(codebase, path)
                meant = program_files.meant(codebase, path, imports)
                if path in reached or not self._contrib.isdisjoint(meant):
                    self._read_once(codebase, path)
                    yield path

    def _divided(self, codebase, origin):
        """The contrib files of programs with a contrib TPUStrategy of 1.13 or before."""
        if origin not in ("auto", "1.11", "1.13"):
            return set()
        found = set()
        for path in self._contrib:
            if "tpu" in self._facts[path].says:
                program = program_files.together(codebase, [path])
                stated = self._facts[path].stated
                if origin != "auto" or stated or not self._is_later(program):
                    found |= program
        return found & (self._contrib | self._reached(codebase))

    def _is_later(self, program):
        return any("later" in self._facts[path].says for path in self._contrib & program)


def _stem(path):
    """The last word of the name that a file is imported by."""
    stem = os.path.splitext(os.path.basename(path))[0]
    return os.path.basename(os.path.dirname(os.path.abspath(path))) if stem == "__init__" else stem


def _modules(imports):
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
