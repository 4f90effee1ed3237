"""The names in one file that tell an era, or that it builds a graph."""

import ast
import collections
import functools
import re

from tpudist import surfaces
from tpudist.eras import names, walks

#: An import of one of tpudist's drop-in namespaces: the file says its era.
STATED = "stated"
#: A name of the table, or of ``tf.contrib``.
SURFACE = "surface"
#: Another name that only TensorFlow 1 has.
FIRST_GENERATION = "first generation"
#: A name that only TensorFlow 2 has; it tells no era of strategies.
SECOND_GENERATION = "second generation"
#: A name that works in a graph only, though ``tf.compat.v1`` has kept it.
GRAPH = "graph"
#: A name by which a program itself chooses between graphs and eager execution.
MODE = "mode"

Evidence = collections.namedtuple("Evidence", "name eras path line kind guarded")
Evidence.__doc__ = """A name that tells an era.

Fields:
  name: as in the source, with the ``tf`` it was imported by.
  eras: the eras whose own it is, oldest first; empty for a MODE or a SECOND_GENERATION.
  path, line: where it stands.
  kind: STATED, SURFACE, FIRST_GENERATION, SECOND_GENERATION, GRAPH or MODE.
  guarded: whether the program first asks if there is such a name, or which
    release it runs on.
"""

_GRAPH_ONLY = frozenset(
    ["placeholder", "placeholder_with_default", "data.make_initializable_iterator"]
    + ["train.MonitoredTrainingSession", "train.SingularMonitoredSession"]
)
#: Eager programs make one too, to tell Keras how to use a GPU: only a file
#: whose ``tf`` is ``tf.compat.v1`` builds its graph for it.
_SESSIONS = frozenset(["Session", "InteractiveSession"])
_MODES = frozenset(
    ["Graph", "function", "disable_eager_execution", "disable_v2_behavior"]
    + ["enable_eager_execution", "enable_v2_behavior"]
)
#: What makes a strategy: a class, or ``get_strategy`` and its kin.
_STRATEGY = re.compile("Strategy(V[12])?$|get_(distribution_)?strategy$")
_VERSION = re.compile(r"version|^(is_|use_)?tf_?[12]$", re.IGNORECASE)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_ABSENT = {"AttributeError", "ImportError", "ModuleNotFoundError"}


def collect(tree, path):
    """The evidence in a file.

    Args:
      tree: its syntax tree.
      path: its path, for the Evidence.

    Returns:
      A list of Evidence in reading order.
    """
    return evidence_of(walks.nodes(tree), path)


def evidence_of(nodes, path):
    """As `collect`, of all nodes of a file, as of `walks.nodes`."""
    uses = _Uses(nodes, path)
    uses.take()
    return sorted(uses.found, key=lambda each: each.line)


def names_below_tensorflow(tree):
    """(dotted name below ``tf``, line) of each use of TensorFlow in a file."""
    uses = _Names(walks.nodes(tree), "")
    uses.take()
    return uses.names


class _Bindings:
    """Which local names are modules or names of TensorFlow, and which are strategies."""

    def __init__(self, nodes):
        self.tensorflow = {}
        self.strategies = set()
        self.starred = []
        for node in nodes:
            kind = type(node)
            if kind is ast.Import:
                self._import(node)
            elif kind is ast.ImportFrom:
                self._import_from(node)
            elif kind is ast.Assign:
                self._assign(node)
            elif kind in _FUNCTIONS and node.args.defaults:
                last = node.args.args[-len(node.args.defaults) :]
                for argument, value in zip(last, node.args.defaults):
                    self._stands_for(argument.arg, value)
        if "*" in self.tensorflow:
            self._star(nodes, self.tensorflow.pop("*"))

    def _star(self, nodes, full):
        """Takes names that nothing in the file binds for those of ``from tensorflow import *``."""
        loaded = [node for node in nodes if type(node) is ast.Name]
        bound = {node.id for node in loaded if not isinstance(node.ctx, ast.Load)}
        bound |= {getattr(node, "name", getattr(node, "arg", None)) for node in nodes}
        start = full.rpartition("*")[0]
        for node in loaded:
            if node.id not in bound and node.id not in self.tensorflow:
                self.starred.append((start + node.id, node.lineno))
        self.tensorflow.update((dotted.rpartition(".")[2], dotted) for dotted, _ in self.starred)

    def _import(self, node):
        for alias in node.names:
            below = _below_tensorflow(alias.name)
            if below is not None and alias.asname:
                self.tensorflow[alias.asname] = below
            elif alias.name.partition(".")[0] == "tensorflow":
                self.tensorflow["tensorflow"] = ""

    def _import_from(self, node):
        for alias in node.names:
            below = None if node.level else _below_tensorflow(_joined(node.module, alias.name))
            if below is not None:
                self.tensorflow[alias.asname or alias.name] = below

    def _assign(self, node):
        if isinstance(node.value, ast.Call) and _STRATEGY.search(walks.last_word(node.value.func)):
            self.strategies.update(walks.last_word(target) for target in node.targets)
        for target in node.targets:
            if isinstance(target, ast.Name):
                self._stands_for(target.id, node.value)
            elif isinstance(target, ast.Attribute):
                self._stands_for("." + target.attr, node.value)

    def _stands_for(self, name, value):
        """Notes that a name, or an attribute after a ".", is what a value is: a module."""
        module = _dotted(value, self.tensorflow)
        if module in surfaces.contrib_modules() or module in surfaces.first_modules():
            self.tensorflow.setdefault(name, module)


class _Uses:
    """Collects the evidence, knowing what the local names mean.

    Args:
      nodes: all nodes of a file, as of `walks.nodes`.
      path: its path.
    """

    def __init__(self, nodes, path):
        self._nodes, self._path = nodes, path
        self._bindings = _Bindings(nodes)
        self._guarded, self._is_guarded = set(), False
        self.found = []

    def take(self):
        """Goes through the nodes."""
        for dotted, line in self._bindings.starred:
            self._name(dotted, line)
        inner = set()  # of names that were taken as a whole
        for node in self._nodes:
            method = _TAKEN.get(type(node))
            if method is not None and node not in inner:
                self._is_guarded = node in self._guarded
                inner.update(method(self, node) or ())

    def _import(self, node):
        for alias in node.names:
            self._imported(alias.name, node.lineno)

    def _import_from(self, node):
        for alias in () if node.level else node.names:
            self._imported(_joined(node.module, alias.name), node.lineno)

    def _take_attribute(self, node):
        """Takes an Attribute; returns what it begins with, if it was a name of TensorFlow's."""
        whole = self._attribute(node.value, node.attr, node.lineno)
        return _chain(node.value) if whole else ()

    def _call(self, node):
        if _asks_for_a_name(node):
            text = walks.text(node.args[1]) or ""
            self._is_guarded = self._is_guarded or not self._must_be_there(node, text)
            self._attribute(node.args[0], text, node.lineno)
        elif walks.last_word(node.func) == "get" and len(node.args) == 1:
            self._member(node.func.value, walks.text(node.args[0]) or "", node.lineno)

    def _must_be_there(self, call, name):
        """Whether a call fails without a name, which is one of TensorFlow 1 alone."""
        owner = None if len(call.args) > 2 else self._dotted(call.args[0])
        if owner is None or walks.last_word(call.func) != "getattr":
            return False
        dotted = _joined(owner, name)
        return names.is_first_generation(dotted) and not dotted.startswith("contrib")

    def _subscript(self, node):
        self._member(node.value, walks.text(walks.index_of(node)) or "", node.lineno)

    def _member(self, members, name, line):
        """Notes ``tf.__dict__["name"]`` and ``vars(tf)["name"]`` of names of TensorFlow 1."""
        owner = walks.owner_of_members(members) if name else None
        dotted = self._dotted(owner) if owner is not None else None
        if dotted is not None and names.is_first_generation(_joined(dotted, name)):
            self._name(_joined(dotted, name), line)

    def _condition(self, node):
        asked = walks.nodes(getattr(node, "test", node))
        if any(_asks_what_there_is(each) for each in asked):
            self._guarded.update(walks.nodes(node))

    def _try(self, node):
        caught = {walks.last_word(each) for handler in node.handlers for each in _types(handler)}
        if caught & _ABSENT:
            self._guarded.update(walks.nodes(node))

    def _imported(self, full, line):
        first, _, rest = full.partition(".")
        if first == "tpudist" and rest.partition(".")[0] in surfaces.ERAS:
            era = rest.partition(".")[0]
            self._add("tpudist." + era, (era,), line, STATED)
        elif first == "tensorflow":
            self._name(rest, line)

    def _attribute(self, owner, name, line):
        """Notes ``owner.name``; whether that was a name of TensorFlow's."""
        start = self._dotted(owner)
        if start is not None:
            self._name(_joined(start, name), line)
            return True
        receiver = walks.last_word(owner)
        if receiver in self._bindings.strategies:
            receiver = "strategy"
        eras = names.eras_of_member(name, receiver)
        if eras:
            self._add("." + name, eras, line, SURFACE)
        elif name == "make_initializable_iterator":
            self._add("." + name, ("contrib",), line, GRAPH)
        return False

    def _name(self, dotted, line):
        eras, plain = names.eras_of_name(dotted), names.without_compat(dotted)
        if eras:
            first = names.is_first_generation(dotted) and not dotted.startswith("contrib")
            self._add("tf." + dotted, eras, line, FIRST_GENERATION if first else SURFACE)
        elif names.is_second_generation(dotted):
            self._add("tf." + dotted, (), line, SECOND_GENERATION)
        if plain in _MODES:
            self._add("tf." + dotted, (), line, MODE)
        elif plain != dotted and (plain in _GRAPH_ONLY or self._is_session(plain)):
            self._add("tf." + dotted, ("contrib",), line, GRAPH)

    def _is_session(self, plain):
        return plain in _SESSIONS and self._bindings.tensorflow.get("tf") == "compat.v1"

    def _add(self, name, eras, line, kind):
        self.found.append(Evidence(name, eras, self._path, line, kind, self._is_guarded))

    def _dotted(self, node):
        return _dotted(node, self._bindings.tensorflow)


class _Names(_Uses):
    """Collects all names of TensorFlow's, whatever they tell."""

    def __init__(self, nodes, path):
        super().__init__(nodes, path)
        self.names = []

    def _name(self, dotted, line):
        self.names.append((names.without_compat(dotted), line))


_TAKEN = {
    ast.Import: _Uses._import, ast.ImportFrom: _Uses._import_from, ast.Call: _Uses._call,
    ast.Attribute: _Uses._take_attribute, ast.Subscript: _Uses._subscript,
    ast.If: _Uses._condition, ast.IfExp: _Uses._condition, ast.BoolOp: _Uses._condition,
    ast.Try: _Uses._try,
}  # fmt: skip


def _chain(node):
    """Yields the Attributes that ``a.b.c`` begins with."""
    while isinstance(node, ast.Attribute):
        yield node
        node = node.value


def _below_tensorflow(full):
    """The dotted name below ``tf`` that a full name means, or None."""
    parts = full.split(".")
    if parts[0] == "tensorflow":
        return ".".join(parts[2:] if parts[1:2] == ["google"] else parts[1:])
    if parts[0] == "tpudist" and len(parts) > 2 and parts[1] in surfaces.ERAS:
        return ".".join(parts[3:]) if parts[2] == "tensorflow" else None
    return None


def _dotted(node, tensorflow):
    """The dotted name below ``tf`` of ``a.b.c``, None if no part of it is one of TensorFlow's."""
    words, held = [], None
    while isinstance(node, ast.Attribute):
        if "." + node.attr in tensorflow:
            held = _joined(tensorflow["." + node.attr], *words[::-1])
        words.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in tensorflow:
        return held
    return _joined(tensorflow[node.id], *words[::-1])


def _asks_for_a_name(call):
    return (
        walks.last_word(call.func) in ("hasattr", "getattr")
        and len(call.args) > 1
        and (walks.text(call.args[1]) or "").isidentifier()
    )


def _asks_what_there_is(node):
    if type(node) is ast.Call:
        return walks.last_word(node.func) in ("hasattr", "getattr")
    return type(node) in (ast.Name, ast.Attribute) and _is_version(walks.last_word(node))


@functools.lru_cache(maxsize=2000)
def _is_version(word):
    return bool(_VERSION.search(word))


def _types(handler):
    return handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]


def _joined(*parts):
    return ".".join(part for part in parts if part)
