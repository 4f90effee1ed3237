"""Law 4: a facade method is one call into the adapter: argument mapping, nothing else."""

import ast
import os

import pytest

from tests.laws import source

FACADES = ["tpudist/%s/strategy.py" % era for era in source.FACADES]


def more_than_a_call(tree):
    """(line, method) of each method of a class that is not one call of ``adapter.*``."""
    for owner in ast.walk(tree):
        if isinstance(owner, ast.ClassDef):
            for node in owner.body:
                if isinstance(node, ast.FunctionDef) and not _is_one_call(node):
                    yield node.lineno, "%s.%s" % (owner.name, node.name)


def _is_one_call(function):
    body = function.body[1 if ast.get_docstring(function) is not None else 0 :]
    if len(body) != 1 or not isinstance(body[0], (ast.Return, ast.Expr)):
        return False
    call = body[0].value
    return isinstance(call, ast.Call) and source.chain(call.func)[:1] == ["adapter"]


def methods(tree):
    return [
        node
        for owner in ast.walk(tree)
        if isinstance(owner, ast.ClassDef)
        for node in owner.body
        if isinstance(node, ast.FunctionDef)
    ]


@pytest.mark.parametrize(
    "body",
    [
        "x = 1; return adapter.run(self, x)",
        "return self.run(fn)",
        "return adapter",
        "if fn: return adapter.run(self, fn)",
        "pass",
        "return adapter.run(self) + 1",
        "'only a docstring'",
    ],
)
def test_rule_sees(body):
    code = "class S:\n  def run(self, fn):\n    " + body
    assert list(more_than_a_call(ast.parse(code)))


@pytest.mark.parametrize(
    "body",
    [
        "return adapter.run(self, fn, args=(), kwargs=None)",
        "adapter.scope(self)",
        "'Docs.'\n    return adapter.run(self, fn)",
        "return adapter.reduce(self, adapter.op(fn), axis=None)",
    ],
)
def test_rule_lets_pass(body):
    code = "class S:\n  def run(self, fn):\n    " + body
    assert not list(more_than_a_call(ast.parse(code)))


@pytest.mark.parametrize("path", FACADES)
def test_facade_methods_are_one_call(path):
    assert os.path.exists(os.path.join(source.ROOT, path))
    assert len(methods(source.tree(path))) >= 5, "where did the facade's methods go?"
    source.hold(source.offences(more_than_a_call, [path]))
