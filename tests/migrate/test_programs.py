"""Small code bases: imports, and names followed from file to file."""

import ast

import pytest

from tests.migrate import harness

CASES = harness.programs("programs")


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_program(tmp_path, case):
    before = {path: texts[0] for path, texts in case.files.items()}
    texts, left = harness.migrated(tmp_path, before, case.to, **case.options)
    assert texts == {path: texts[1] for path, texts in case.files.items()}
    assert left == case.left


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_twice_changes_nothing_more(tmp_path, case):
    before = {path: texts[0] for path, texts in case.files.items()}
    once, _ = harness.migrated(tmp_path, before, case.to, **case.options)
    twice, _ = harness.migrated(tmp_path, once, case.to, **case.options)
    assert twice == once
    for text in once.values():
        ast.parse(text)
