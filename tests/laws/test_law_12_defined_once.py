"""Law 12: what a machine or the table fixes is written down once; pages of it are generated."""

import ast

import pytest

from compat.make import surfaces as page_of_surfaces
from tests.laws import source
from tpudist import machine, surfaces

#: {a literal: the only file that has it}.
HOMES = {
    **dict.fromkeys((machine.TPU, "intel-tensorflow") + machine.INSTALLED, "tpudist/machine.py"),
    surfaces.ERAS: "tpudist/surfaces/__init__.py",
    tuple(map(surfaces.spelled, surfaces.ERAS)): None,
}


def literals(tree):
    """(line, literal) of the texts in a module, and of its sequences of texts."""
    for node in ast.walk(tree):
        found = source.constant_text(node)
        if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
            found = tuple(map(source.constant_text, node.elts))
        yield getattr(node, "lineno", 0), found


def misplaced(tree, path):
    """(line, literal) of each that has its home elsewhere."""
    for line, found in literals(tree):
        texts = [found] if isinstance(found, str) else [found, found[: len(surfaces.ERAS)]]
        for each in texts[:1] if texts[0] in HOMES else texts[1:]:
            if each in HOMES and HOMES[each] != path:
                yield line, each


@pytest.mark.parametrize(
    "code",
    [
        "X = 'TPUDIST_TPU'",
        "f('TPUDIST_TPU')",
        "SKIP = {'build', 'dist-packages'}",
        "ERAS = ('contrib', 'v2_0', 'v2_2')",
        "choices = ['contrib', '2.0', '2.2', 'latest']",
    ],
)
def test_rule_sees(code):
    assert list(misplaced(ast.parse(code), "tpudist/elsewhere.py"))


@pytest.mark.parametrize(
    "code", ["'TPUDIST_TPU=virtual:8'", "x = ('contrib', 'v2_0')", "{'contrib': 1, 'v2_0': 2}"]
)
def test_rule_lets_pass(code):
    assert not list(misplaced(ast.parse(code), "tpudist/elsewhere.py"))


def test_each_is_defined_once():
    found = {path: source.tree(path) for path in source.package()}
    source.hold(
        [
            "%s:%d %r" % ((path,) + each)
            for path, tree in found.items()
            for each in misplaced(tree, path)
        ]
    )
    for literal, home in HOMES.items():
        if home:
            assert literal in [each for _, each in literals(found[home])], literal


def test_the_page_of_surfaces_is_fresh():
    assert page_of_surfaces.PAGE.read_text("utf-8") == page_of_surfaces.page(), (
        "python -m compat.make.surfaces"
    )
