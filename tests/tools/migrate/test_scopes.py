"""Scopes are those of Python's own ``symtable``: who binds a name, and what each scope reads."""

import ast
import builtins
import os
import symtable
import sys
import warnings

import pytest

from tests.tools.migrate import harness, test_programs
from tpudist.surfaces.eras import walks
from tpudist.tools.migrate import resolution
from tpudist.tools.migrate.resolution import module as modules

hypothesis = pytest.importorskip("hypothesis")
st = hypothesis.strategies

pytestmark = pytest.mark.skipif(
    sys.version_info >= (3, 12),
    reason="symtable tells a comprehension's names as those of the function around it",
)

_COMPREHENSIONS = {
    ast.ListComp: "listcomp",
    ast.SetComp: "setcomp",
    ast.DictComp: "dictcomp",
    ast.GeneratorExp: "genexpr",
}
_SCOPES = (*modules.FUNCTIONS, ast.Lambda, ast.ClassDef, *_COMPREHENSIONS)

TRICKY = """
import a.b, c as d
from e import f as g, h
from i import *
x: int = 1
x += 1
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
    def method(self): return x, self.x
try: pass
except (d.Error, KeyError) as error: print(error)
async def waits():
    async for each in g(): await each
    yield each
"""
SOURCES = {
    "tricky": TRICKY,
    "a default is read outside": "def f(a=a, *, b=b): return a, b\n",
    "a lambda's default is read outside": "f = lambda a=a, *b, c=c: (a, b, c, d)\n",
    "a decorator is read outside": "def f():\n    a = 1\n    @a\n    def g(a): return a\n",
    "a base is read outside": "class A(B, k=C):\n    B = C = 1\n    class D(B): pass\n",
    "a class's names end at its functions": (
        "a = 1\nclass A:\n    a = 2\n    def f(self): return a\n"
    ),
    "a class's names end at its comprehensions": (
        "a = 1\nclass A:\n    a = [2]\n    b = [a for c in a for d in a]\n"
    ),
    "a class in a function": (
        "def f(a):\n    class A:\n        b = a\n        def g(self): return a, b\n    return A\n"
    ),
    "global through functions": (
        "a = 1\ndef f(a):\n    def g():\n        global a\n        a = 2\n        return a\n"
        "    return a, g\n"
    ),
    "global that the module does not bind": (
        "def f():\n    global a\n    a = 1\ndef g(): return a\n"
    ),
    "global in a class": "class A:\n    global a\n    a = 1\n    b = a\n",
    "global after an import": "def f():\n    import a.b as c\n    global c\ndef g(): return c\n",
    "nonlocal of the next function": (
        "def f():\n    a = 1\n    def g():\n        a = 2\n        def h():\n"
        "            nonlocal a\n            a = 3\n        return a\n    return a\n"
    ),
    "nonlocal before its name is bound": (
        "def f(b):\n    class A(b):\n        nonlocal b, c\n        b = c\n    import d as c\n"
    ),
    "nonlocal through a class": (
        "def f():\n    a = 1\n    class A:\n        a = 2\n        def g(self):\n"
        "            nonlocal a\n            a = 3\n"
    ),
    "a walrus in a comprehension": "def f(a):\n    b = [(c := d) for d in a]\n    return c\n",
    "a walrus in nested comprehensions": "[[(a := b) for b in c] for c in d]\nprint(a)\n",
    "a walrus in a lambda": "f = lambda a: (b := a) + b\nb\n",
    "a comprehension's first source": "def f(a):\n    return [a for a in a]\n",
    "comprehensions in each other": "[(a, b) for a in [b for b in c] for b in {a for a in a}]\n",
    "an exception's name": "try: f()\nexcept E as e: g(e)\ndef h(): return e\n",
    "a with and a loop": "def f():\n    with a as b, b as (c, d): pass\n    for e in b: c = e\n",
    "imports in a function": "def f():\n    import a.b, c.d as e\n    from g import h as i, j\n",
    "an import that is used outside": "def f():\n    import a\n    return a\na\n",
    "names of Python": "len = 1\ndef f(): return len, max, no_such\nclass A: max = max\n",
    "annotations": "a: b = c\ndef f(a: d, *e: g) -> h:\n    i: j\n    return i\n",
    "del": "def f(a):\n    b = a\n    del b\n",
    "async comprehensions": "async def f(a):\n    return [b async for b in a if await b]\n",
}
_MATCHING = (
    "def f(a):\n    match a:\n        case [b, *c] | {'d': b, **c}: return b, c\n"
    "        case E(g=h) as i: return h, i\n        case j: return j\n"
)
if sys.version_info >= (3, 10):
    SOURCES["match"] = _MATCHING


def told_by_python(text):
    """What ``symtable`` tells of each scope, as of `described`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        top = symtable.symtable(text, "a.py", "exec")
    return sorted(_of_table(top, [], top), key=repr)


def _of_table(table, around, top):
    bound, read = {}, set()
    for symbol in table.get_symbols():
        name = symbol.get_name()
        if not _is_written(name, symbol):
            continue
        bound[name] = _owner(name, symbol, table, around, top)
        if symbol.is_referenced():
            read.add(name)
    yield (*_key(table), sorted(bound.items(), key=repr), sorted(read))
    for child in table.get_children():
        yield from _of_table(child, [*around, table], top)


def _is_written(name, symbol):
    """Whether a name stands in a scope: ``.0`` and what inner scopes alone have do not."""
    stands = symbol.is_referenced() or symbol.is_assigned() or symbol.is_nonlocal()
    is_passed_on = symbol.is_free() and not (stands or symbol.is_imported())
    return name.isidentifier() and name != "__class__" and not is_passed_on


def _key(table):
    return table.get_name(), 0 if table.get_type() == "module" else table.get_lineno()


def _owner(name, symbol, table, around, top):
    """(name, line) of the scope that a name is bound in; "Python" or None if in none."""
    if symbol.is_free():
        for outer in around[::-1]:
            if outer.get_type() == "function" and name in outer.get_identifiers():
                if outer.lookup(name).is_local():
                    return _key(outer)
    if symbol.is_local() and not symbol.is_declared_global():
        return _key(table)
    if _is_global(name, top):
        return _key(top)
    return "Python" if hasattr(builtins, name) else None


def _is_global(name, table):
    """Whether the module binds a name, or something in it that says ``global``."""
    if name in table.get_identifiers():
        symbol = table.lookup(name)
        is_bound = symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace()
        if is_bound and (table.get_type() == "module" or _says_global(symbol, table)):
            return True
    return any(_is_global(name, child) for child in table.get_children())


def _says_global(symbol, table):
    is_comprehension = table.get_name() in _COMPREHENSIONS.values()  # a walrus binds around it
    return symbol.is_declared_global() or is_comprehension and symbol.is_global()


def described(text):
    """[(name, line, [(name, who binds it)], [name that is read]) of each scope of a source]."""
    module = modules.Module("a.py", text)
    keys = {module.global_scope(): ("top", 0)}
    for node in module.of(*_SCOPES):
        keys[module.scope(_inner(node))] = _named(node), node.lineno
    names = {scope: set() for scope in keys}
    read = {scope: set() for scope in keys}
    for name, scope in _occurrences(module, keys):
        names[scope].add(name)
    for node in module.of(ast.Name):
        if isinstance(node.ctx, ast.Load):
            read[module.scope(node)].add(node.id)
    return sorted(
        (
            (
                *keys[scope],
                sorted([(name, _bound_in(scope, name, keys)) for name in names[scope]], key=repr),
                sorted(read[scope]),
            )
            for scope in keys
        ),
        key=repr,
    )


def _inner(node):
    """A node that is in the scope that another one makes."""
    if type(node) in _COMPREHENSIONS:
        return node.generators[0]
    return node.body if isinstance(node, ast.Lambda) else node.body[0]


def _named(node):
    return _COMPREHENSIONS.get(type(node)) or getattr(node, "name", "lambda")


def _occurrences(module, keys):
    """(name, a scope that it stands in, is bound in, or is said to be bound in)."""
    for node in module.of(ast.Name):
        yield node.id, module.scope(node)
    for node in module.of(ast.Global, ast.Nonlocal):
        for name in node.names:
            yield name, module.scope(node)
            if isinstance(node, ast.Global):
                yield name, module.global_scope()
    for scope in keys:
        for binding in scope.bindings:
            yield binding.name, module.scope(binding.node)
            yield binding.name, scope


def _bound_in(scope, name, keys):
    return keys.get(scope.owner(name), "Python") if scope[name] else None


@pytest.mark.parametrize("name", SOURCES)
def test_scopes_are_those_of_python(name):
    assert described(SOURCES[name]) == told_by_python(SOURCES[name])


@pytest.mark.parametrize("corpus", test_programs.CORPORA)
def test_scopes_of_the_corpus_are_those_of_python(corpus):
    for case in harness.programs(corpus):
        for path, (text, _) in case.files.items():
            if path.endswith(".py") and walks.parse(text).body:
                assert described(text) == told_by_python(text), (case.name, path)


def test_scopes_of_this_package_are_those_of_python():
    folder = os.path.dirname(resolution.__file__)
    for name in sorted(os.listdir(folder)):
        if name.endswith(".py"):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                text = file.read().replace("from __future__ import annotations", "")
            assert described(text) == told_by_python(text), name


_NAMES = st.sampled_from("abc")


def _filled(template, *parts):
    return st.tuples(*parts).map(lambda each: template.format(*each))


def _block(head, body):
    return "\n    ".join([head, *(each.replace("\n", "\n    ") for each in body)])


_EXPRESSIONS = st.recursive(
    _NAMES,
    lambda inner: st.one_of(
        _filled("[({0}, {2}) for {0} in {1}]", _NAMES, inner, inner),
        _filled("{{{1} for {0} in a for a in {0} if {2}}}", _NAMES, inner, inner),
        _filled("(lambda {0}={1}: {2})", _NAMES, inner, inner),
        _filled("({0} := {1})", _NAMES, inner),
        _filled("f({0}, {1}.a)", inner, inner),
    ),
    max_leaves=4,
)
_STATEMENTS = st.recursive(
    st.one_of(
        _filled("{0} = {1}", _NAMES, _EXPRESSIONS),
        _filled("import {0}.d as {1}, {0}.e", _NAMES, _NAMES),
        _filled("global {0}", _NAMES),
        _filled("nonlocal {0}", _NAMES),
        _filled("for {0} in {1}: {0}.a = {0}", _NAMES, _EXPRESSIONS),
        _filled("try: {1}\nexcept E as {0}: pass", _NAMES, _EXPRESSIONS),
    ),
    lambda inner: st.builds(
        _block,
        _filled("def {0}({1}, *, d={2}):", _NAMES, _NAMES, _EXPRESSIONS)
        | _filled("class {0}({1}):", _NAMES, _EXPRESSIONS),
        st.lists(inner, min_size=1, max_size=3),
    ),
    max_leaves=6,
)


@hypothesis.settings(max_examples=200, deadline=None)
@hypothesis.given(st.lists(_STATEMENTS, min_size=1, max_size=4))
def test_scopes_of_random_programs_are_those_of_python(statements):
    text = "\n".join(statements) + "\n"
    try:
        compile(text, "a.py", "exec")
    except SyntaxError:
        hypothesis.reject()
    assert described(text) == told_by_python(text)


@pytest.mark.parametrize("name", SOURCES)
def test_a_name_is_among_what_reads_its_bindings(name):
    module = modules.Module("a.py", SOURCES[name])
    for node in module.of(ast.Name):
        if isinstance(node.ctx, ast.Load):
            assert node in module.references(module.scope(node), node.id), ast.dump(node)
