"""Which words of a code base may hold a name of TensorFlow that a rule asks for.

``config.size`` need not be followed through every call that hands on a config to learn that it is
no ``tf.contrib.size``: it cannot be one unless such a name of TensorFlow is assigned to, passed as,
or returned by something that is called ``config`` or ``size``. Words are followed, whatever they
mean where they stand: too many rather than too few.
"""

from __future__ import annotations

import ast
import functools
from typing import Any, Callable, Iterable, Iterator

from tpudist import surfaces
from tpudist.surfaces.eras import walks
from tpudist.surfaces.eras.names import is_first_generation, without_compat
from tpudist.tools.migrate import rules
from tpudist.tools.migrate.resolution import builtin_calls, scopes, tensorflow_names

#: What stands for a name of TensorFlow that a rule asks for.
_TENSORFLOW = "tensorflow!"
#: Functions that give back what they are given, or what is in it.
_GIVING_BACK = frozenset(
    """SimpleNamespace append attrgetter cache copy deepcopy dict enumerate filter get getattr
    globals iter list locals map namedtuple next nullcontext partial pop reversed setattr sorted
    tuple vars wraps zip""".split()
)
_IMPORTING = (*builtin_calls.IMPORTING, "__import__")
#: Functions that call the first of what they are given with the rest.
_CALLING = {"filter", "map", "partial", *(name for _, name in tensorflow_names.CALLBACKS)}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
#: The nodes that assign, in one way or another.
_FLOWING = (
    *(ast.Assign, ast.AnnAssign, ast.AugAssign, ast.For, ast.AsyncFor, ast.comprehension),
    *(ast.withitem, ast.keyword, ast.Call, *_FUNCTIONS),
    *([ast.NamedExpr] if hasattr(ast, "NamedExpr") else []),
)


class WordFlow:
    """Data flow between the words of a code base, collected file by file.

    A word is a variable, ``path:name``, or an attribute, ``.name``, of whatever object.

    Attributes:
      legacy: the files that name what a rule asks for below an import of TensorFlow.
      everywhere: whether any word may hold one: ``from tensorflow import *``.
    """

    def __init__(self) -> None:
        self.everywhere = False
        self._edges: dict[str, set[str]] = {}
        self._parameters: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
        self._calls: set[tuple[str, str, int | str]] = set()
        self._stars: dict[str, list[str]] = {}
        self._holding: set[str] = set()
        self._words: dict[str, frozenset[str]] = {}
        self.legacy: set[str] = set()

    def take(self, path: str, nodes: walks.Nodes, find: Callable[[str, int], str | None]) -> None:
        """Collects from a file.

        Args:
          path: the file.
          nodes: all its nodes, the module first.
          find: the file that a module and a number of leading dots mean in an import, or None.
        """
        file = _File(path, roots(nodes.of(*walks.IMPORTS)))
        self.everywhere = self.everywhere or "*" in file.roots
        for word, below in file.roots.items():
            if _is_followed(below):
                self._connect([_TENSORFLOW], [path + ":" + word, "." + word])
        self._words[path] = frozenset(file.own_words(nodes))
        if any(map(file.is_legacy, nodes.of(ast.Attribute, ast.Name))):
            self.legacy.add(path)
        for name in _of_bodies(nodes):
            self._connect([path + ":" + name], ["." + name])
        for node in nodes.of(*_FLOWING):
            for sources, targets in file.flows(node):
                self._connect(sources, targets)
        for node, function in _returns(nodes):
            names = [path + ":" + function.name, "." + function.name]
            self._connect(file.words(node.value), names)
        for node in nodes.of(ast.Call):
            self._take_call(file, node)
        for node in nodes.of(ast.ClassDef):
            for each in node.body:
                if type(each) is ast.FunctionDef and each.name == "__init__":
                    self._take_parameters(node.name, path, each)
        for node in nodes.of(ast.FunctionDef, ast.AsyncFunctionDef):
            self._take_parameters(node.name, path, node)
        for node in nodes.of(ast.ImportFrom):
            self._take_import(path, node, find)

    def _connect(self, sources: Iterable[str], targets: Iterable[str]) -> None:
        targets = list(targets)
        for each in sources if targets else ():
            self._edges.setdefault(each, set()).update(targets)

    def _take_import(self, path: str, node: ast.ImportFrom, find: Any) -> None:
        module = find(node.module or "", node.level)
        for alias in node.names if module else ():
            if alias.name == "*":
                self._stars.setdefault(module, []).append(path)
            else:
                bound = path + ":" + (alias.asname or alias.name)
                self._connect(["%s:%s" % (module, alias.name)], [bound])

    def _take_call(self, file: _File, node: ast.Call) -> None:
        name = walks.last_word(node.func)
        for index, value in enumerate(node.args):
            words = list(file.words(value))
            self._take_argument(words, name, -1 if type(value) is ast.Starred else index)
            if name in _CALLING and index:  # map(f, values), strategy.run(f, args)
                self._take_argument(words, walks.last_word(node.args[0]), -1)
                if type(node.args[0]) is ast.Lambda:
                    own = [file.path + ":" + each.arg for each in node.args[0].args.args]
                    self._connect(words, own)
        for each in node.keywords:
            words = list(file.words(each.value))
            self._take_argument(words, name, each.arg or -1)
            if name in _CALLING and node.args:
                self._take_argument(words, walks.last_word(node.args[0]), -1)
        if name == "namedtuple" and len(node.args) > 1:
            texts = [text for each in node.args for text in _texts(each)]
            fields = tuple(" ".join(texts[1:]).replace(",", " ").split())
            self._parameters.setdefault("".join(texts[:1]), []).append(("", fields))

    def _take_argument(self, words: Iterable[str], name: str, index: int | str) -> None:
        self._calls |= {(word, name, index) for word in words}

    def _take_parameters(self, name: str, path: str, function: Any) -> None:
        arguments = function.args
        every = [*getattr(arguments, "posonlyargs", ()), *arguments.args, *arguments.kwonlyargs]
        names = tuple(each.arg for each in every)
        self._parameters.setdefault(name, []).append((path + ":", names))

    def settle(self) -> None:
        """Follows the words, once all files were taken."""
        for word, name, index in self._calls:
            for start, names in self._parameters.get(name, ()):
                if isinstance(index, str):
                    given: Iterable[str] = [index] if index in names else []
                else:
                    given = names if index < 0 else names[index : index + 2]
                self._connect([word], [(start or ".") + each for each in given])
        todo = [_TENSORFLOW]
        while todo:
            word = todo.pop()
            path, _, name = word.rpartition(":")
            starred = [each + ":" + name for each in self._stars.get(path, ())]
            for each in (*self._edges.get(word, ()), *starred):
                if each not in self._holding:
                    self._holding.add(each)
                    todo.append(each)
        self._edges, self._parameters, self._calls, self._stars = {}, {}, set(), {}

    def has_word(self, path: str) -> bool:
        """Whether a file has a word that may hold a name of TensorFlow, and has not imported it."""
        return self.everywhere or not self._holding.isdisjoint(self._words.get(path, ()))

    def may_hold(self, path: str, node: Any) -> bool:
        """Whether a Name or Attribute of a file may be, or be below, a name of TensorFlow.

        What is below an import of TensorFlow itself is not asked here.
        """
        while not self.everywhere:
            kind = type(node)
            if kind is ast.Attribute:
                if "." + node.attr in self._holding:
                    return True
                node = node.value
            elif kind is ast.Name:
                return path + ":" + node.id in self._holding
            elif kind is ast.Call and walks.last_word(node.func) not in _GIVING_BACK:
                node = node.func
            elif kind is ast.Subscript:
                node = node.value
            else:
                return True
        return True


class _File:
    """The data flow that the statements of one file make.

    Args:
      path: the file.
      roots: as of `roots`.
    """

    def __init__(self, path: str, names: dict[str, str]) -> None:
        self.path, self.roots = path, names

    def own_words(self, nodes: walks.Nodes) -> Iterator[str]:
        """The words that stand in the file, but for what an import of TensorFlow binds."""
        yield from ("." + node.attr for node in nodes.of(ast.Attribute))
        for node in nodes.of(ast.Name):
            if node.id not in self.roots:
                yield self.path + ":" + node.id

    def flows(self, node: Any) -> Iterator[tuple[list[str], list[str]]]:
        """Yields (words that a statement reads, words that it assigns them to)."""
        kind = type(node)
        if kind in (ast.Assign, ast.AnnAssign, ast.AugAssign) or kind.__name__ == "NamedExpr":
            if node.value is not None:
                every = node.targets if kind is ast.Assign else [node.target]
                yield self._of(node.value), [word for each in every for word in self._stored(each)]
        elif kind in (ast.For, ast.AsyncFor, ast.comprehension):
            yield self._of(node.iter), list(self._stored(node.target))
        elif kind is ast.withitem and node.optional_vars is not None:
            every = [node.context_expr, *getattr(node.context_expr, "args", ())]
            words = [word for each in every for word in self.words(each)]
            yield words, list(self._stored(node.optional_vars))
        elif kind is ast.keyword and node.arg:
            yield self._of(node.value), ["." + node.arg]
        elif kind in _FUNCTIONS:
            yield from self._defaults(node)
        elif kind is ast.Call and walks.last_word(node.func) in _GIVING_BACK:
            names = [text for each in node.args for text in _texts(each) if text.isidentifier()]
            targets = [start + name for name in names for start in (self.path + ":", ".")]
            if type(node.func) is ast.Attribute:  # items.append(tf)
                targets += self._stored(node.func.value)
            yield [word for each in node.args for word in self.words(each)], targets

    def _of(self, node: Any) -> list[str]:
        return list(self.words(node))

    def _defaults(self, node: Any) -> Iterator[tuple[list[str], list[str]]]:
        every = [*getattr(node.args, "posonlyargs", ()), *node.args.args]
        pairs = list(zip(every[::-1], node.args.defaults[::-1]))
        pairs += zip(node.args.kwonlyargs, node.args.kw_defaults)
        for parameter, default in pairs:
            if default is not None:
                yield self._of(default), [self.path + ":" + parameter.arg]

    def _stored(self, target: Any) -> Iterator[str]:
        """The words that an assignment to a target changes."""
        kind = type(target)
        if kind is ast.Name:
            yield self.path + ":" + target.id
        elif kind is ast.Attribute:
            yield "." + target.attr
        elif kind in (ast.Subscript, ast.Starred):
            yield from self._stored(target.value)
            if kind is ast.Subscript:
                for text in _texts(walks.index_of(target)):
                    yield from (self.path + ":" + text, "." + text)
        else:
            for each in getattr(target, "elts", ()):
                yield from self._stored(each)

    def words(self, node: Any) -> Iterator[str]:
        """The words that the value of an expression may come from."""
        kind = type(node)
        if kind in (ast.Name, ast.Attribute):
            yield from self._of_name(node)
        elif kind is ast.Call:
            name = walks.last_word(node.func)
            if getattr(_chain(node.func)[0], "id", None) not in self.roots:
                yield from self.words(node.func)  # what TensorFlow returns is an object
            if name in _GIVING_BACK or "lazy" in name.lower() or name in _IMPORTING:
                for each in [*node.args, *(one.value for one in node.keywords)]:
                    yield from self.words(each)
                if any("tensorflow" in text for each in node.args for text in _texts(each)):
                    yield _TENSORFLOW
        elif kind is ast.Subscript:
            yield from self.words(node.value)
            if any("tensorflow" in text for text in _texts(walks.index_of(node))):
                yield _TENSORFLOW
        elif kind is ast.Dict:
            for each in node.values:
                yield from self.words(each)
        else:
            for field in ("elts", "values", "body", "orelse", "value", "elt"):
                inner = getattr(node, field, ())
                for each in inner if type(inner) is list else [inner]:
                    if isinstance(each, ast.expr):
                        yield from self.words(each)

    def is_legacy(self, node: Any) -> bool:
        """Whether a Name or Attribute is a name below TensorFlow that a rule asks for."""
        first, words = _chain(node)
        below = self.roots.get(first.id) if type(first) is ast.Name else None
        if below is None and getattr(first, "id", "") in ("tf", "tensorflow"):
            below = ""  # whatever it is, it is called so
        return below is not None and _is_legacy(".".join([below, *words]).strip("."))

    def _of_name(self, node: Any) -> Iterator[str]:
        first, words = _chain(node)
        if type(first) is ast.Name and first.id in self.roots:
            if _is_followed(".".join([self.roots[first.id], *words]).strip(".")):
                yield _TENSORFLOW
            return
        yield from ("." + word for word in words)
        if type(first) is ast.Name:
            yield self.path + ":" + first.id
        else:
            yield from self.words(first)


def _returns(nodes: walks.Nodes) -> Iterator[tuple[Any, Any]]:
    """(what returns or yields a value, the function that it stands in)."""
    functions = sorted(
        nodes.of(ast.FunctionDef, ast.AsyncFunctionDef), key=lambda each: -each.lineno
    )
    around: list[Any] = []
    values = [each for each in nodes.of(ast.Return, ast.Yield, ast.YieldFrom) if each.value]
    for node in sorted(values, key=lambda each: each.lineno):
        while functions and functions[-1].lineno <= node.lineno:
            around.append(functions.pop())
        while around and around[-1].end_lineno < node.lineno:
            around.pop()
        if around:
            yield node, around[-1]


def _of_bodies(nodes: walks.Nodes) -> Iterator[str]:
    """The names that a module and its classes themselves bind: others have them as attributes."""
    for node in nodes.of(ast.Module, ast.ClassDef):
        if node.body:
            todo = list(node.body)
            while todo:
                each = todo.pop()
                if type(each) is ast.Name and type(each.ctx) is ast.Store:
                    yield each.id
                elif type(each) is ast.ImportFrom:
                    yield from (alias.asname or alias.name for alias in each.names)
                if type(each) not in (*_FUNCTIONS, ast.ClassDef):
                    todo += scopes.children(each)


def _texts(node: Any) -> Iterator[str]:
    """The text of a literal; nothing of anything else."""
    text = walks.text(node)
    if text is not None:
        yield text


def _chain(node: Any) -> tuple[Any, list[str]]:
    """(what ``a.b.c`` begins with, ["b", "c"])."""
    words: list[str] = []
    while type(node) is ast.Attribute:
        words.insert(0, node.attr)
        node = node.value
    return node, words


def roots(nodes: Iterable[Any], with_compat: bool = True) -> dict[str, str]:
    """{word: the name below ``tf`` that an import of TensorFlow binds it to}; "*" for a star.

    Args:
      nodes: those of a file.
      with_compat: whether those of ``tf.compat`` and of tpudist's namespaces are among them.
    """
    found: dict[str, str] = {}
    for node in nodes:
        if type(node) is ast.Import:
            for alias in node.names:
                full = alias.name if alias.asname else alias.name.split(".")[0]
                below = tensorflow_names.below_tensorflow(full)
                if below is not None and (with_compat or _is_plain(full)):
                    found[alias.asname or full] = below
        elif type(node) is ast.ImportFrom and not node.level:
            for alias in node.names:
                full = "%s.%s" % (node.module, alias.name)
                below = tensorflow_names.below_tensorflow(
                    full if alias.name != "*" else node.module or ""
                )
                if below is not None and (with_compat or _is_plain(full)):
                    found[alias.asname or alias.name] = below
    return found


def _is_plain(full: str) -> bool:
    return full.startswith("tensorflow") and ".compat" not in full


@functools.lru_cache(maxsize=None)
def _asked(*without: str) -> frozenset[str]:
    """The names below ``tf`` that the rules ask for, but for those of some rules."""
    every = (rule for rule in rules.load() if rule.name not in without)
    return frozenset(name for rule in every for kind, name in rule.uses if kind == "tf")


@functools.lru_cache(maxsize=None)
def _followed() -> frozenset[str]:
    """The names below ``tf`` that are followed: modules and classes with names that are asked for.

    Of names themselves only those that a rule rewrites: others are told where they stand.
    """
    names = {*_asked(), *surfaces.FIRST_GENERATION, *surfaces.GONE_TODAY, *surfaces.RENAMED_TODAY}
    names.update(module + ".*" for module in surfaces.contrib_modules())
    parts = [name.split(".") for name in names]
    above = {".".join(each[:end]) for each in parts for end in range(len(each))}
    return _asked("changed-names", "gone-names", "gone-by-2-2", "sessions") | above


@functools.lru_cache(maxsize=4000)
def _is_followed(dotted: str) -> bool:
    return dotted.partition(".")[0] == "compat" or without_compat(dotted) in _followed()


@functools.lru_cache(maxsize=4000)
def _is_legacy(dotted: str) -> bool:
    """Whether a rule asks for a name below ``tf``, or for what calling it gives."""
    plain = without_compat(dotted)
    return (
        plain in _asked()
        or plain.partition(".")[0] in ("contrib", "keras", "python", "core")
        or is_first_generation(plain)
        or surfaces.gone_today(plain) is not None
        or tensorflow_names.result_of(plain) is not None
    )
