"""Collects the names in a file that are evidence of an era, or of a graph."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any, Iterator, NamedTuple

from tpudist import surfaces
from tpudist.surfaces.eras import local_names, names, walks

if TYPE_CHECKING:
    from typing import Callable, Iterable, Sequence

#: An import of one of tpudist's drop-in namespaces: the file says its era.
STATED = "stated"
#: A name of the table, or of ``tf.contrib``.
SURFACE = "surface"
#: Another name that only TensorFlow 1 has.
FIRST_GENERATION = "first generation"
#: A name that only TensorFlow 2 has; it is no evidence of an era of strategies.
SECOND_GENERATION = "second generation"
#: A name that works in a graph only, though ``tf.compat.v1`` has kept it.
GRAPH = "graph"
#: A name below ``tf.compat.v2``: who writes it has TensorFlow 2 in mind.
COMPAT_V2 = "tf.compat.v2"
#: A name by which a program itself chooses between graphs and eager execution.
MODE = "mode"

#: Where a name stands: in the script itself; in another file; only where the program finds that
#: there is such a name, or in a function of the script that nothing calls; in one of another file.
OF_SCRIPT, CALLED, ASIDE, UNCALLED = range(4)


class Evidence(NamedTuple):
    """A name that is evidence of an era.

    Args:
      name: as in the source, with the ``tf`` it was imported by.
      eras: the eras whose own it is, oldest first; empty for a MODE, a COMPAT_V2 or a
        SECOND_GENERATION.
      path, line: where it stands.
      kind: STATED, SURFACE, FIRST_GENERATION, SECOND_GENERATION, GRAPH, COMPAT_V2 or MODE.
      guarded: whether the program first asks if there is such a name, or which
        release it runs on.
      place: OF_SCRIPT, CALLED, ASIDE or UNCALLED: where in a program it stands.
    """

    name: str
    eras: tuple[str, ...]
    path: str
    line: int
    kind: str
    guarded: bool
    place: int = CALLED


_GRAPH_ONLY = frozenset(
    ["placeholder", "placeholder_with_default", "data.make_initializable_iterator"]
    + ["train.MonitoredTrainingSession", "train.SingularMonitoredSession"]
)
#: Eager programs make one too, to configure Keras' use of a GPU: only a file
#: whose ``tf`` is ``tf.compat.v1`` builds its graph for it.
_SESSIONS = frozenset(["Session", "InteractiveSession"])
_MODES = frozenset(
    ["Graph", "function", "disable_eager_execution", "disable_v2_behavior"]
    + ["enable_eager_execution", "enable_v2_behavior"]
)
_VERSION = re.compile(r"version|^(is_|use_)?tf_?[12]$|^(is|use)_(tf_?)?v?[12](_|$)", re.IGNORECASE)
_ASKING = ("hasattr", "getattr")
_ABSENT = {"AttributeError", "ImportError", "ModuleNotFoundError"}


class Uses(NamedTuple):
    """The names of TensorFlow in a file: evidence, in reading order, and (name, line) of all."""

    evidence: list[Evidence]
    names: list[tuple[str, int]]


def uses(nodes: walks.Nodes, path: str, bindings: local_names.Bindings | None = None) -> Uses:
    """The `Uses` of a file, by its nodes, as of `walks.nodes`, and its path.

    `bindings` says what its local names mean, if that is known.
    """
    found = _Uses(nodes, path, bindings)
    names_ = sorted(found.names, key=lambda each: each[1])
    return Uses(sorted(found.found, key=lambda each: each.line), names_)


class _Uses:
    """Collects the evidence and the names in a file."""

    def __init__(
        self, nodes: walks.Nodes, path: str, bindings: local_names.Bindings | None = None
    ) -> None:
        self._nodes, self._path = nodes, path
        self._bindings = bindings or local_names.Bindings(nodes)
        self._dotted = self._bindings.dotted_names.get
        self._asking = frozenset(_asking_what_there_is(nodes))
        self._guarded: set[Any] = set()
        self._is_guarded = False
        self.found: list[Evidence] = []
        self.names: list[tuple[str, int]] = []
        for dotted, line in self._bindings.starred:
            self._name(dotted, line)
        inner: set[Any] = set()  # of names that were taken as a whole
        for kind, method in _TAKEN.items():
            for node in self._nodes.of(kind):
                if node not in inner:
                    self._is_guarded = node in self._guarded
                    inner.update(method(self, node) or ())

    def _import(self, node: ast.Import) -> None:
        for alias in node.names:
            self._imported(alias.name, node.lineno)

    def _import_from(self, node: ast.ImportFrom) -> None:
        for alias in () if node.level else node.names:
            self._imported(local_names.joined(node.module, alias.name), node.lineno)

    def _take_attribute(self, node: ast.Attribute) -> Iterable[Any]:
        """Records an Attribute; returns the Attributes inside it, if it is a name of TensorFlow."""
        inner: list[ast.Attribute] = []
        if self._attribute(node.value, node.attr, node.lineno):
            while isinstance(node.value, ast.Attribute):
                node = node.value
                inner.append(node)
        return inner

    def _call(self, node: ast.Call) -> None:
        asked = (walks.text(node.args[1]) or "") if len(node.args) > 1 else ""
        if walks.last_word(node.func) in _ASKING and asked.isidentifier():
            self._is_guarded = self._is_guarded or not self._must_be_there(node, asked)
            self._attribute(node.args[0], asked, node.lineno)
        elif type(node.func) is ast.Attribute and node.func.attr == "get" and len(node.args) == 1:
            self._member(node.func.value, walks.text(node.args[0]) or "", node.lineno)

    def _must_be_there(self, call: ast.Call, name: str) -> bool:
        """Whether a call raises where there is no such name, and only TensorFlow 1 has it."""
        owner = None if len(call.args) > 2 else self._dotted(call.args[0])
        if owner is None or walks.last_word(call.func) != "getattr":
            return False
        dotted = local_names.joined(owner, name)
        return names.is_first_generation(dotted) and not dotted.startswith("contrib")

    def _subscript(self, node: ast.Subscript) -> None:
        self._member(node.value, walks.text(walks.index_of(node)) or "", node.lineno)

    def _member(self, members: object, name: str, line: int) -> None:
        """Records ``tf.__dict__["name"]`` and ``vars(tf)["name"]`` of names of TensorFlow 1."""
        owner = walks.owner_of_members(members) if name else None
        dotted = self._dotted(owner)
        if dotted is not None and names.is_first_generation(local_names.joined(dotted, name)):
            self._name(local_names.joined(dotted, name), line)

    def _condition(self, node: ast.expr | ast.If) -> None:
        test = getattr(node, "test", node)
        if self._asking and not self._asking.isdisjoint(walks.nodes(test).every()):
            self._guarded.update(walks.nodes(node).every())

    def _try(self, node: ast.Try) -> None:
        caught = {walks.last_word(each) for handler in node.handlers for each in _types(handler)}
        if caught & _ABSENT:
            self._guarded.update(walks.nodes(node).every())

    def _imported(self, full: str, line: int) -> None:
        first, _, rest = full.partition(".")
        if first == "tpudist" and rest.partition(".")[0] in surfaces.ERAS:
            era = rest.partition(".")[0]
            self._add("tpudist." + era, (era,), line, STATED)
        elif first == "tensorflow":
            self._name(rest, line)

    def _attribute(self, owner: object, name: str, line: int) -> bool:
        """Records ``owner.name``; returns whether it is a name of TensorFlow."""
        start = self._dotted(owner)
        if start is not None:
            self._name(local_names.joined(start, name), line)
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

    def _name(self, dotted: str, line: int) -> None:
        eras, plain = names.eras_of_name(dotted), names.without_compat(dotted)
        self.names.append((plain, line))
        if eras:
            first = names.is_first_generation(dotted) and not dotted.startswith("contrib")
            self._add("tf." + dotted, eras, line, FIRST_GENERATION if first else SURFACE)
        elif names.is_second_generation(dotted):
            self._add("tf." + dotted, (), line, SECOND_GENERATION)
        if dotted.startswith("compat.v2"):
            self._add("tf." + dotted, (), line, COMPAT_V2)
        if plain in _MODES:
            self._add("tf." + dotted, (), line, MODE)
        is_v1 = self._bindings.tensorflow.get("tf") == "compat.v1"
        if plain != dotted and (plain in _GRAPH_ONLY or is_v1 and plain in _SESSIONS):
            self._add("tf." + dotted, ("contrib",), line, GRAPH)

    def _add(self, name: str, eras: tuple[str, ...], line: int, kind: str) -> None:
        self.found.append(Evidence(name, eras, self._path, line, kind, self._is_guarded))


#: What asks which names there are comes before those.
_TAKEN: dict[type, Callable[..., Any]] = {
    ast.If: _Uses._condition, ast.IfExp: _Uses._condition, ast.BoolOp: _Uses._condition,
    ast.Try: _Uses._try, ast.Import: _Uses._import, ast.ImportFrom: _Uses._import_from,
    ast.Call: _Uses._call, ast.Attribute: _Uses._take_attribute,
    ast.Subscript: _Uses._subscript,
}  # fmt: skip


def _asking_what_there_is(nodes: walks.Nodes) -> Iterator[Any]:
    """Yields what tests for a name or a release, such as ``hasattr`` and "version"."""
    versions = set(filter(_VERSION.search, nodes.words))
    if versions:
        names = nodes.of(ast.Name, ast.Attribute)
        yield from (each for each in names if walks.last_word(each) in versions)
    if not nodes.words.isdisjoint(_ASKING):
        yield from (each for each in nodes.of(ast.Call) if walks.last_word(each.func) in _ASKING)


def _types(handler: ast.ExceptHandler) -> Sequence[ast.expr | None]:
    return handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
