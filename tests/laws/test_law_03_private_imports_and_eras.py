"""Law 3: two rooms import ``tensorflow.python``; facades are apart, and unknown below."""

import ast
import re

import pytest

from tests.laws import source

#: Who may import TensorFlow's private modules.
MAY = ("tpudist/tfcompat/", "tpudist/virtual/")

#: Words that name an era. Core may read them off TensorFlow's objects, whose
#: names they are; it may not define anything under them.
ERA_WORDS = ("tower", "towers", "contrib", "era", "eras")
ERA_PARTS = ("experimental_run_v2", "run_v2", "v2_0", "v2_2")


def private_imports(tree):
    """(line, what) of each import of TensorFlow's private modules, by statement or by name."""
    for node in ast.walk(tree):
        asked = source.imports(node)
        if isinstance(node, ast.Call) and source.chain(node.func)[-1:] in (
            ["import_module"],
            ["__import__"],
            ["find_spec"],
        ):
            asked = [source.constant_text(each) for each in node.args]
        for name in asked:
            if source.below(name, "tensorflow.python"):
                yield node.lineno, name
        if source.chain(node)[:2] in (["tf", "python"], ["tensorflow", "python"]):
            yield node.lineno, ".".join(source.chain(node))


def imports_of_eras(tree, path, forbidden):
    """(line, what) of each import of a forbidden era's package."""
    for node in ast.walk(tree):
        for name in source.imports(node, path):
            for era in forbidden:
                if source.below(name, "tpudist." + era):
                    yield node.lineno, name


def era_identifiers(tree):
    """(line, name) of each thing defined under a name that is an era's."""
    for node in ast.walk(tree):
        for name in _defined(node):
            words = re.findall(r"[a-z]+", re.sub(r"([A-Z])", r"_\1", name).lower())
            if set(words) & set(ERA_WORDS) or any(part in name for part in ERA_PARTS):
                yield node.lineno, name


def _defined(node):
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, ast.arg):
        return [node.arg]
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return [node.id]
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        return [node.attr]
    return []


@pytest.mark.parametrize(
    "code",
    [
        "from tensorflow.python.framework import ops",
        "import tensorflow.python.ops as o",
        "from tensorflow import python",
        "import importlib\nimportlib.import_module('tensorflow.python.ops')",
        "import tensorflow as tf\ntf.python.ops",
    ],
)
def test_rule_sees_private_imports(code):
    assert list(private_imports(ast.parse(code)))


@pytest.mark.parametrize(
    "code",
    [
        "import tensorflow as tf\ntf.distribute.get_strategy()",
        "from tensorflow.contrib.distribute.python import tpu_strategy",
        "from tpudist.backends import natives",
    ],
)
def test_rule_lets_public_imports_pass(code):
    assert not list(private_imports(ast.parse(code)))


@pytest.mark.parametrize(
    "code",
    [
        "def num_towers(): pass",
        "class TowerContext: pass",
        "def f(tower_id): pass",
        "is_contrib = True",
        "self.era = 1",
        "def experimental_run_v2(self): pass",
        "v2_2 = None",
        "for tower in x: pass",
    ],
)
def test_rule_sees_era_words(code):
    assert list(era_identifiers(ast.parse(code)))


@pytest.mark.parametrize(
    "code",
    [
        "def iterations(): pass",
        "operators = several = 1",
        "strategy.experimental_run_v2(fn)",
        "x = contrib_free(1)",
        "def towering(): pass",
        "literal_v2 = 1",
    ],
)
def test_rule_lets_other_words_pass(code):
    assert not list(era_identifiers(ast.parse(code)))


@pytest.mark.parametrize(
    "code",
    [
        "from tpudist.contrib import context",
        "from tpudist import contrib",
        "from ..contrib import context",
        "from .. import contrib",
        "import tpudist.contrib.tpu",
    ],
)
def test_rule_sees_imports_of_another_era(code):
    assert list(imports_of_eras(ast.parse(code), "tpudist/v2_0/strategy.py", ["contrib"]))


@pytest.mark.parametrize(
    "code",
    [
        "from tpudist.adapter import cross_replica",
        "from ..adapter import cross_replica",
        "from tensorflow import contrib",
        "from . import strategy",
    ],
)
def test_rule_lets_other_imports_pass(code):
    assert not list(imports_of_eras(ast.parse(code), "tpudist/v2_0/strategy.py", ["contrib"]))


def test_few_rooms_import_private_modules():
    paths = [path for path in source.package() if not path.startswith(MAY)]
    source.hold(source.offences(private_imports, paths))


@pytest.mark.parametrize("room", MAY)
def test_each_of_these_rooms_does(room):
    assert source.offences(private_imports, source.files(room)), "the rule went blind"


@pytest.mark.parametrize("era", source.FACADES)
def test_no_facade_imports_another(era):
    others = [each for each in source.FACADES if each != era]
    found = source.files("tpudist/" + era)
    assert found
    source.hold(
        [
            (path, offence)
            for path in found
            for offence in imports_of_eras(source.tree(path), path, others)
        ]
    )


@pytest.mark.parametrize("room", source.BELOW_FACADES)
def test_below_the_facades_no_era_is_known(room):
    found = source.files("tpudist/" + room)
    assert found
    source.hold(source.offences(era_identifiers, found))
    source.hold(
        [
            (path, offence)
            for path in found
            for offence in imports_of_eras(source.tree(path), path, source.FACADES)
        ]
    )
