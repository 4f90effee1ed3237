"""Rules without code of their own: names that have another spelling now, and names with none.

Each is a row: the names that it gives another spelling; the table LEFT has those that it leaves,
with what to type instead.
"""

from __future__ import annotations

import ast
import inspect
from typing import TYPE_CHECKING, Mapping

from tpudist import surfaces
from tpudist.tools.migrate.rules import Rule, add
from tpudist.tools.migrate.use import Use

if TYPE_CHECKING:
    #: {(kind, name): what is written, or to be typed, instead}.
    Names = Mapping[tuple[str, str], str]

_DOCS = "https://github.com/tensorflow/docs/blob/"
_PAGES = "https://www.tensorflow.org/versions/r2.0/api_docs/python/tf/"
_RELEASES = "https://github.com/tensorflow/tensorflow/releases/tag/"
_SUNSET = "https://github.com/tensorflow/community/blob/master/rfcs/20180907-contrib-sunset.md"


def _row(
    name: str,
    step: str,
    note: str,
    text: str,
    renamed: Names | None = None,
    left: Names | None = None,
    why: str = "",
) -> None:
    """Adds a rule that respells names, or reports why there is no new spelling."""
    new, gone = renamed or {}, left or surfaces.LEFT.get(name, {})

    def apply(use: Use) -> None:
        key = use.kind, use.name
        if key in gone:
            use.leave(why, gone[key])
        elif use.kind == "tf":
            _respell(use, new[key])
        else:
            use.rename(new[key])

    add(Rule(name, step, note, frozenset([*new, *gone]), apply, inspect.cleandoc(text)))


def _respell(use: Use, new: str) -> None:
    if type(use.node) is ast.Name and not use.module.scope(use.node)[use.node.id]:
        use.leave("an import of * brings it", "tf." + new)
        return
    use.respell(new)
    gone = surfaces.gone_prefix(new)
    if gone and use.plan.target == "latest":
        why = "its successor tf.%s is not in every TensorFlow of today" % new
        use.leave(why, surfaces.GONE[gone])


def _below(start: str, names: Mapping[str, str] = surfaces.NAMES["v2_0"]) -> dict[str, str]:
    return {old: new for old, new in names.items() if old.startswith(start)}


def _of_tf(names: Mapping[str, str]) -> Names:
    return {("tf", old): new for old, new in names.items()}


_TOWERS = ("num_towers", "num_replicas", "tower_id", "distribution_strategy")
_CONTEXTS = {
    old: new
    for old, new in surfaces.NAMES["v2_0"].items()
    if old not in surfaces.MOVED
    and (
        old.rpartition(".")[2].startswith(("get_", "has_"))
        or old.endswith(("TowerContext", "DistributionStrategy"))
    )
}
#: Where programs import the names of ``contrib.tpu`` from.
_TPU_MODULES = (
    "contrib.tpu.",
    "contrib.tpu.python.ops.tpu_ops.",
    "contrib.tpu.python.tpu.bfloat16.",
    "contrib.tpu.python.tpu.tpu.",
    "contrib.tpu.python.tpu.tpu_optimizer.",
)
_TPU = {
    module + old.rpartition(".")[2]: new
    for old, new in _below("contrib.tpu.").items()
    for module in _TPU_MODULES
}
_MOVED = {
    old: new
    for old, new in surfaces.MOVED.items()
    if not old.startswith(("contrib.cluster_resolver.", "contrib.tpu."))
}

_row(
    "tower-names",
    "2.0",
    "https://github.com/tensorflow/models/pull/5752",
    """Towers are replicas: ``num_towers`` is ``num_replicas_in_sync``, ``tower_id`` its id.

    October to November 2018: num_towers, then num_replicas, then num_replicas_in_sync.
    ``is_single_tower`` and a context's ``device`` have no other spelling and are left.
    """,
    {key: new for key, new in surfaces.MEMBERS["v2_0"].items() if key[1] in _TOWERS},
    why="it is no member of 2.x",
)
_row(
    "contexts",
    "2.0",
    _DOCS + "r1.13/site/en/api_docs/python/tf/distribute.md",
    """``get_tower_context`` and the functions around it have replica names since 1.13.""",
    _of_tf(_CONTEXTS),
    why="it has no successor",
)
_row(
    "resolvers",
    "2.0",
    _PAGES + "distribute/cluster_resolver/TPUClusterResolver",
    "Resolvers are in ``tf.distribute.cluster_resolver``; ``get_master()`` is ``master()``.",
    {**_of_tf(_below("contrib.cluster_resolver.")), ("resolver", "get_master"): "master"},
)
_row(
    "contrib-tpu",
    "2.0",
    "https://www.tensorflow.org/api_docs/python/tf/compat/v1/tpu",
    """``tf.contrib.tpu`` moved to ``tf.tpu`` (``tf.compat.v1.tpu``).

    Its names are also found in the modules below it that programs import them from, such as
    ``contrib.tpu.python.tpu.tpu_optimizer``.
    """,
    _of_tf(_TPU),
)
_row(
    "aggregation",
    "2.0",
    _PAGES + "VariableAggregation",
    """``VariableAggregation.ONLY_FIRST_TOWER`` is ``ONLY_FIRST_REPLICA`` since 1.13.""",
    _of_tf(_below("VariableAggregation.")),
)
_row(
    "gone-members",
    "2.0",
    _DOCS + "r1.11/site/en/api_docs/python/tf/contrib/distribute/TPUStrategy.md",
    """Members of contrib's TPUStrategy that no later release has.""",
    why="no strategy of 2.x has it",
)
_row(
    "extended",
    "2.0",
    _DOCS + "r1.14/site/en/api_docs/python/tf/distribute/StrategyExtended.md",
    """Members for library writers moved to ``strategy.extended`` in 1.14.

    Those that take other arguments there are left.
    """,
    {
        key: new
        for key, new in surfaces.MEMBERS["v2_0"].items()
        if new.startswith("extended.") and key not in surfaces.LEFT["extended"]
    },
    why="its arguments are others in strategy.extended",
)
_row(
    "run-steps-on-dataset",
    "2.0",
    _DOCS + "r1.11/site/en/api_docs/python/tf/contrib/distribute/TPUStrategy.md",
    """``run_steps_on_dataset(fn, iterator, n)`` is a loop in a ``tf.function``, written by hand.

    What sets an output of the last step, ``context.set_last_step_output("loss", losses, how)``
    with ``tf.VariableAggregation.MEAN``, becomes what the step returns. In eager code:

        @tf.function
        def loop(iterator):
            for _ in tf.range(n - 1):
                step(next(iterator))
            losses = step(next(iterator))
            return strategy.reduce(tf.distribute.ReduceOp.MEAN, losses, axis=None)

    In a Session, run the op of one step n times. ``--level import`` keeps the file as it was.
    """,
    why="no strategy of 2.x has it",
)
_row(
    "contrib-moved",
    "2.0",
    _SUNSET,
    """Names of contrib that TensorFlow moved as they were: ``tf.contrib.data.map_and_batch``.

    Where today's TensorFlow has the successor with Keras 2 alone, that is told as well.
    """,
    _of_tf(_MOVED),
)
_row(
    "keras-distribute",
    "2.0",
    "https://www.tensorflow.org/guide/distributed_training",
    "``model.compile(distribute=strategy)`` of contrib's Keras, which TensorFlow 2 refuses.",
    why="TensorFlow 2 takes no distribute",
)
_row(
    "renamed-names",
    "latest",
    _RELEASES + "v2.16.1",
    """Public names that today's TensorFlow has elsewhere.

    ``tf.keras.losses.mean_squared_error`` is ``tf.keras.losses.MSE``.
    """,
    _of_tf(surfaces.RENAMED_TODAY),
)
_row(
    "data-options",
    "latest",
    _RELEASES + "v2.6.0",
    """Hints of ``tf.data.Options`` that ended with 2.5, such as ``map_vectorization``.

    They changed the speed of a dataset, not its elements.
    """,
    left={("any", name): words for name, words in surfaces.GONE_DATA_OPTIONS.items()},
    why="no option of tf.data",
)
_row(
    "private-modules",
    "latest",
    _RELEASES + "v2.5.0",
    """``tf.python.x``: TensorFlow's own modules as attributes, which it has not since 2.5.""",
    why="no attribute today",
)
_row(
    "run",
    "2.2",
    _RELEASES + "v2.2.0",
    """``experimental_run_v2`` is ``run`` since 2.2, and gone from 2.4.""",
    surfaces.MEMBERS["v2_2"],
)
_row(
    "datasets-from-function",
    "latest",
    _RELEASES + "v2.4.0",
    "``experimental_distribute_datasets_from_function`` lost ``experimental_`` in 2.4.",
    surfaces.MEMBERS["latest"],
)
