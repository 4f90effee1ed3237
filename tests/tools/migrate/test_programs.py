"""Small code bases: imports, and names followed from file to file."""

import ast
import os

import pytest

from tests.tools.migrate import harness, test_lines
from tpudist.tools.migrate import outcomes

CORPORA = sorted(name[:-4] for name in os.listdir(harness.CASES) if name.startswith("programs"))
CASES = [case for name in CORPORA for case in harness.programs(name)]


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_program(tmp_path, case):
    before = {path: texts[0] for path, texts in case.files.items()}
    texts, left = harness.outcome(tmp_path, before, case.to, **case.options)
    assert texts == {path: texts[1] for path, texts in case.files.items()}
    assert {use.rule for use in left} == case.left
    assert case.why in "\n".join(map(harness.said, left))
    for use in left:
        said = outcomes.Finding(use.rule, [use]).said()
        assert use.instead in said and "\n" not in said


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_twice_changes_nothing_more(tmp_path, case):
    before = {path: texts[0] for path, texts in case.files.items()}
    once, _ = harness.migrated(tmp_path, before, case.to, **case.options)
    twice, _ = harness.migrated(tmp_path, once, case.to, **case.options)
    assert twice == once
    for text in once.values():
        ast.parse(text)


def test_names_of_cases_are_their_own():
    names = [case.name for case in CASES]
    assert len(names) == len(set(names)), sorted(name for name in names if names.count(name) > 1)


def test_many_cases_assert_that_nothing_changes():
    same = [all(before == after for before, after in case.files.values()) for case in CASES]
    same += [
        line.before == line.after for name in test_lines.CORPORA for line in harness.lines(name)[2]
    ]
    assert len(same) >= 400 and sum(same) >= 0.4 * len(same), (sum(same), len(same))
