"""Whether a program of contrib's era trains with Keras in a TF 1 graph.

Under a strategy, Keras refuses there what feeds one batch at a time: ``train_on_batch``,
generators, weights of samples. Where TensorFlow 2 is installed it takes all of that outside of
a graph; a program that names nothing of graphs does not need one.
"""

from __future__ import annotations

import ast
import collections
import itertools
import os
import re
from typing import TYPE_CHECKING

from tpudist import surfaces
from tpudist.surfaces.eras import evidence

if TYPE_CHECKING:
    from typing import Any


Mode = collections.namedtuple("Mode", "refused graph")
Mode.__doc__ = """What tells in which mode a program of contrib's era can train.

Fields:
  refused: what Keras refuses in a graph, such as "train_on_batch (train.py:3)"; None.
  graph: the first name that needs one, such as "tf.Session (train.py:9)"; None.
"""

_METHODS = frozenset(
    "train_on_batch test_on_batch predict_on_batch fit_generator evaluate_generator "
    "predict_generator".split()
)
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


def of_file(tree: Any, path: Any) -> tuple[Any, ...]:
    """(what Keras refuses in a graph, names that need one, strategies) of a file: three lists.

    Args:
      tree: its syntax tree.
      path: its path.
    """
    refused, graph = [], []
    names = evidence.names_below_tensorflow(tree)
    place = os.path.basename(path)
    strategies = [name for name, _ in names if _STRATEGY.search(name)]
    for name, line in names:
        if _needs_a_graph(name):
            graph.append("tf.%s (%s:%d)" % (name, place, line))
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        where = "(%s:%d)" % (place, node.lineno)
        weights = [each.arg for each in node.keywords if each.arg in _WEIGHTS]
        if node.func.attr in _METHODS:
            refused.append("%s %s" % (node.func.attr, where))
        elif node.func.attr in ("fit", "evaluate") and weights:
            refused.append("%s %s" % (weights[0], where))
        elif node.func.attr in _OF_GRAPHS:
            graph.append("%s %s" % (node.func.attr, where))
    return refused, graph, strategies


def first(of_files: Any) -> Any:
    """The `Mode` of a program.

    Args:
      of_files: what `of_file` returned of each of its files.
    """
    columns: Any = list(zip(*of_files)) or [[]] * 3
    refused, graph, strategies = (list(itertools.chain(*each)) for each in columns)
    return Mode(next(iter(refused if strategies else ()), None), next(iter(graph), None))


def _needs_a_graph(name: str) -> Any:
    if name.startswith("contrib."):
        return not name.startswith(_CONTRIB)
    parts = name.split(".")
    known = any(".".join(parts[:end]) in surfaces.FIRST_GENERATION for end in range(1, 4))
    return known and parts[0] not in _EITHER
