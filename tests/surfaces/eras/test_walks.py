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
def test_the_nodes_are_those_of_ast_in_order(text):
    tree = ast.parse(text)
    found = walks.nodes(tree)
    wanted = [node for node in ast.walk(tree) if not isinstance(node, _PASSED_OVER)]
    assert len(found) == len(wanted) and set(found) == set(wanted)
    place = {node: index for index, node in enumerate(found)}
    for node in wanted:
        below = [each for each in ast.iter_child_nodes(node) if each in place]
        places = [place[node]] + [place[each] for each in below]
        assert places == sorted(places), ast.dump(node)
