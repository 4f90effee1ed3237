"""Rules for names that only one generation of TensorFlow has, or that differ between them."""

from __future__ import annotations

from tpudist import surfaces
from tpudist.surfaces import changed_names as changed
from tpudist.tools.migrate.rules import rule
from tpudist.tools.migrate.use import Use

_OF_STRATEGIES = ("distribute.", "tpu.")  # they have rules of their own


@rule("first-generation", [("tf", name) for name in surfaces.FIRST_GENERATION])
def first_generation(use: Use) -> None:
    """Names that only TensorFlow 1 has, in a file with names that only TensorFlow 2 has."""
    is_mixed = use.module.path in use.plan.program.mixed
    if is_mixed and not use.evaluator.is_v1(use.module, use.node):
        use.respell("compat.v1." + use.name)


@rule(
    "changed-names",
    [("tf", name) for name in changed.changed_names() if not name.startswith(_OF_STRATEGIES)],
)
def changed_names(use: Use) -> None:
    """Names that TensorFlow 1 and 2 both have, with other arguments or another meaning."""
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
            "TensorFlow 2 has another one",
            "# tpudist: tf1 or # tpudist: tf2 on a line of the file",
            lasts=path not in program.disputed,
        )
