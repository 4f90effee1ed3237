"""Names that one generation of TensorFlow has alone, or with another meaning than the other."""

from __future__ import annotations

from tpudist import surfaces
from tpudist.surfaces import changed_names as changed
from tpudist.tools.migrate.rules import rule
from tpudist.tools.migrate.use import Use

_UPGRADE = "https://www.tensorflow.org/guide/migrate/upgrade"
_OF_STRATEGIES = ("distribute.", "tpu.")  # they tell an era, and have rules of their own


@rule("sessions", "2.0", "https://www.tensorflow.org/guide/migrate", ())
def sessions(use: Use) -> None:
    """Sessions stay, with ``tf.disable_v2_behavior()`` where the program starts.

    So do ``tf.placeholder``, ``tf.gradients`` and the session of a test case, which need a graph
    too. Its ``tf`` becomes ``tf.compat.v1``, which has Sessions; turning them into eager code is a
    rewrite of the program. A program that makes its own ``tf.Graph()`` has no need of the call,
    unless it has the session of a test case; nor has one that chooses between graphs and eager
    execution itself.
    """
    del use  # `tpudist.tools.migrate.graph_mode` changes the file that the program starts with


@rule("first-generation", "2.0", _UPGRADE, [("tf", name) for name in surfaces.FIRST_GENERATION])
def first_generation(use: Use) -> None:
    """Names that only TensorFlow 1 has, in a file with names that only TensorFlow 2 has.

    In other files of TensorFlow 1 ``tf`` becomes ``tf.compat.v1`` as a whole, which has no
    ``tf.random.set_seed`` or ``tf.summary.create_file_writer``.
    """
    is_mixed = use.module.path in use.plan.program.mixed
    if is_mixed and not use.evaluator.is_v1(use.module, use.node):
        use.respell("compat.v1." + use.name)


@rule(
    "changed-names",
    "2.0",
    _UPGRADE,
    [("tf", name) for name in changed.changed_names() if not name.startswith(_OF_STRATEGIES)],
)
def changed_names(use: Use) -> None:
    """Names that TensorFlow 1 and 2 both have, with other arguments or another meaning.

    ``tf.nn.dropout(x, 0.9)`` keeps 0.9 of the values in TensorFlow 1 and drops them in
    TensorFlow 2. In a file of TensorFlow 1 ``tf`` becomes ``tf.compat.v1``, which has the old ones.
    Where nothing tells of which a file is, ``# tpudist: tf1`` or ``# tpudist: tf2`` on a line of
    it settles it for all of the file. Some have lost their old arguments in ``tf.compat.v1`` too,
    as ``tf.nn.top_k(x, 5, True, "name")``.
    """
    path, program = use.module.path, use.plan.program
    if use.call is None:
        return
    positional = sum(1 for each in use.arguments if not each.name and not each.star)
    keywords = [each.name for each in use.arguments if each.name]
    of = changed.generation(use.name, positional, keywords, not use.has_stars)
    if of not in (changed.FIRST, changed.BOTH):
        return
    if program.wants_v1(path) or use.evaluator.is_v1(use.module, use.node):
        name = changed.changed_names()[use.name]
        if not name.kept_in_v1 and not use.has_stars and use.plan.target == "latest":
            now = ", ".join(each for each in name.second if each != "*")
            use.leave("tf.compat.v1 takes other arguments now", "by keyword, of %s" % now)
    elif of == changed.FIRST and path in program.mixed:
        use.respell("compat.v1." + use.name)
    elif path in program.mixed or path in program.undecided:
        use.leave(
            "TensorFlow 2 has another one", "# tpudist: tf1 or # tpudist: tf2 on a line of the file"
        )
