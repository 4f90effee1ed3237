"""Law 4: a facade's functions are one call of what is below: argument mapping, nothing else.

Every module of every facade is read. A body may also hand on to ``super()``, or
give an attribute (``return self._context.strategy``): that maps a name, too.
"""

import ast

import pytest

from tests.laws import source

FOLDERS = tuple("tpudist/" + name for name in source.FACADES + ("common",))

#: (file, function): why it is more than a call. One that is no more fails.
EXCEPTIONS = {
    ("tpudist/contrib/context.py", "TowerContext.__init__"): "keeps what it is made of",
    ("tpudist/contrib/distribute.py", "__getattr__"): "TensorFlow's own classes, when asked for",
}


def functions(tree):
    """(dotted name, node) of each function of a module and method of its classes."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node
        if isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef):
                    yield "%s.%s" % (node.name, inner.name), inner


def more_than_a_call(tree):
    """(line, function) of each that does more than hand on."""
    below = _names_of_what_is_below(tree)
    for name, node in functions(tree):
        if not _hands_on(node, below):
            yield node.lineno, name


def _names_of_what_is_below(tree):
    """The names that a module has imported from what stands below the facades."""
    rooms = ["tpudist." + room for room in source.BELOW_FACADES]
    return {
        alias.asname or alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if any(source.below("%s.%s" % (node.module, alias.name), room) for room in rooms)
    }


def _hands_on(function, below):
    body = function.body[1 if ast.get_docstring(function) is not None else 0 :]
    if len(body) != 1 or not isinstance(body[0], (ast.Return, ast.Expr)):
        return False
    value = body[0].value
    if isinstance(value, ast.Call):
        owner = source.chain(value.func)[:1]
        return bool(owner and owner[0] in below) or _is_super(value.func)
    return source.chain(value)[:1] == ["self"] and isinstance(body[0], ast.Return)


def _is_super(function):
    owner = getattr(function, "value", None)
    return isinstance(owner, ast.Call) and source.chain(owner.func) == ["super"]


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
        "return tf.distribute.get_strategy()",
        "return None if fn is None else adapter.run(fn)",
        "self.fn",
        "return other.run(self)",
    ],
)
def test_rule_sees(body):
    start = "from tpudist import adapter\nimport tensorflow as tf\n"
    assert list(more_than_a_call(ast.parse(start + "class S:\n  def run(self, fn):\n    " + body)))
    assert list(more_than_a_call(ast.parse(start + "def run(self, fn):\n    " + body)))


@pytest.mark.parametrize(
    "body",
    [
        "return adapter.run(self, fn, args=(), kwargs=None)",
        "adapter.scope(self)",
        "'Docs.'\n    return adapter.run(self, fn)",
        "return adapter.reduce(self, adapter.op(fn), axis=None)",
        "return super().run(fn)",
        "return self._context.strategy",
    ],
)
def test_rule_lets_pass(body):
    code = "from tpudist import adapter\nclass S:\n  def run(self, fn):\n    " + body
    assert not list(more_than_a_call(ast.parse(code)))


def test_every_module_of_a_facade_hands_on():
    found = source.files(*FOLDERS)
    for folder in FOLDERS:
        read = [path for path in found if path.startswith(folder + "/")]
        assert any(list(functions(source.tree(path))) for path in read), folder
    offences = {
        (path, name): "%s:%d %s" % (path, line, name)
        for path in found
        for line, name in more_than_a_call(source.tree(path))
    }
    source.hold([text for key, text in sorted(offences.items()) if key not in EXCEPTIONS])
    source.hold([key for key in EXCEPTIONS if key not in offences])
