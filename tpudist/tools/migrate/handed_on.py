"""Where a file hands on names of TensorFlow that a rule asks for: to variables, parameters, ...

A name that is called where it stands goes nowhere. What is told here is of words, and never
too little: each way by which `resolution.evaluate` follows a value is one here. A word
stands for a variable of that name, ``.word`` for an attribute. Each stands for what it is, and
``f()`` for what calling it gives: ``model_fn=slim.nets.vgg`` has calls of ``model_fn`` give no
name of TensorFlow.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from tpudist.surfaces.eras import walks
from tpudist.tools.migrate.asked_names import is_asked_for
from tpudist.tools.migrate.resolution import tensorflow_names

if TYPE_CHECKING:
    from typing import AbstractSet, Iterable, Iterator, Mapping

    from tpudist.tools.migrate.asked_names import Asked

    #: {word: dotted names below ``tf`` that it is imported as}
    Bound = Mapping[str, set[str]]
    #: By how many calls a name comes out of an expression: some of `CALLS`.
    Kinds = AbstractSet[str]

#: What TensorFlow is called, wherever it comes from.
ROOTS = ("tf", "tensorflow")
#: What follows a word: it is a name itself, calling it gives one, or calling what that gives.
CALLS = ("", "()", "()()")
_NOTHING: Kinds = frozenset()
_ITSELF: Kinds = frozenset([""])
#: More words than that after dots are no name: to look from each of them takes hours.
_BELOW = r"(?:\s*\.\s*\w+){0,50}"
_NOT_CALLED = r"%%s\b(?<!\w%%s)(?<!import %%s)(?<!\bas %%s)(?<!from %%s)(%s)(?!\w|\s*[.(])" % _BELOW
_GOING_ON = r"(?:\s*\((?!\s*\)(?:\s*\.\s*\w+){1,50}\s*\()|\s+as\b|%s(?!\w|\s*[.(]))"
_NAMING = ("import ", "from ", "def ")
GIVING_BACK = frozenset("getattr next iter reversed tuple sorted enumerate zip".split())
_READING = frozenset(["values", "items"])
_CALLBACKS = frozenset(name for _, name in tensorflow_names.CALLBACKS)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_NAMED = getattr(ast, "NamedExpr", ast.Assign)  # Python 3.8


class Handed(NamedTuple):
    """Where names of TensorFlow go in a file, by words.

    Args:
      names: its variables and parameters.
      shared: those that other files may import.
      anywhere: attributes, and methods that return one.
      called: functions that get one, in which place or by which keyword, and by which of `CALLS`.
      unknown: whether one goes where no word tells.
    """

    names: set[str]
    shared: set[str]
    anywhere: set[str]
    called: set[tuple[str, int | str, str]]
    unknown: bool


def plain(word: str) -> str:
    """A word, without the `CALLS` after it and the dot before it."""
    return word.lstrip(".").partition("(")[0]


def may_hand_on(text: str, bound: Bound, asked: Asked = is_asked_for) -> bool:
    """Whether a name that a rule asks for stands in a file without being called.

    Args:
      text: the file's source.
      bound: the words that it knows TensorFlow's names by.
      asked: tells such a name.
    """
    return any(True for _ in standing(text, bound, asked))


def standing(text: str, bound: Bound, asked: Asked) -> Iterator[tuple[str, re.Match[str]]]:
    """(a name that a rule asks for, where it stands without being called), as of `may_hand_on`."""
    for word, names in bound.items():
        pattern = _NOT_CALLED % ((re.escape(word),) * 5)
        for match in re.finditer(pattern, text):
            rest = re.sub(r"\s", "", match.group(1))
            for name in names:
                if asked((name + rest).strip(".")):
                    yield (name + rest).strip("."), match


def may_be_handed_on(text: str, word: str) -> bool:
    """Whether a word that may stand for any name, or a function that returns one, goes on.

    ``word().a()`` hands on what a function of TensorFlow gives: that is no name.
    """
    name, is_attribute = re.escape(plain(word)), word.startswith(".")
    start = r"\.\s*%s\b" % name if is_attribute else r"%s\b(?<!\w%s)" % (name, name)
    pattern = start + _GOING_ON % ("" if word.endswith(CALLS[1]) else _BELOW)
    return any(
        each.group().endswith("as") or not text.endswith(_NAMING, 0, each.start())
        for each in re.finditer(pattern, text)
    )


def found(
    nodes: walks.Nodes, bound: Bound, hot: Iterable[str], asked: Asked = is_asked_for
) -> Handed:
    """Where names that a rule asks for go in a file.

    Args:
      nodes: all its nodes, as of `tpudist.surfaces.eras.walks.nodes`.
      bound: the words that it knows TensorFlow's names by.
      hot: other words that may stand for one.
      asked: as of `may_hand_on`.
    """
    return _Finder(nodes, bound, set(hot), asked).found()


class _Finder:
    def __init__(self, nodes: walks.Nodes, bound: Bound, hot: set[str], asked: Asked) -> None:
        self._bound, self._hot, self._asked = bound, hot, asked
        self._nodes = [node for node in nodes if type(node) in _METHODS]
        self._handed = Handed(set(), set(), set(), set(), False)
        self._returned: set[tuple[int, Kinds]] = set()
        self._unknown = False
        self._in_classes = {id(each) for node in nodes.of(ast.ClassDef) for each in _own(node.body)}
        self._at_top = {id(each) for each in _own(nodes[0].body)}
        self._global = {name for node in nodes.of(ast.Global) for name in node.names}

    def found(self) -> Handed:
        size = -1
        while len(self._hot) > size:
            size = len(self._hot)
            for node in self._nodes:
                _METHODS[type(node)](self, node)
        return self._handed._replace(unknown=self._unknown)

    # Where it goes.

    def _assign(self, node: Any) -> None:
        kinds = _NOTHING if node.value is None else self._kinds(node.value)
        if kinds:
            self._put(node.targets if type(node) is ast.Assign else [node.target], node, kinds)

    def _loop(self, node: Any) -> None:
        kinds = self._items(node.iter)
        if kinds:
            self._put([node.target], node, kinds)

    def _put(self, targets: Iterable[ast.AST], statement: ast.AST, kinds: Kinds) -> None:
        is_whole = type(statement) not in (ast.Assign, ast.For, ast.AnnAssign, ast.AugAssign)
        for node in [each for target in targets for each in _targets(target)]:
            if type(node) is ast.Attribute:
                self._everywhere("." + node.attr, kinds)
            elif type(node) is ast.Name:
                self._name(node.id, is_whole or id(statement) in self._at_top, kinds)
                if id(statement) in self._in_classes:
                    self._everywhere("." + node.id, kinds)

    def _name(self, name: str, is_shared: bool, kinds: Kinds) -> None:
        words = {name + calls for calls in kinds}
        self._handed.names.update(words)
        if is_shared or name in self._global:
            self._handed.shared.update(words)
        self._hot |= words

    def _everywhere(self, word: str, kinds: Kinds) -> None:
        words = {word + calls for calls in kinds}
        self._handed.anywhere.update(words)
        self._hot |= words

    def _call(self, node: Any) -> None:
        function = node.func
        word = walks.last_word(function)
        if word and self._is_tensorflow(function):
            return
        for each in node.keywords if word else ():
            kinds = self._kinds(each.value)
            if kinds:
                self._handed.called.update((word, each.arg or "", calls) for calls in kinds)
                self._unknown = self._unknown or word in _CALLBACKS
        for index, each in enumerate(node.args if word else ()):
            kinds = self._kinds(each)
            if kinds:
                self._unknown = self._unknown or bool(index) and word in _CALLBACKS
                if word == "append" and type(function) is ast.Attribute:
                    self._put([function.value], node, kinds)
                elif word not in GIVING_BACK:
                    self._handed.called.update((word, index, calls) for calls in kinds)

    def _is_tensorflow(self, node: Any) -> bool:
        while type(node) is ast.Attribute:
            node = node.value
        return type(node) is ast.Name and node.id in self._bound and node.id not in self._hot

    def _function(self, node: Any) -> None:
        every = getattr(node.args, "posonlyargs", []) + node.args.args
        pairs = list(zip(every[::-1], node.args.defaults[::-1]))
        pairs += zip(node.args.kwonlyargs, node.args.kw_defaults)
        for parameter, default in pairs:
            if default is not None:
                self._name(parameter.arg, False, self._kinds(default))

    def _return(self, node: Any) -> None:
        kinds = _NOTHING if node.value is None else frozenset(self._kinds(node.value))
        if not kinds or (id(node), kinds) in self._returned:
            return
        self._returned.add((id(node), kinds))
        given = self._given(kinds)
        for function in self._nodes:
            if type(function) in _FUNCTIONS and _is_within(node, function):
                comes = given | kinds if function.decorator_list else given  # of a property
                self._name(function.name, id(function) in self._at_top, comes)
                if id(function) in self._in_classes:
                    self._everywhere("." + function.name, comes)

    def _given(self, kinds: Kinds) -> Kinds:
        """By how many calls a name comes out of a function that returns what has `kinds`."""
        self._unknown = self._unknown or CALLS[-1] in kinds
        return frozenset("()" + calls for calls in kinds if calls != CALLS[-1])

    # What it is.

    def _kinds(self, node: Any) -> Kinds:
        """By how many calls a name that a rule asks for may come out of an expression."""
        method = _FLOWING.get(type(node))
        return _NOTHING if method is None else method(self, node)

    def _any(self, *nodes: Any) -> Kinds:
        return _NOTHING.union(*[self._kinds(each) for each in nodes if each is not None])

    def _chain(self, node: Any) -> Kinds:
        words: list[str] = []
        while type(node) is ast.Attribute:
            words.insert(0, node.attr)
            node = node.value
        chain, inner = ["." + word for word in words], _NOTHING
        if type(node) is not ast.Name:
            inner = self._kinds(node)
        elif node.id in self._bound and self._hot.isdisjoint(node.id + calls for calls in CALLS):
            names = [".".join([name, *words]).strip(".") for name in self._bound[node.id]]
            return _ITSELF if any(map(self._asked, names)) else _NOTHING  # it is known
        elif any(
            word in ROOTS and self._asked(".".join(words[index + 1 :]))
            for index, word in enumerate(words)
        ):
            return _ITSELF
        else:
            chain.insert(0, node.id)
        if not self._hot:
            return _ITSELF & inner
        kinds = {calls for calls in CALLS if chain[-1] + calls in self._hot}
        return kinds | _ITSELF if "" in inner or not self._hot.isdisjoint(chain[:-1]) else kinds

    def _result(self, node: Any) -> Kinds:
        function = node.func
        word = walks.last_word(function)
        kinds = {calls[2:] for calls in self._kinds(function) if calls}
        if type(function) is ast.Name and word in GIVING_BACK:
            return self._any(*node.args).union(kinds)
        if type(function) is ast.Attribute and word in _READING:
            return self._items(function.value).union(kinds)
        return kinds

    def _items(self, node: Any) -> Kinds:
        """As `_kinds`, of what an expression holds: a name below TensorFlow holds none."""
        if type(node) not in (ast.Name, ast.Attribute):
            return self._kinds(node)
        word = node.id if type(node) is ast.Name else "." + node.attr
        return {calls for calls in CALLS if word + calls in self._hot}

    def _lambda(self, node: Any) -> Kinds:
        return self._given(self._kinds(node.body))


def _is_within(node: Any, function: Any) -> bool:
    """Whether a node stands in a function; Python 3.8 tells of most by their lines."""
    last = getattr(function, "end_lineno", node.lineno)
    if not function.lineno <= node.lineno <= last:
        return False
    return any(each is node for each in ast.walk(function))


def _targets(node: Any) -> Iterator[ast.AST]:
    """The Names and Attributes that are assigned to: whole, or an item."""
    kind = type(node)
    if kind in (ast.Name, ast.Attribute):
        yield node
    elif kind in (ast.Subscript, ast.Starred):
        yield from _targets(node.value)
    else:
        for each in getattr(node, "elts", ()):
            yield from _targets(each)


def _own(body: Iterable[Any]) -> Iterator[ast.AST]:
    """The statements of a class that stand in none of its methods."""
    for node in body:
        yield node
        for part in ("body", "orelse", "finalbody", "handlers"):
            if type(node) not in (*_FUNCTIONS, ast.ClassDef):
                yield from _own(getattr(node, part, ()))


_METHODS: dict[Any, Any] = {
    ast.Assign: _Finder._assign, ast.AnnAssign: _Finder._assign, ast.AugAssign: _Finder._assign,
    _NAMED: _Finder._assign, ast.For: _Finder._loop, ast.AsyncFor: _Finder._loop,
    ast.comprehension: _Finder._loop, ast.Call: _Finder._call, ast.Return: _Finder._return,
    ast.FunctionDef: _Finder._function, ast.AsyncFunctionDef: _Finder._function,
    ast.Lambda: _Finder._function,
}  # fmt: skip
_FLOWING: dict[Any, Any] = {
    ast.Name: _Finder._chain, ast.Attribute: _Finder._chain, ast.Call: _Finder._result,
    ast.Lambda: _Finder._lambda,
    ast.IfExp: lambda finder, node: finder._any(node.body, node.orelse),
    ast.BoolOp: lambda finder, node: finder._any(*node.values),
    ast.Starred: lambda finder, node: finder._kinds(node.value),
    ast.Subscript: lambda finder, node: finder._items(node.value),
    ast.List: lambda finder, node: finder._any(*node.elts),
    ast.Tuple: lambda finder, node: finder._any(*node.elts),
    ast.Set: lambda finder, node: finder._any(*node.elts),
    ast.Dict: lambda finder, node: finder._any(*node.values),
    ast.ListComp: lambda finder, node: finder._kinds(node.elt),
    ast.SetComp: lambda finder, node: finder._kinds(node.elt),
    ast.GeneratorExp: lambda finder, node: finder._kinds(node.elt),
    ast.DictComp: lambda finder, node: finder._kinds(node.value),
}  # fmt: skip
if _NAMED is not ast.Assign:
    _FLOWING[_NAMED] = lambda finder, node: finder._kinds(node.value)
