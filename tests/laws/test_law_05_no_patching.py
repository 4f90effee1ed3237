"""Law 5: nothing but ``legacy/`` patches TensorFlow or what imports find."""

import ast

import pytest

from tests.laws import source

#: Who may write to the import system without writing to TensorFlow, and why.
MAY_IMPORT = {
    "tpudist/dropin/__init__.py": "makes modules below tpudist's own drop-ins importable",
    "tpudist/dropin/finder.py": "likewise; it answers for no name outside tpudist",
}

CHANGERS = ("setattr", "delattr")
TABLES = (
    ["sys", "modules"],
    ["sys", "meta_path"],
    ["sys", "path_hooks"],
    ["builtins", "__import__"],
)


def patches(tree):
    """(line, what) of each write to a TensorFlow module or class."""
    tensorflow = source.tensorflow_names(tree)
    return [(line, ".".join(names)) for line, names in _changes(tree) if names[0] in tensorflow]


def import_hooks(tree):
    """(line, what) of each write to what decides which module an import finds."""
    return [(line, ".".join(names)) for line, names in _changes(tree) if names[:2] in TABLES]


def _changes(tree):
    """(line, dotted name) of everything that is written to, or changed by a call."""
    for node in ast.walk(tree):
        names = []
        if isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
            names = _written(node)
        if isinstance(node, ast.Call):
            names = _changed_by(node)
        if names:
            yield node.lineno, names


def _written(node):
    """The dotted name behind ``a.b = ``, ``a.b[c] = `` and ``vars(a)[c] = ``."""
    if isinstance(node, ast.Subscript):
        node = node.value
        if isinstance(node, ast.Call) and source.chain(node.func) == ["vars"] and node.args:
            node = node.args[0]
    return source.chain(node)


def _changed_by(call):
    """The dotted name that a call changes: setattr(a, ...), sys.modules.update(...)."""
    function = source.chain(call.func)
    if function[-1:] and function[-1] in CHANGERS + ("object",) and call.args:
        if function[-1] in CHANGERS or function[:-1][-1:] == ["patch"]:
            return source.chain(call.args[0])
    if function[:2] in TABLES and function[2:] in (
        ["update"],
        ["pop"],
        ["setdefault"],
        ["insert"],
        ["append"],
        ["clear"],
    ):
        return function[:2]
    return []


@pytest.mark.parametrize(
    "code",
    [
        "import tensorflow as tf\ntf.Session = Session",
        "import tensorflow as tf\ntf.distribute.TPUStrategy.run_v2 = run",
        "import tensorflow as tf\nsetattr(tf, 'Session', Session)",
        "import tensorflow as tf\ndel tf.contrib",
        "import tensorflow as tf\ndelattr(tf, 'contrib')",
        "from tensorflow.python.distribute import values\nvalues.PerReplica = P",
        "import tensorflow as tf\nlib = tf.distribute\nlib.x = 1",
        "import tensorflow as tf\ntf.__dict__['x'] = 1",
        "import tensorflow as tf\nvars(tf)['x'] = 1",
        "import tensorflow as tf\nfrom unittest import mock\nmock.patch.object(tf, 'x', 1)",
        "import tensorflow as tf\nfor tf.x in y: pass",
    ],
)
def test_rule_sees(code):
    assert patches(ast.parse(code))


@pytest.mark.parametrize(
    "code",
    [
        "import sys\nsys.modules['tensorflow'] = x",
        "import sys\nsys.modules.update(x)",
        "import sys\ndel sys.modules['tensorflow']",
        "import sys\nsys.meta_path.insert(0, x)",
        "import builtins\nbuiltins.__import__ = x",
    ],
)
def test_rule_sees_import_hooks(code):
    assert import_hooks(ast.parse(code))


@pytest.mark.parametrize(
    "code",
    [
        "import tensorflow as tf\nx = tf.Variable(1)\nx.name = 'y'",
        "strategy.extended.steps_per_run = 2",
        "import sys\nold = sys.modules.get('tensorflow')",
        "import sys\nmodule = sys.modules[__name__]",
        "setattr(self, name, value)",
        "import tensorflow as tf\ntable[tf.float32] = 1",
    ],
)
def test_rule_lets_pass(code):
    tree = ast.parse(code)
    assert not patches(tree) and not import_hooks(tree)


def outside_legacy():
    return [path for path in source.package() if not path.startswith("tpudist/legacy/")]


def test_nothing_outside_legacy_patches():
    source.hold(source.offences(patches, outside_legacy()))


def test_nothing_outside_legacy_and_the_drop_ins_hooks_imports():
    source.hold(
        source.offences(import_hooks, [path for path in outside_legacy() if path not in MAY_IMPORT])
    )


@pytest.mark.parametrize("path", sorted(MAY_IMPORT))
def test_exceptions_are_needed(path):
    assert source.offences(import_hooks, [path]), "no longer hooks: strike it off the list"


def test_legacy_is_where_it_happens():
    assert source.offences(import_hooks, source.files("tpudist/legacy")), "the rule went blind"
