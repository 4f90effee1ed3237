"""The quick walk of a syntax tree finds what ``ast.walk`` finds, in the order of the source."""

import ast
import inspect

import pytest

from tpudist.surfaces.eras import evidence, names, walks

_PASSED_OVER = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.alias)
_TEXT = """
import a.b as c
from d import e, f as g
async def h(x: int, *y, z=1, **k) -> str:
    global i
    async with j as k, l:
        return {**m, 1: [n for n in o if p], "q": (r, *s)}
try:
    t[u:v, ...] += lambda w=1: w if not w else -w
except (A, B) as error:
    raise C from error
else:
    assert D < E <= F, f"{G!r:>{H}}"
class I(J, metaclass=K):
    L: int = 3
    @M.n(o)
    def p(self): yield from q
while a and b or c:
    del d[0], e.f
"""


@pytest.mark.parametrize(
    "text", [_TEXT] + [inspect.getsource(each) for each in (evidence, names, walks)]
)
def test_the_nodes_of_a_class_are_those_of_ast_in_order(text):
    tree = ast.parse(text)
    wanted = [node for node in depth_first(tree) if not isinstance(node, _PASSED_OVER)]
    found = walks.nodes(tree)
    assert set(found.every()) == set(wanted)
    for kind in set(map(type, wanted)):
        assert found.of(kind) == [node for node in wanted if type(node) is kind]


def test_the_nodes_of_several_classes_come_one_class_after_the_other():
    found = walks.nodes(ast.parse(_TEXT)).of(ast.Yield, ast.Import, ast.ImportFrom, ast.ClassDef)
    assert [type(node) for node in found] == [ast.Import, ast.ImportFrom, ast.ClassDef]


def test_the_words_are_those_of_names_and_attributes():
    assert walks.nodes(ast.parse("import a.b\nc = d.e(f=g).h\n")).words == set("cdegh")


def depth_first(node):
    """A node and all below it, each before what is below it."""
    yield node
    for each in ast.iter_child_nodes(node):
        yield from depth_first(each)
