"""One file through the steps of a migration."""

import functools
import time

from tpudist import surfaces
from tpudist.tools.migrate import (
    code_in_strings,
    excerpts,
    gone_imports,
    graph_mode,
    imports,
    legacy_uses,
    named_in_strings,
    original_lines,
    other_lines,
    outcomes,
    patches,
    private_attributes,
    refusals,
    relocation,
    rules,
    string_rules,
    unseen,
    unseen_names,
)
from tpudist.tools.migrate.resolution import import_origins, python_trees, sources, tensorflow_names
from tpudist.tools.migrate.resolution.evaluate import Evaluator
from tpudist.tools.migrate.resolution.fixed_point import TimeLimitError, deep_stack
from tpudist.tools.migrate.resolution.module import Module
from tpudist.tools.migrate.rules import dataset_iterators, first_generation
from tpudist.tools.migrate.use import STEPS, Plan, Use

_SOURCES = {"2.0": "contrib", "2.2": "v2_0", "latest": "v2_2"}
_ORIGINS = {
    "2.0": ("auto", "1.11", "1.13", "1.15"),
    "2.2": ("auto", "1.11", "1.13", "1.15", "2.0"),
    "latest": ("auto", "1.11", "1.13", "1.15", "2.0", "2.2"),
}

#: Words of which a file has one, if an earlier step may write what the one to latest changes.
_LATEST = (
    "TPUStrategy",
    "tpu_strategy",
    "make_dataset_iterator",
    "make_input_fn_iterator",
    "distribute_dataset",
    "datasets_from_function",
    "make_numpy_dataset",
    "computation_shape",
    "DeviceAssignment",
    "ValueContext",
)

#: Seen with libcst 1.0.1, of a file that ends with a line of blanks.
_NOT_WRITTEN_BACK = (
    "libcst does not write it back as it is, so that more than names would "
    "change; pip install -U libcst, or mend its blank lines at the end"
)


class Engine:
    """Migrates the files of a code base.

    Args:
      codebase: a `CodeBase`.
      survey: its `Survey`.
      options: parsed ``to``, ``origin``, ``level``, ``only``, ``skip``,
        ``report`` and ``time_limit``.
      whole: whether every file is read whole, see `tpudist.tools.migrate.excerpts`.
    """

    def __init__(self, codebase, survey, options, whole=False):
        self._codebase, self._survey = codebase, survey
        self._reader = excerpts.Reader(codebase, survey, whole)
        self._options = options
        self._rules = [rule for rule in rules.load() if self.wanted(rule.name)]
        imports_ = rules.IMPORTS if self.wanted(rules.IMPORTS) else None
        self._table = functools.lru_cache(maxsize=None)(self._table_of)
        self._renamed = functools.lru_cache(maxsize=None)(self._renames)
        self._in_strings = string_rules.Rules.on_the_way(self._rules, self._wanted(), imports_)

    def wanted(self, name):
        """Whether ``--only`` and ``--skip`` let a rule run."""
        only, skip = self._options.only, self._options.skip
        return (not only or name in only) and name not in skip

    def steps(self, text):
        """Groups of steps for a file, in order; [("import",)] to swap imports only.

        The step to 2.2 renames one method: it is taken together with the one before. So
        is the one to latest, in a file where nothing that they write is changed by it.
        """
        wanted = self._wanted()
        if not wanted:
            return [("import",)]
        if not any(word in text for word in _LATEST):
            return [tuple(wanted)]
        together = tuple(step for step in wanted if step != "latest")
        return [each for each in (together, ("latest",)) if set(each) & set(wanted)]

    def _wanted(self):
        """All steps, in order; none to swap imports only."""
        if self._options.level == "import" or self._options.to == "contrib":
            return []
        every = list(STEPS)
        return [
            step
            for step in every[: every.index(self._options.to) + 1]
            if self._options.origin in _ORIGINS[step]
        ]

    def migrate(self, path, whole=False, exact=False):
        """What becomes of a file.

        Args:
          path: one of the code base's.
          whole: whether it is read whole though no strategy reaches it.
          exact: whether libcst reads it, layout and all.

        Returns:
          A `Result`; the file itself is not touched.
        """
        raw, era = self._codebase.bytes[path], self._survey.eras.get(path, "")
        source = None
        try:
            whole_source = source = sources.read(path, raw)
            excerpt = None if whole else self._reader.excerpt(path, source)
            if excerpt is not None:
                source = source._replace(text=excerpt.text)
            parsed = None if exact else self._codebase.parsed(path, source.text, bool(excerpt))
            module = parsed or Module(path, source.text, exact)
            if module.skeleton is None:
                python_trees.parse(source.text)  # whose trees say of which era it is
        except sources.UNREADABLE as error:
            return outcomes.Result(path, raw, raw, [], [], refusals.reason(error, source), era)
        try:
            with deep_stack(), self._codebase.shortened(self._reader.short if excerpt else None):
                self._codebase.asked.clear()
                try:
                    text, done, left, others = self._steps(path, source, module, excerpt)
                    same = text == source.text or module.written_back == source.text
                finally:
                    beside = parsed is not None or self._codebase.asked - {path}
                    again = beside and module.skeleton is not None
                    self._codebase.put(path, module if again else None)
                    if not again:
                        module.release()
            left += original_lines.set_aside(path, source)
            left += self._told_in_strings(path, whole_source, left, module.import_lines())
            left = other_lines.said(left, whole_source)
        except TimeLimitError:
            return outcomes.late(path, raw, self._options.time_limit, era)
        except patches.MismatchError:
            return self.migrate(path, whole, exact=True)
        if not same:
            return outcomes.Result(path, raw, raw, [], [], _NOT_WRITTEN_BACK, era)
        if excerpt is not None and excerpt.parts and text != source.text:
            text = excerpts.restored(excerpt, text)
            if text is None:  # a rule has moved what was not to be read
                return self.migrate(path, whole=True, exact=exact)
        after = raw if text == source.text else sources.written(whole_source, text)
        found = (sorted(done), _unique(left), "", era, _unique(others))
        return outcomes.Result(path, raw, after, *found)

    def _told_in_strings(self, path, source, left, imports):
        """The legacy names in strings and comments that are not told yet."""
        place = original_lines.Places(path, source, source.text)
        rules_ = self._in_strings
        found = code_in_strings.told(source.text, rules_, imports) if self._wanted() else ()
        told = {(use.path, use.line, use.column) for use in left}
        uses = [place.use(*each) for each in found]
        return [use for use in uses if (use.path, use.line, use.column) not in told]

    def _steps(self, path, source, module, excerpt):
        """(the new text, uses rewritten, uses left, other names) after all steps."""
        text, done, left, others = source.text, [], [], []
        first, limit = module, self._options.time_limit
        deadline = time.process_time() + limit if limit else None
        for steps in self.steps(source.text):
            if text != module.text:
                module = Module(path, text, exact=module.skeleton is None)
            self._codebase.put(path, module, kept=first)
            place = original_lines.Places(path, source, text)
            whole = "" if text != source.text else "in part" if excerpt else "whole"
            plan, text = self._step(steps, path, module, deadline, excerpt, whole)
            for record in plan.rewritten:
                done = place.counted(done, record)
            left += [place.left(*record) for record in plan.left]
            others += [place.use(*record, instead="") for record in plan.others]
        done, same = original_lines.unchanged(done if text != source.text else [])
        return text, done, left, others + same

    def _step(self, steps, path, module, deadline, excerpt, whole):
        plan = Plan(
            module,
            Evaluator(self._codebase, deadline, whole),
            self._survey,
            steps,
            self._renamed(steps),
            bool(self._options.report),
        )
        plan.target = self._options.to
        plan.words = None if excerpt is None else excerpt.words
        if self.wanted("gone-names") and steps[-1] == "latest":
            gone_imports.leave_names(plan, "gone-names")
        if self.wanted("gone-by-2-2") and self._options.to == steps[-1] == "2.2":
            gone_imports.leave_names_of_2_2(plan, "gone-by-2-2")
        if steps == ("import",):
            moved = self._import_level(path, plan)
        else:
            self._apply_rules(plan)
            moved = self._relocation(plan, path)
        if moved is not None and self.wanted(rules.IMPORTS):
            imports.plan(plan, moved)
        if path in self._survey.starts and steps[0] == "2.0" and self.wanted(graph_mode.RULE):
            v1 = moved is not None and self.wanted(rules.IMPORTS) and self._survey.wants_v1(path)
            graph_mode.plan(plan, v1)
        if self.wanted("gone-contrib") and steps[0] in ("2.0", "import"):
            era = self._survey.eras.get(path, "") if steps == ("import",) else ""
            gone_imports.leave_contrib(plan, moved if self.wanted(rules.IMPORTS) else None, era)
        text = patches.applied(module, plan.edits) if plan.edits else module.text
        plan.evaluator.called.settle(plan.evaluator)
        plan.edits.clear()  # they know the plan, which knows them
        return plan, text

    def _renames(self, steps):
        """{member: new name} of a strategy, by the rules that only rename."""
        return {
            name: surfaces.MEMBERS[STEPS[rule.step]][kind, name]
            for rule in self._rules
            if rule.step in steps
            for kind, name in rule.uses
            if kind == "strategy" and (kind, name) in surfaces.MEMBERS[STEPS[rule.step]]
        }

    def _table_of(self, steps, is_mixed):
        every = first_generation.of_mixed(self._rules) if is_mixed else self._rules
        return legacy_uses.Table([rule for rule in every if rule.step in steps])

    def _apply_rules(self, plan):
        table = self._table(plan.steps, plan.module.path in self._survey.mixed)
        if table:
            for kind, name, node, rule in legacy_uses.uses(plan, table):
                if plan.ignores(node, rule.name):
                    plan.other(node, name, "it is ignored")
                    continue
                told = len(plan.rewritten), len(plan.left), len(plan.others)
                rule.apply(Use(plan, rule.name, kind, name, node))
                if told == (len(plan.rewritten), len(plan.left), len(plan.others)):
                    plan.other(node, name, "it means the same, or changes with its import")
            named_in_strings.leave(plan, table)
            unseen.leave(plan, table)
            unseen_names.leave(plan, table)
            private_attributes.leave(plan, table)

    def _relocation(self, plan, path):
        """How the imports of a file move in a step."""
        target, sources_ = STEPS[self._options.to], [_SOURCES[step] for step in plan.steps]
        first = plan.steps[0] == "2.0"
        contrib = (
            first
            and self._survey.is_contrib(path)
            and bool(plan.edits or plan.left or self._survey.wants_v1(path))
        )
        if first and path in self._survey.plain_v1 and path not in self._survey.eras:
            contrib, target = True, "latest"  # it has no strategy that an era answers for
        v1 = first and self._survey.wants_v1(path)
        mixed = first and path in self._survey.mixed
        moves = plan.edits and not self._is_of_any_era(path, plan)
        plain = bool(moves) or mixed or contrib or v1 or self._belongs(path, plan, plan.steps[-1])
        plain = plain or plan.steps[-1] == "latest" and gone_imports.renames(plan)
        successors = {}
        for step in plan.steps:
            successors.update(surfaces.NAMES[STEPS[step]])
        home = relocation.Relocation(target, sources_, plain, v1)
        plan.home = home("tpudist.%s.tensorflow" % sources_[0])
        return relocation.Relocation(target, sources_, plain, v1, successors, mixed)

    def _is_of_any_era(self, path, plan):
        """Whether what changes in a file, which no era answers for, leads to every TensorFlow."""
        rules_ = {rule for _, _, rule, *_ in plan.rewritten}
        return path not in self._survey.eras and rules_ == {dataset_iterators.NAME}

    def _belongs(self, path, plan, step):
        """Whether a file of plain TensorFlow makes what legacy files hand on."""
        target = STEPS[step] if step != "latest" else "v2_2"
        eras = {era for other, era in self._survey.eras.items() if other != path}
        earlier = set(surfaces.ERAS[: surfaces.ERAS.index(target)])
        if self._survey.handed.get(path, set()) & earlier:
            return True
        return (
            bool(eras & earlier)
            and target != "v2_0"
            and any(
                tensorflow_names.is_strategy_class(dotted)
                or (tensorflow_names.result_of(dotted) == "resolver")
                for dotted in import_origins.strategies_and_resolvers(plan)
            )
        )

    def _import_level(self, path, plan):
        era = self._survey.eras.get(path) or ("contrib" if path in self._survey.companions else "")
        if self._options.to == "contrib" and era in ("v2_0", "v2_2"):
            plan.left.append(
                (1, 1, rules.IMPORTS, "code of %s" % era, "migrations go forward: --level import")
            )
            return None
        if not era:
            return None
        for kind, name, node, rule in legacy_uses.uses(plan, _gone_table(self._rules)):
            if not gone_imports.covered(name, era):
                rule.apply(Use(plan, rule.name, kind, name, node))
        return relocation.Relocation(era, plain=True)


def _unique(uses):
    seen = {}
    for use in uses:
        seen.setdefault((use.rule, use.seen, use.line), use)
    return sorted(seen.values())


def _gone_table(every):
    return legacy_uses.Table([rule for rule in every if rule.name == "gone-contrib"])
