"""Names of contrib that TensorFlow, another package or `tpudist.legacy.contrib_ports` carries on.

The table has them (`tpudist.surfaces.contrib_names`): ``tf.contrib.slim`` is ``tf_slim``,
``tf.contrib.training.HParams`` is written again. Where the arguments are others the call stays.
"""

import libcst as cst

from tpudist import surfaces
from tpudist.tools.migrate import edits
from tpudist.tools.migrate.resolution.import_origins import first_name

STEP = "2.0"
NOTE = "https://github.com/tensorflow/community/blob/master/rfcs/20180907-contrib-sunset.md"
USES = [("tf", "contrib.+")]

_V1 = "tensorflow.compat.v1."


def apply(use):
    """Writes the successor, or leaves a call that it does not take.

    Args:
      use: the `Use`.
    """
    new = surfaces.successor(use.name)
    if use.call is not None and new.parameters is not None:
        renamed = _renamed(use, new)
        if renamed is None:
            use.leave("its arguments are not those of %s" % _spelled(new), _instead(use, new))
            return
        for argument, name in renamed:
            use.plan.replace(argument, edits.keyword_renamed(name))
    if isinstance(use.node, cst.Name) or _is_carried(use, new):
        return  # what binds its first name changes
    if new.target.startswith(_V1):
        use.respell(new.target[len(_V1) :])
    elif not use.respell_whole(new.target):
        use.leave("%s names something else here" % new.target.partition(".")[0], new.target)


def _renamed(use, new):
    """[(Arg, its new keyword)] of a call; None if it has an argument that is not kept."""
    positional = [each for each in use.call.args if each.keyword is None]
    parameters = new.parameters
    if use.has_stars or len(positional) > new.places:
        return None
    named = [each for each in use.call.args if each.keyword is not None]
    if any(each.keyword.value not in parameters for each in named):
        return None
    pairs = [(each, parameters[each.keyword.value]) for each in named]
    return [(each, name) for each, name in pairs if each.keyword.value != name]


def _is_carried(use, new):
    """Whether the name stays as it is written: what binds its first word leads there."""
    base = first_name(use.node)
    module = use.tensorflow_name(base) if isinstance(base, cst.Name) else None
    if not module or not module.startswith("contrib."):
        return False
    rest = use.name[len(module) :]
    return surfaces.lead(module).target + rest == new.target


def _spelled(new):
    return "tf." + new.target[len(_V1) :] if new.target.startswith(_V1) else new.target


def _instead(use, new):
    kept = ", ".join(new.parameters.values())
    return "%s(%s)" % (_spelled(new), kept) if kept else surfaces.gone_text(use.name)
