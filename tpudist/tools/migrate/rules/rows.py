"""Rules without code of their own: names that have another spelling now, and names with none.

Each is a row: the names that it gives another spelling, and those that it leaves, with what to
type instead.
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
    renamed: Names,
    left: Names | None = None,
    why: str = "",
) -> None:
    """Adds a rule that respells names, or reports why there is no new spelling."""
    gone = left or {}

    def apply(use: Use) -> None:
        key = use.kind, use.name
        if key in gone:
            use.leave(why, gone[key])
        elif use.kind == "tf":
            _respell(use, renamed[key])
        else:
            use.rename(renamed[key])

    add(Rule(name, step, note, frozenset([*renamed, *gone]), apply, inspect.cleandoc(text)))


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
#: {member with other arguments: its call below ``strategy.extended``}.
_EXTENDED = {
    "batch_reduce": "batch_reduce_to(tf.distribute.ReduceOp.SUM, pairs)",
    "broadcast": "broadcast_to(tensor, strategy.extended.worker_devices)",
    "update": "update(var, fn, args=(...))",
    "update_non_slot": "update_non_slot(colocate_with, fn, args=(...))",
}
_CROSS_TOWER = "tf.distribute.get_strategy() if tf.distribute.in_cross_replica_context() else None"
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
    {
        ("strategy", "is_single_tower"): "strategy.num_replicas_in_sync == 1",
        ("context", "is_single_tower"): "context.num_replicas_in_sync == 1",
        ("context", "device"): "context.devices[0]: a replica has several logical devices",
    },
    "it is no member of 2.x",
)
_row(
    "contexts",
    "2.0",
    _DOCS + "r1.13/site/en/api_docs/python/tf/distribute.md",
    """``get_tower_context`` and the functions around it have replica names since 1.13.""",
    _of_tf(_CONTEXTS),
    {
        ("tf", "contrib.distribute.get_cross_tower_context"): _CROSS_TOWER,
        ("tf", "get_cross_tower_context"): _CROSS_TOWER,
        (
            "tf",
            "contrib.distribute.get_loss_reduction",
        ): "divide the loss by tf.distribute.get_strategy().num_replicas_in_sync",
    },
    "it has no successor",
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
    {},
    {
        ("strategy", "map"): "a Python loop, or tf.map_fn",
        ("strategy", "configure"): "nothing: the resolver and "
        "tf.config.experimental_connect_to_cluster do it",
        ("strategy", "get_host_cpu_device"): "tf.device('/job:worker/task:N/device:CPU:0')",
        ("strategy", "worker_device_index"): "tf.distribute.get_replica_context()."
        "replica_id_in_sync_group",
        ("strategy", "steps_per_run"): "keep the number in a variable of your own",
    },
    "no strategy of 2.x has it",
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
        if new.startswith("extended.") and key[1] not in _EXTENDED
    },
    {("strategy", name): "strategy.extended." + call for name, call in _EXTENDED.items()},
    "its arguments are others in strategy.extended",
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
    {},
    {
        ("strategy", "run_steps_on_dataset"): "a tf.function with a loop over tf.range(n); "
        "session.run the op of one step n times in a Session"
    },
    "no strategy of 2.x has it",
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
    {},
    {
        ("any", "compile"): "with strategy.scope(): around what makes and compiles the model, "
        "and dataset.batch(n) with the rows of all replicas: 1.12 gave each of them a batch"
    },
    "TensorFlow 2 takes no distribute",
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
    {},
    {("any", name): words for name, words in surfaces.GONE_DATA_OPTIONS.items()},
    "no option of tf.data",
)
_row(
    "private-modules",
    "latest",
    _RELEASES + "v2.5.0",
    """``tf.python.x``: TensorFlow's own modules as attributes, which it has not since 2.5.""",
    {},
    {
        ("tf", name): "from tensorflow.%s.x import y, which is no public API" % name
        for name in ("python", "core")
    },
    "no attribute today",
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
