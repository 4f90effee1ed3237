"""Migrates the files of a run, each through its steps, and writes them."""

from __future__ import annotations

import argparse
import os
import stat
import sys
from typing import Any

from tpudist import console, files, surfaces
from tpudist.surfaces.eras import walks
from tpudist.tools.migrate import (
    estimators,
    gone_imports,
    imports,
    indirect_names,
    legacy_uses,
    outcomes,
    relocation,
    rules,
    starts,
)
from tpudist.tools.migrate import program as programs
from tpudist.tools.migrate.program import Program
from tpudist.tools.migrate.relocation import Relocation
from tpudist.tools.migrate.resolution import notebooks, sources
from tpudist.tools.migrate.resolution.codebase import STANDARD_INPUT, CodeBase
from tpudist.tools.migrate.resolution.evaluate import Evaluator
from tpudist.tools.migrate.resolution.fixed_point import deep_stack
from tpudist.tools.migrate.resolution.module import Module
from tpudist.tools.migrate.use import STEPS, Plan, Use

_SOURCES = {"2.0": "contrib", "2.2": "v2_0", "latest": "v2_2"}
#: {origin of ``--from``: the first step from there}, of those that are later than TensorFlow 1.
_FIRST = {"2.0": "2.2", "2.2": "latest"}

#: The steps of a file whose imports alone are swapped, and the rules that are asked there.
_IMPORT, _OF_IMPORTS = ("import",), ("gone-contrib", "tpu-devices")


class Engine:
    """Migrates the files of a code base, with the facts of a `Program` and parsed options."""

    def __init__(self, codebase: CodeBase, program: Program, options: Any) -> None:
        self._codebase, self._program, self._options = codebase, program, options
        self._keras = options.keras if options.to == "latest" else ""
        self._tables: dict[tuple[str, ...], legacy_uses.Table] = {}

    def steps(self, path: str) -> tuple[str, ...]:
        """The steps that a file takes, in order; ("import",) to swap imports only."""
        is_import = self._options.level == "import" or self._options.to == "contrib"
        if is_import or self._has_estimator(path):
            return _IMPORT
        every = list(STEPS)
        first = _FIRST.get(self._options.origin, "2.0")
        wanted = every[every.index(first) : every.index(self._options.to) + 1]
        return tuple(wanted) or _IMPORT

    def migrate(self, path: str) -> outcomes.Result:
        """The outcome of migrating a file, which is not touched."""
        raw, era = self._codebase.bytes[path], self._program.eras.get(path, "")
        try:
            source = sources.read(path, raw)
            module = self._codebase.module(path) or Module(path, source.text)
        except sources.UNREADABLE as error:
            return outcomes.Result(path, raw, raw, [], [], outcomes.unreadable(error), era)
        try:
            with deep_stack():
                plan = self._plan(path, module)
                text = plan.edits.applied()
        finally:
            self._codebase.drop(path)
        place = _Places(path, source)
        every = [place.use(*record) for record in plan.left] + place.set_aside()
        unique = {(use.rule, use.seen, use.line, use.instead): use for use in every[::-1]}
        left = sorted(unique.values())
        if text == source.text:
            return outcomes.Result(path, raw, raw, [], left, "", era)
        walks.parse(text)  # a fault of ours, if it is no Python
        done = [place.use(*record) for record in plan.rewritten]
        changed = sorted(use for use in done if use.seen.rpartition(".")[2] != use.instead)
        return outcomes.Result(path, raw, sources.written(source, text), changed, left, "", era)

    def _plan(self, path: str, module: Module) -> Plan:
        """The edits and findings of all steps of a file."""
        steps, target = self.steps(path), self._options.to
        has_estimator = self._has_estimator(path)
        era = self._era(path) if steps == _IMPORT else ""
        evaluator = Evaluator(self._codebase, self._program.wants_v1)
        table = self._table(steps)
        plan = Plan(module, evaluator, self._program, steps, target, table.renames, self._keras)
        if steps[-1] == "latest":
            gone_imports.leave_names(plan, "gone-names")
        if target == steps[-1] == "2.2":
            gone_imports.leave_names(plan, "gone-by-2-2")
        if has_estimator:
            estimators.report(plan, self._program.estimators[path])
        self._apply_rules(plan, table, era)
        if steps[-1] == "latest":
            if self._keras == "3" and path in self._program.keras_graphs:
                starts.leave_graph(plan)
            elif self._keras == "2" and path in self._program.keras_starts:
                lines = starts.LINES  # before the imports are planned
                plan.done(imports.put_first(plan, lines), starts.KERAS, "", lines[-1])
        moved = self._relocation(plan, path, era)
        if moved is not None:
            imports.plan_imports(plan, moved)
        if path in self._program.starts:
            if has_estimator or target == "contrib" == era:
                starts.plan_call(plan, True, "tpudist.contrib.tensorflow")
            elif steps[0] == "2.0":
                v1 = moved is not None and self._program.wants_v1(path)
                starts.plan_call(plan, v1, "tensorflow.compat.v1")
        if steps[0] in ("2.0", "import"):
            gone_imports.leave_contrib(plan, moved, era)
        plan.leave_marked(rules.words())
        return plan

    def _table(self, steps: tuple[str, ...]) -> legacy_uses.Table:
        if steps not in self._tables:
            left_out = starts.OF_KERAS_3 if self._keras == "2" else ()
            self._tables[steps] = legacy_uses.Table(
                rule
                for rule in rules.load()
                if rule.step in steps or steps == _IMPORT and rule.name in _OF_IMPORTS
                if rule.name not in left_out
            )
        return self._tables[steps]

    def _apply_rules(self, plan: Plan, table: legacy_uses.Table, era: str) -> None:
        """Applies rules to the uses of a file; `era` is that of its drop-in namespace, or ""."""
        for kind, name, node, rule in legacy_uses.uses(plan, table):
            is_text = kind == "text" and not self._has_estimator(plan.module.path)
            if era and (is_text or kind != "text" and gone_imports.covered(name, era)):
                continue  # its namespace has the name
            if plan.ignores(node, rule.name) or plan.steps == _IMPORT and not era:
                continue
            use = Use(plan, rule.name, kind, name, node)
            if node in plan.module.unplaced:
                use.leave(
                    "Python before 3.12 does not say where it stands in the f-string",
                    "a newer Python",
                )
            else:
                use.apply(rule)
        if plan.steps != _IMPORT:
            indirect_names.leave(plan, table)

    def _relocation(self, plan: Plan, path: str, era: str) -> Relocation | None:
        """The new places of a file's imports after its steps; None if they stay."""
        if plan.steps == _IMPORT:
            if plan.target == "contrib" and era in ("v2_0", "v2_2"):
                instead = "migrations go forward: --level import"
                plan.left.append((1, 1, rules.IMPORTS, "code of %s" % era, instead, ""))
                return None
            return relocation.Relocation(era, plain=True) if era else None
        target, sources_ = STEPS[self._options.to], [_SOURCES[step] for step in plan.steps]
        first = plan.steps[0] == "2.0"
        if first and path in self._program.plain_v1 and path not in self._program.eras:
            target = "latest"  # it has no strategy that an era answers for
        v1 = self._program.wants_v1(path)
        mixed = first and path in self._program.mixed
        is_left = first and self._program.is_contrib(path) and bool(plan.left)
        plain = v1 or mixed or plan.has_moved or is_left or self._belongs(path, target)
        successors: dict[str, str] = {}
        for step in plan.steps:
            names = surfaces.NAMES[STEPS[step]]
            successors = {old: names.get(new, new) for old, new in successors.items()}
            successors.update(names)
        moved = relocation.Relocation(target, sources_, plain, v1, successors, mixed)
        plan.home = moved("tpudist.%s.tensorflow" % sources_[0])
        return moved

    def _belongs(self, path: str, target: str) -> bool:
        """Whether legacy files use a file's ``tf``, or may use the strategies that it has."""
        era = target if target != "latest" else "v2_2"
        of_users = set(self._program.handed.get(path, ()))
        if path in self._program.later and era != "v2_0":
            kept = {path, *self._program.estimators}  # those stay at contrib
            of_users |= {each for other, each in self._program.eras.items() if other not in kept}
        return not of_users.isdisjoint(surfaces.ERAS[: surfaces.ERAS.index(era)])

    def _has_estimator(self, path: str) -> bool:
        """Whether a file is of a program with a TPUEstimator, which is rewritten no further."""
        is_asked = self._options.level == "full" and self._options.to != "contrib"
        is_old = self._options.origin not in _FIRST
        return is_asked and is_old and path in self._program.estimators

    def _era(self, path: str) -> str:
        """The era whose drop-in namespace a file gets if only its imports are swapped."""
        if self._has_estimator(path) or path in self._program.companions:
            return "contrib"
        return self._program.eras.get(path, "")


class _Places:
    """Converts lines of a file's source into places as users see them: of a notebook, in cells."""

    def __init__(self, path: str, source: sources.Source) -> None:
        self._path, self._notebook = path, source.notebook
        self._cells = notebooks.cell_starts(source.text) if source.notebook else []

    def use(self, line: int, *rest: Any) -> outcomes.Use:
        """The `Use` at a line of the file's source; the rest is as it has it."""
        cell = max((each for each in self._cells if each[0] <= line), default=None)
        if cell is None:
            return outcomes.Use(self._path, line, *rest)
        return outcomes.Use("%s:cell %d" % (self._path, cell[1]), line - cell[0] + 1, *rest)

    def set_aside(self) -> list[outcomes.Use]:
        """A use for each line of a notebook that has a legacy name and is no Python."""
        instead = "write it in Python 3, or change it by hand"
        ipythons = "a line of IPython's, which is kept as it is"
        return [
            self.use(line, 1, "notebook", text.strip(), instead, why or ipythons)
            for line, text, why in (self._notebook.aside if self._notebook else ())
            if "contrib" in text or programs.names_legacy(text.encode("utf-8"))
        ]


_WRITABLE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


def results(options: argparse.Namespace) -> tuple[list[outcomes.Result], int, list[str]]:
    """(The Results of files that matter, how many there are, what is passed over), in memory."""
    codebase = CodeBase(options.paths, options.exclude)
    program = Program(codebase, options.origin)
    engine = Engine(codebase, program, options)
    reasons = {path: "unreadable: %s" % error for path, error in codebase.unreadable.items()}
    refused = [
        outcomes.Result(path, None, None, [], [], reason, "")
        for path, reason in sorted({**reasons, **program.faults}.items())
    ]
    paths = sorted({*program.files, STANDARD_INPUT}.intersection(codebase.files))
    migrated = (_migrated(engine, codebase, path) for path in paths)
    found = [*refused, *console.bar(migrated, len(paths))]
    return found, len(codebase.files), codebase.passed_over


def _migrated(engine: Engine, codebase: CodeBase, path: str) -> outcomes.Result:
    try:
        found = engine.migrate(path)
        is_asked = path == STANDARD_INPUT or found.before != found.after
        return found if is_asked else found._replace(before=None, after=None)
    except OSError as error:  # it was there when the run began
        return outcomes.Result(path, None, None, [], [], "unreadable: %s" % error, "")
    except Exception:  # one bad file never stops a run, and is named  # noqa: BLE001
        raw = codebase.bytes[path]
        return outcomes.Result(path, raw, raw, [], [], outcomes.fault(), "")


def is_written(result: outcomes.Result) -> bool:
    """Whether a file that changes has its new bytes."""
    if result.before == result.after or result.path == STANDARD_INPUT:
        return False
    with open(result.path, "rb") as file:
        return file.read() == result.after


def write(result: outcomes.Result) -> outcomes.Result:
    """Writes a file that changed, whole, with its mode kept; a Result, refused if that failed."""
    if result.path == STANDARD_INPUT:
        sys.stdout.buffer.write(result.after or b"")
        return result
    if result.before == result.after or result.after is None:
        return result
    path = os.path.realpath(result.path)
    try:
        if not os.stat(path).st_mode & _WRITABLE:  # a new file in its place could be written
            raise PermissionError("it is read-only")
        files.write_bytes(path, result.after)
    except OSError as error:
        return result._replace(
            after=result.before, rewritten=[], refused="cannot be written: %s" % error
        )
    return result
