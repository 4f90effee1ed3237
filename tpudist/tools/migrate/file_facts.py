"""What one file says of the program that it is of."""

import collections
import re

from tpudist.surfaces.eras import evidence
from tpudist.tools.migrate import graph_mode

_TPU_CONTRIB = re.compile(
    r"\bdistribute(\.python)?(\.tpu_strategy)?\.TPUStrategy\b|"
    r"import\s.*\bTPUStrategy\b|tpu_strategy\b"
)
_LATER = re.compile(
    r"\.(experimental_run_v2|experimental_distribute_\w+|"
    r"experimental_local_results|tpu\.experimental)\b|\binitialize_tpu_system\b"
)
#: Called by its name, or by a string: ``getattr(tf, "Session")()``.
_SESSION = re.compile(r"""\b(Session|InteractiveSession|MonitoredTrainingSession)(["'][)\]])?\(""")
_GRAPH = re.compile(_SESSION.pattern + r"|\btf\.Graph\(")
_SESSIONS = ("Session(", *("Session%s%s(" % (quote, end) for quote in "'\"" for end in ")]"))
_SUMS = re.compile(r"\bReduction\.(SUM|NONE)\b")
#: {what is asked of a file's text: (a pattern, words of which what it finds has one)}.
_ASKED = {
    "graph": (_GRAPH, *_SESSIONS, "tf.Graph("),
    "sessions": (_SESSION, *_SESSIONS),
    "sums": (_SUMS, "Reduction."),
    "tpu": (_TPU_CONTRIB, "TPUStrategy", "tpu_strategy"),
    "later": (_LATER, "experimental", "initialize_tpu_system"),
    "main": (graph_mode.MAIN, "__name__"),
}
#: Words of the files that decide for a program; such a file is parsed though it is no candidate.
_DECIDING = tuple(word.encode("ascii") for each in ("graph", "sums") for word in _ASKED[each][1:])
Facts = collections.namedtuple(
    "Facts", "says imports contrib tensorflow_1 first second mode stated"
)
Facts.__doc__ = """What a file says.

Fields:
  says: what is asked of its text that it has: "graph", "sessions", "sums", "tpu", "later", "main".
  imports: its import statements, as of `walks.imported`.
  contrib: whether it is of the contrib era.
  tensorflow_1: whether it names what only TensorFlow 1 has below ``tf``.
  first, second: whether it names what only TensorFlow 1 or 2 has without asking if it is there.
  mode: whether it chooses between graphs and eager execution.
  stated: whether it imports a drop-in of tpudist, which says an era.
"""
NOTHING = Facts(frozenset(), (), False, False, False, False, False, False)
#: What a file has that has an `evidence.MODE`, and some others.
_MAY_CHOOSE = re.compile(
    rb"""(?:[.,("']|\bimport\b)\s*(?:Graph|function|(?:dis|en)able_(?:eager_execution|v2_behavior))\b"""
)
#: As `evidence.MODE`, of a TensorFlow that another file has imported.
_MODE = re.compile(rb"\.(?:Graph|function|(?:dis|en)able_(?:eager_execution|v2_behavior))\(")


def of(text, imports, found):
    """The Facts of a file.

    Args:
      text: its source.
      imports: its import statements.
      found: its Evidence.
    """
    unguarded = {each.kind for each in found if not each.guarded}
    kinds = {each.kind for each in found}
    return Facts(
        frozenset(each for each, pattern in _ASKED.items() if _has(text, *pattern)),
        imports,
        _tells_contrib(found),
        _names_tensorflow_1(found),
        evidence.FIRST_GENERATION in unguarded,
        evidence.SECOND_GENERATION in unguarded,
        evidence.MODE in kinds,
        evidence.STATED in kinds,
    )


def may_decide(raw):
    """Whether a file may say "graph" or "sums", which goes for its program: it has to be parsed.

    Args:
      raw: its bytes.
    """
    return any(word in raw for word in _DECIDING)


def may_choose(raw):
    """As `may_decide`, of whether it chooses between graphs and eager execution."""
    return _MAY_CHOOSE.search(raw) is not None


def chooses_on_other(raw):
    """Whether a file chooses between them by a TensorFlow that another file has imported."""
    return _MODE.search(raw) is not None


def _tells_contrib(found):
    stated = [each for each in found if each.kind == evidence.STATED]
    own = [each for each in found if each.kind == evidence.SURFACE]
    return any(each.eras == ("contrib",) for each in stated or own)


def _has(text, pattern, *words):
    """Whether a pattern is in a text, which has one of some words then: those are found faster."""
    return any(word in text for word in words) and pattern.search(text) is not None


def _names_tensorflow_1(found):
    """Whether a file names what only TensorFlow 1 has below ``tf``."""
    return any(
        each.eras == ("contrib",) and each.kind != evidence.GRAPH and not each.name.startswith(".")
        for each in found
    )
