"""Law 8: functions say what they return; few return anything at all.

A name that stands for ``Any`` counts as ``Any``, and so does one of TensorFlow, of which a
checker knows nothing.
"""

import ast
import os

import pytest

from tests import ROOT
from tests.laws import source

#: How many of a hundred annotated functions may return Any: what a user's function returned.
BOUND = 6

#: Packages whose names are of any type to a checker; see ``[mypy-...]`` in setup.cfg.
UNTYPED = ("tensorflow", "tf_keras", "keras", "tf_slim", "google", "grpc", "IPython")


class Names:
    """What the names of modules stand for.

    Args:
      trees: {dotted name of a module: the syntax trees of its code and of its stub}.
    """

    def __init__(self, trees):
        self._meanings = {
            module: {name: node for tree in each for name, node in _bound(tree)}
            for module, each in trees.items()
        }

    def is_any(self, node, module, depth=0):
        """Whether an annotation in a module is Any, or has an alternative that is."""
        if isinstance(node, ast.BinOp):
            sides = (node.left, node.right)
            return any(self.is_any(side, module, depth) for side in sides)
        if isinstance(node, ast.Subscript):
            if source.chain(node.value)[-1:] in (["Optional"], ["Union"]):
                parts = ast.walk(node.slice)
                return any(self.is_any(each, module, depth) for each in parts)
            return self.is_any(node.value, module, depth)
        if source.constant_text(node):
            quoted = ast.parse(source.constant_text(node), mode="eval").body
            return self.is_any(quoted, module, depth)
        name, *members = source.chain(node) or [""]
        meaning = self._meanings[module].get(name)
        if isinstance(meaning, str):
            return self._is_any_name(".".join([meaning] + members), depth + 1)
        return meaning is not None and depth < 20 and self.is_any(meaning, module, depth + 1)

    def _is_any_name(self, dotted, depth):
        module, _, name = dotted.rpartition(".")
        if dotted == "typing.Any" or dotted.partition(".")[0] in UNTYPED:
            return True
        is_ours = module in self._meanings and depth < 20
        return is_ours and self.is_any(ast.parse(name, mode="eval").body, module, depth)


def _bound(tree):
    """(name, what it stands for) of a module: a dotted name, or the node of an alias."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.asname or alias.name.split(".")[0], alias.name
        elif isinstance(node, ast.ImportFrom) and not node.level:
            for alias in node.names:
                yield alias.asname or alias.name, "%s.%s" % (node.module, alias.name)
    for node in tree.body:
        if isinstance(node, ast.AnnAssign) and source.chain(node.annotation)[-1:] == ["TypeAlias"]:
            yield node.target.id, node.value
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            if source.chain(node.value):
                yield node.targets[0].id, node.value


def modules():
    """{dotted name: (tree of its code, tree of its stub)} of the package; an empty one for none."""
    found, kinds = {}, ("py", "pyi")
    for base, _, files in os.walk(os.path.join(ROOT, "tpudist")):
        for file in sorted(files):
            path = os.path.relpath(os.path.join(base, file), ROOT).replace(os.sep, "/")
            name, _, kind = path.rpartition(".")
            if kind in kinds:
                module = name.replace("/__init__", "").replace("/", ".")
                trees = found.setdefault(module, [ast.parse(""), ast.parse("")])
                trees[kinds.index(kind)] = source.tree(path)
    return found


def returning_any(trees):
    """(how many functions have an annotation, "module:line name" of those that return Any)."""
    names, count, found = Names(trees), 0, []
    for module, (tree, _) in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.returns:
                count += 1
                if names.is_any(node.returns, module):
                    found.append("%s:%d %s" % (module, node.lineno, node.name))
    return count, found


@pytest.mark.parametrize(
    ("annotation", "counts"),
    [
        ("Any", True),
        ("typing.Any", True),
        ("'Any'", True),
        ("Optional[Any]", True),
        ("Any | None", True),
        ("Alias", True),
        ("Ours", True),
        ("tf.Tensor", True),
        ("tf.data.Dataset[int]", True),
        ("int", False),
        ("None", False),
        ("object", False),
        ("list[Any]", False),
        ("Optional[int]", False),
        ("Class", False),
    ],
)
def test_rule_resolves_names(annotation, counts):
    text = """
import typing, tensorflow as tf
from typing import Any, Optional
from ours.stubs import Ours
Alias = Any
class Class: ...
def f() -> %s: ...
"""
    stubs = "from typing import Any, TypeAlias\nOurs: TypeAlias = Any\n"
    code, nothing = ast.parse(text % annotation), ast.parse("")
    trees = {"ours.code": [code, nothing], "ours.stubs": [nothing, ast.parse(stubs)]}
    assert returning_any(trees) == (1, ["ours.code:7 f"] if counts else [])


def test_few_functions_return_any():
    count, found = returning_any(modules())
    assert count > 3000
    assert 100 * len(found) <= BOUND * count, "%d of %d:\n%s" % (
        len(found),
        count,
        "\n".join(found),
    )
