"""Mutants of every package: which there are, what they become, and which tests must notice."""

import ast
import pathlib
import random
import sys

import pytest

from tests import ROOT
from tests.mutation import drawn

SOURCE = '''
def f(a, b):
    """Text."""
    if a < 1 and b:
        return a + 1
    return "%d" % a if b is None else None
'''

needs_unparse = pytest.mark.skipif(sys.version_info < (3, 9), reason="ast.unparse is of 3.9")


@needs_unparse
def test_what_becomes_of_a_function():
    found = set()
    for number, (_, _, words) in enumerate(list(drawn.places(ast.parse(SOURCE)))):
        tree = ast.parse(SOURCE)
        node, change, _ = list(drawn.places(tree))[number]
        change(node)
        lines = ast.unparse(ast.fix_missing_locations(tree)).splitlines()
        before = ast.unparse(ast.parse(SOURCE)).splitlines()
        (changed,) = [line.strip() for line, other in zip(lines, before) if line != other]
        found.add((words, changed))
    assert found == {
        ("comparison turned", "if a <= 1 and b:"),
        ("comparison turned", "return '%d' % a if b is not None else None"),
        ("and and or exchanged", "if a < 1 or b:"),
        ("condition negated", "if not (a < 1 and b):"),
        ("condition negated", "return '%d' % a if not b is None else None"),
        ("another operator", "return a - 1"),
        ("one more", "if a < 2 and b:"),
        ("one more", "return a + 2"),
        ("nothing returned", "return None"),
    }


@pytest.mark.parametrize("package", drawn.packages())
def test_a_package_has_tests_that_must_notice(package):
    for file in drawn.files(package):
        chosen = drawn.tests_of(file)
        assert chosen and all(pathlib.Path(ROOT, each).exists() for each in chosen), file


@needs_unparse
def test_a_seed_draws_the_same_mutants_again_and_each_is_another_program():
    package = "tpudist/cloud"
    mutants = drawn.drawn(package, 5, random.Random(3))
    assert mutants == drawn.drawn(package, 5, random.Random(3)) and len(set(mutants)) == 5
    for mutant in mutants:
        whole = ast.parse(pathlib.Path(ROOT, mutant.file).read_text("utf-8"))
        assert ast.dump(ast.parse(drawn.broken(mutant))) != ast.dump(whole)
