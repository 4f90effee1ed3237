"""Law 9: everything public has a docstring; the facades' name their reference page."""

import ast
import re

import pytest

from tests.laws import source

#: A URL, or a dotted TensorFlow name that is a page of the API reference.
REFERENCE = re.compile(r"https?://|\btf\.[a-z_]+\.[\w.]+")

#: The release of the page, in a module whose docstring has the page's URL.
RELEASE = re.compile(r"\br\d\.\d+\b")


def public(tree):
    """(node, dotted name) of each public function, class and method of a module."""
    for node in tree.body:
        if _is_public(node):
            yield node, node.name
            if isinstance(node, ast.ClassDef):
                for inner in node.body:
                    if _is_public(inner) and not _is_setter(inner):
                        yield inner, "%s.%s" % (node.name, inner.name)


def _is_public(node):
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return isinstance(node, kinds) and not node.name.startswith("_")


def _is_setter(node):
    return any(
        source.chain(each)[-1:] in (["setter"], ["deleter"])
        for each in getattr(node, "decorator_list", ())
    )


#: The methods of TensorFlow's hooks, whose docstrings overrides inherit.
HOOKS = {"begin", "after_create_session", "before_run", "after_run", "end"}


def undocumented(tree, inherited=frozenset()):
    """(line, name) of what has no docstring; the module counts, `inherited` names do not."""
    if tree.body and not ast.get_docstring(tree):
        yield 1, "the module"
    for node, name in public(tree):
        owner, _, last = name.rpartition(".")
        if not (ast.get_docstring(node) or "").strip() and not (owner and last in inherited):
            yield node.lineno, name


def overridden():
    """The methods that a class documents and one derived from it may define without words."""
    documented = [
        name.rpartition(".")[2]
        for path in source.package()
        for node, name in public(source.tree(path))
        if "." in name and ast.get_docstring(node)
    ]
    return HOOKS | set(documented)


def without_reference(tree):
    """(line, name) of what has no reference page."""
    page = "http" in (ast.get_docstring(tree) or "")
    for node, name in public(tree):
        docstring = ast.get_docstring(node) or ""
        if not REFERENCE.search(docstring) and not (page and RELEASE.search(docstring)):
            yield node.lineno, name


@pytest.mark.parametrize(
    "code",
    [
        "'''m'''\ndef f(): pass",
        "'''m'''\nclass C: pass",
        "def f():\n  '''d'''",
        "'''m'''\nclass C:\n  '''d'''\n  def f(self): pass",
        "'''m'''\ndef f():\n  ' '",
    ],
)
def test_rule_sees(code):
    assert list(undocumented(ast.parse(code)))


@pytest.mark.parametrize(
    "code",
    [
        "",
        "'''m'''\ndef _f(): pass",
        "'''m'''\nclass _C:\n  def f(self): pass",
        "'''m'''\ndef f():\n  '''d'''\n  def inner(): pass",
        "'''m'''\nclass C:\n  '''d'''\n  def __len__(self): pass",
        "'''m'''\nclass C:\n  '''d'''\n  @x.setter\n  def x(self, v): pass",
    ],
)
def test_rule_lets_pass(code):
    assert not list(undocumented(ast.parse(code)))


@pytest.mark.parametrize(
    ("module", "docstring", "sees"),
    [
        ("", "Runs fn.", True),
        ("", "See the page.", True),
        ("", "tf.Session only", True),
        ("", "Runs fn (r2.0).", True),
        ("https://example.org", "Runs fn.", True),
        ("https://example.org", "Runs fn (r2.0).", False),
        ("", "Reference: https://example.org/run", False),
        ("", "Implements tf.distribute.experimental.TPUStrategy.run.", False),
    ],
)
def test_rule_wants_a_reference(module, docstring, sees):
    tree = ast.parse("'''%s'''\ndef f():\n  '''%s'''" % (module, docstring))
    assert bool(list(without_reference(tree))) == sees


def test_everything_public_is_documented():
    inherited = overridden()
    source.hold(source.offences(lambda tree: undocumented(tree, inherited), source.package()))


@pytest.mark.parametrize("era", source.FACADES)
def test_facades_name_their_reference(era):
    found = source.files("tpudist/" + era)
    assert any(list(public(source.tree(path))) for path in found)
    source.hold(source.offences(without_reference, found))
