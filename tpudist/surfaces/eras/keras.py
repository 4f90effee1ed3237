"""Finds where a program names Keras, and whether it trains by it in a graph of TensorFlow 1.

Under a strategy, Keras refuses in a graph what feeds one batch at a time: ``train_on_batch``,
generators, weights of samples. Where TensorFlow 2 is installed it takes all of that outside of
a graph; a program that names nothing of graphs does not need one.
"""

from __future__ import annotations

import ast
import os
import re
from typing import Iterable, Iterator

from tpudist import surfaces
from tpudist.surfaces.eras import walks
from tpudist.surfaces.eras.names import is_below

_METHODS = frozenset(
    "train_on_batch test_on_batch predict_on_batch fit_generator evaluate_generator "
    "predict_generator".split()
)
#: Modules of Keras 3 that Keras 2 has not.
_OF_KERAS_3 = frozenset("ops random distribution tree".split())
_WEIGHTS = frozenset(["sample_weight", "class_weight"])
_OF_GRAPHS = frozenset(
    "run_steps_on_dataset call_for_each_tower make_one_shot_iterator get_session "
    "make_initializable_iterator make_dataset_iterator make_input_fn_iterator".split()
)
#: Names of TensorFlow 1 that mean the same without a graph.
_EITHER = ("app", "flags", "gfile", "logging", "set_random_seed", "VERSION", "python_io")
_CONTRIB = ("contrib.cluster_resolver", "contrib.distribute", "contrib.tpu.initialize_system")
#: In whose scope Keras refuses; keras_to_tpu_model has another one.
_STRATEGY = re.compile("(TPU|Mirrored|OneDevice)StrategyV?[12]?$")


class Keras:
    """A program's use of Keras, collected file by file; None for what it does not name.

    A module called keras in one of the folders `places` would be the user's own.

    Attributes:
      of_keras_3: whether it is written for Keras 3; then nothing is said of its Keras.
      tensorflows: where ``tf.keras``, or what TensorFlow's other names take from it, is named
        first, as "train.py:3".
      own: where the package ``keras`` is imported first without a try.
      graph: the first name that needs a graph, such as "tf.Session (train.py:9)".
    """

    def __init__(self, places: Iterable[str]) -> None:
        self._is_users = any(
            os.path.exists(os.path.join(place, name))
            for place in places
            for name in ("keras", "keras.py")
        )
        self._strategy = False
        self._refused: str | None = None
        self.of_keras_3 = False
        self.tensorflows: str | None = None
        self.own: str | None = None
        self.graph: str | None = None

    @property
    def refused(self) -> str | None:
        """The first call that Keras refuses in a graph, such as "train_on_batch (train.py:3)"."""
        return self._refused if self._strategy else None

    def add(self, nodes: walks.Nodes, names: list[tuple[str, int]], path: str) -> None:
        """Adds a file: all its nodes, and its `names` below ``tf``, as of `evidence.uses`."""
        place = os.path.basename(path)
        used = [line for name, line in names if is_below(name, surfaces.keras_names())]
        own = [] if self._is_users else list(_own(nodes))
        refused = ["%s (%s:%d)" % (name, place, line) for name, line in _refused(nodes)]
        graph = ["%s (%s:%d)" % (name, place, line) for name, line in _of_graphs(names, nodes)]
        self._strategy = self._strategy or any(_STRATEGY.search(name) for name, _ in names)
        self._refused = self._refused or next(iter(refused), None)
        self.graph = self.graph or next(iter(graph), None)
        self.tensorflows = self.tensorflows or ("%s:%d" % (place, min(used)) if used else None)
        self.own = self.own or ("%s:%d" % (place, min(own)) if own else None)
        self.of_keras_3 = self.of_keras_3 or bool(own and _names_keras_3(nodes))
        if self.of_keras_3:
            self.tensorflows = self.own = None


def _own(nodes: walks.Nodes) -> Iterator[int]:
    """Yields the lines that import ``keras``, but for the bodies of try statements."""
    tried = {
        inner
        for node in nodes.of(ast.Try)
        for statement in node.body
        for inner in walks.nodes(statement).of(*walks.IMPORTS)
    }
    for node in nodes.of(*walks.IMPORTS):
        is_from = type(node) is ast.ImportFrom
        names = [node.module or ""] if is_from else [alias.name for alias in node.names]
        is_relative = is_from and node.level
        if node not in tried and not is_relative and "keras" in {n.split(".")[0] for n in names}:
            yield node.lineno


def _names_keras_3(nodes: walks.Nodes) -> bool:
    """Whether a file names a module of ``keras`` that Keras 2 has not."""
    dotted = [
        "%s.%s" % (walks.last_word(each.value), each.attr) for each in nodes.of(ast.Attribute)
    ]
    for node in nodes.of(ast.ImportFrom):
        dotted += ["%s.%s" % (node.module, alias.name) for alias in node.names]
        dotted.append(node.module or "")
    return any("keras.%s" % name in dotted for name in _OF_KERAS_3)


def _methods(nodes: walks.Nodes) -> Iterator[tuple[ast.Call, str]]:
    """Yields (call, name) of each call of an attribute in a file."""
    for call in nodes.of(ast.Call):
        if isinstance(call.func, ast.Attribute):
            yield call, call.func.attr


def _refused(nodes: walks.Nodes) -> Iterator[tuple[str, int]]:
    """Yields (name, line) of each use that Keras refuses in a graph."""
    for call, name in _methods(nodes):
        weights = [each.arg for each in call.keywords if each.arg in _WEIGHTS]
        if name in _METHODS:
            yield name, call.lineno
        elif name in ("fit", "evaluate") and weights:
            yield str(weights[0]), call.lineno


def _of_graphs(names: list[tuple[str, int]], nodes: walks.Nodes) -> Iterator[tuple[str, int]]:
    """Yields (name, line) of what needs a graph: names below ``tf``, and methods."""
    for name, line in names:
        if name.startswith("contrib."):
            needs = not name.startswith(_CONTRIB)
        else:
            known = is_below(name, surfaces.FIRST_GENERATION)
            needs = known and name.split(".")[0] not in _EITHER
        if needs:
            yield "tf." + name, line
    for call, name in _methods(nodes):
        if name in _OF_GRAPHS:
            yield name, call.lineno
