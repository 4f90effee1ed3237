"""Names that only TensorFlow 1 has, in a file with names that only TensorFlow 2 has.

In other files of TensorFlow 1 ``tf`` becomes ``tf.compat.v1`` as a whole, which has no
``tf.random.set_seed`` or ``tf.summary.create_file_writer``.
"""

from tpudist import surfaces
from tpudist.resolution import import_origins

STEP = "2.0"
NOTE = "https://www.tensorflow.org/guide/migrate/upgrade"
USES = ()  # see `take`


def take(table, rules, steps):
    """Adds the names to the table of such a file, unless a rule tells of them.

    Args:
      table: {(kind, name): Rule}.
      rules: the rules that run.
      steps: the steps that are taken.
    """
    for rule in rules:
        if rule.step == STEP in steps and rule.name == "first-generation":
            for name in surfaces.FIRST_GENERATION:
                found = table.get(("tf", name))
                if found is None or found.name == "sessions":
                    table["tf", name] = rule


def apply(use):
    """Takes the name from ``tf.compat.v1``.

    Args:
      use: the `Use`.
    """
    if not import_origins.is_v1_name(use.plan, use.module, use.node):
        use.respell("compat.v1." + use.name)
