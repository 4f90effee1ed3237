"""Scopes: libcst's own provider, which rebuilds the tree as it goes, is the oracle."""

import os
import sys

import libcst as cst
import pytest
from libcst import metadata

from tests.tools.migrate import harness
from tests.tools.migrate.test_programs import CASES
from tpudist.tools.migrate.resolution import module, scopes, syntax_trees

pytestmark = pytest.mark.slow

TRICKY = """
import a.b, c as d
from e import f as g, h
from i import *
x: int = 1
x += 1
del x
def function(p, q=x, *rest, r: "x" = 2, **named) -> d.Type:
    global top
    top = p
    def inner():
        nonlocal q
        q = [y for y in p if y for z in y]
        return {k: v for k, v in q}, (lambda s, t=q: s + t)
    with d.open(q) as (one, [two, *three]), f"{q!r:>{p}}" as four:
        for i, (j, *l) in inner(): i.attribute, l[j] = one, two
        else: pass
    print(p[q:x:top], inner)
    return inner if (walrus := g) else walrus
@function
class C(d.Base, metaclass=g):
    x = x
    def method(self): return super().method, x, __class__
try: pass
except (d.Error, KeyError) as error: print(error)
async def waits():
    async for each in g(): await each
    yield each
"""


def programs():
    """(name, text) of the tricky one, the corpus, and tpudist's own modules."""
    yield "tricky", TRICKY
    for name in ("lines_2_0", "lines_2_2", "lines_latest"):
        before, _, lines = harness.lines(name)
        yield name, before + "".join(each.before + "\n" for each in lines)
    for case in CASES:
        for path, texts in case.files.items():
            if path.endswith(".py"):
                yield case.name + " " + path, texts[0]
    folder = os.path.dirname(scopes.__file__)
    for name in ("evaluate.py", "imported_values.py", "codebase.py", "sources.py"):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            yield name, file.read()


PROGRAMS = dict(programs())


def described(scope):
    """What names a scope has, and where each is read."""
    return sorted(
        (
            each.name,
            type(each).__name__,
            id(getattr(each, "node", None)),
            sorted(id(access.node) for access in each.references),
        )
        for each in scope.assignments
    )


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_scopes_are_those_of_libcst(name):
    tree = cst.parse_module(PROGRAMS[name])
    wrapper = metadata.MetadataWrapper(tree, unsafe_skip_copy=True)
    parents = module.Nodes(tree).parents
    expected, found = (wrapper.resolve(metadata.ScopeProvider), scopes.scopes(tree, parents))
    nodes = [node for node in syntax_trees.below(tree) if expected.get(node) is not None]
    for kind in (cst.Name, cst.Attribute, cst.FunctionDef, cst.Call):
        assert any(isinstance(node, kind) for node in nodes) or name != "tricky"
    for node in nodes:
        start = node
        while id(start) not in found:
            start = parents[id(start)]
        assert described(found[id(start)]) == described(expected[node]), node


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_children_are_those_of_libcst_in_the_order_of_the_source(name):
    # What is left out is layout, and names that are no expressions: no name is looked up there.
    for node in syntax_trees.below(cst.parse_module(PROGRAMS[name])):
        found = syntax_trees.children(node)
        assert found == [each for each in node.children if any(each is one for one in found)]
        assert not [
            each
            for each in node.children
            if isinstance(
                each, (cst.BaseExpression, cst.BaseStatement, cst.BaseSmallStatement, cst.Param)
            )
            and not any(each is one for one in found)
        ]


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_a_skeleton_is_libcsts_tree_without_layout(name):
    text = PROGRAMS[name]
    written, read = module.Module("a.py", text, exact=True), module.Module("a.py", text)
    if read.skeleton is None:
        assert "match " in text or sys.version_info < (3, 9)
        return
    pairs = [(written.tree, read.tree)]
    for old, new in pairs:
        assert type(old) is type(new)
        for field in ("value", "star", "operator"):
            one, other = getattr(old, field, ""), getattr(new, field, "")
            assert one == other or not isinstance(one, str)
            assert field != "operator" or type(one) is type(other)
        below = syntax_trees.children(old), syntax_trees.children(new)
        assert len(below[0]) == len(below[1])
        if not isinstance(old, (cst.ImportAlias, cst.ImportFrom)):  # it is told as a whole
            pairs += list(zip(*below))
        if isinstance(old, (cst.Name, cst.Attribute, cst.Call, cst.Import, cst.ImportFrom)):
            assert written.place(old) == read.place(new), text.split("\n")[read.place(new)[0] - 1]
            code = written.code(old).rstrip(";").split()  # lines that go on are not laid out
            assert code == read.code(new).split()
