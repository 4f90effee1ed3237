"""Whether a file's bytes may name what the newest TensorFlow has not: else it is never parsed."""

import collections
import functools
import re

from tpudist import surfaces
from tpudist.surfaces.eras import names

#: Words that much else has below ``tf`` itself, or as a name of its own.
_ROOT = rb"(?<!\btf)(?<!\btensorflow)\.(?:%s)\b"


def _last_words(every=(*surfaces.GONE, *surfaces.GONE_TODAY, *surfaces.RENAMED_TODAY)):
    """{last word of a module: [last words of names in it]}."""
    found = collections.defaultdict(set)
    for name in every:
        above, _, last = name.rpartition(".")
        if above and not above.startswith("contrib"):
            found[above.rpartition(".")[2].encode("ascii")].add(last.encode("ascii"))
    return found


def _below(last_words):
    """[(last word of a module, last words of names in it, their pattern)]."""
    return [
        (above, frozenset(words), _ROOT % b"|".join(sorted(words)))
        for above, words in sorted(last_words.items())
    ]


_BELOW = _below(_last_words())
#: What asks for a name by a string, and the words that it may be.
_ASKING = (b"getattr", b"__dict__", b"vars(", b"attrgetter", b"patch")
_IN_STRING = [
    (above, words, rb"""["'.](?:%s)["']""" % b"|".join(sorted(words))) for above, words, _ in _BELOW
]
_PRIVATE = _below(_last_words(surfaces.private_names()))


_MEMBERS = frozenset(name.encode("ascii") for name in surfaces.KERAS_MEMBERS)
_DISTRIBUTE = re.compile(rb"distribute=(?<!\wdistribute=)")
_OPTIMIZER = re.compile(
    rb"\b(?:%s)\(\s*(?:[^()]|\([^()]*\)){0,400}?\b(?:lr|decay)\s*="
    % "|".join(name.rpartition(".")[2] for name in surfaces.KERAS_OPTIMIZERS).encode("ascii")
)
#: Modules of TensorFlow's own code that were its attributes.
OWN_MODULES = ("python", "core")
_OWN_MODULE = re.compile(rb"(?<![\w.])(?<!import )(?<!from )(?:tf|tensorflow)\.(?:python|core)\.")
#: What asks TensorFlow for names that only the run knows.
_TENSORFLOW = rb"\(\s*(?:getattr\s*,\s*)?(?:(?:tf|tensorflow)(?:\.keras\.backend)?|K|backend)\s*"
_UNSEEN = re.compile(
    rb"""\b(?:getattr%s,(?!\s*["']\w*["']\s*[,)])|(?:getmembers|partial)%s[,)])"""
    % (_TENSORFLOW, _TENSORFLOW)
)
_UNSEEN_WORDS = [b"getattr(" + word for word in (b"tf", b"tensorflow", b"K", b"backend")]
_UNSEEN_WORDS += [b"getmembers(", b"(getattr"]
#: Methods and classes of Keras that Keras 3 takes other arguments of, whatever their words are.
KERAS_CALLS = frozenset(["add_weight", "minimize", "ModelCheckpoint", "save", "save_weights"])
KERAS_CALLS |= {"set_value"}
_ARGUMENTS = sorted(
    {word.partition("=")[0] for each in surfaces.KERAS_ARGUMENTS.values() for word in each}
    - {"batch_size", "dtype", "epsilon", "inputs", "period"}  # of much else
    | set(surfaces.KERAS_LAYERS)
)
_KERAS_WORDS = [
    *(word.encode("ascii") for word in _ARGUMENTS),
    *(name.encode("ascii") + b"(" for name in sorted(KERAS_CALLS | {"add_loss", "TensorBoard"})),
    *(b"ptimizer.lr", b"opt.lr", b"epsilon=None"),
]
_GIVEN = rb"\(\s*(?:[^()]|\([^()]*\)){0,400}?\b%s\s*="
#: Calls with arguments that much else takes, and shapes of layers.
_INITIALIZER = (
    rb"\b(?:initializers\.\w+|(?:glorot|he|lecun|truncated)_\w+|[A-Z]\w*(?:Normal|Uniform)|"
    rb"Constant|Identity|Ones|[oO]rthogonal|[vV]ariance_?[sS]caling|Zeros)"
)
_KERAS_CALL = [
    (word, re.compile(pattern % (_GIVEN % keyword) if keyword else pattern))
    for word, pattern, keyword in (
        (b"put=", rb"Model%s", rb"(?:in|out)put"),
        (b"apply_gradients(", rb"apply_gradients%s", rb"name"),
        (b"(l=", rb"[lL][12]%s", rb"l"),
        (b"weights=", rb"\b[A-Z]\w*%s", rb"weights"),
        (b"dtype=", _INITIALIZER + rb"%s", rb"dtype"),
        (
            b"put_shape",
            rb"\.(?:input|output)_shape\b(?<!self.input_shape)(?<!self.output_shape)",
            b"",
        ),
    )
]
#: A copy of Keras 2 that ``tf.keras`` does not know: it was that once.
OWN_KERAS = "python.keras"
#: The last words of those names.
LAST = frozenset(word.decode("ascii") for words in _last_words().values() for word in words)
_LAST = frozenset(word.encode("ascii") for word in LAST)
_ABOVE = frozenset(
    name.rpartition(".")[0]
    for name in (
        *surfaces.GONE_TODAY,
        *surfaces.RENAMED_TODAY,
        *surfaces.private_names(),
        *surfaces.KERAS_OPTIMIZERS,
    )
)
_ATTRIBUTE = re.compile(rb"\.(\w+)")


def may_borrow(raw):
    """Whether a file may name one that it reaches through another file.

    Args:
      raw: its bytes.
    """
    if b".tf." in raw or b"tf." in raw and b" as tf" not in raw:
        return True
    if not _LAST.isdisjoint(_ATTRIBUTE.findall(raw)):
        return True
    return b"import *" in raw and not _LAST.isdisjoint(re.findall(rb"\w+", raw))


@functools.lru_cache(maxsize=4000)
def is_gone(dotted):
    """Whether a dotted name below ``tensorflow`` is gone, or has moved.

    Args:
      dotted: such as "keras.layers.CuDNNLSTM".
    """
    plain = names.without_compat(dotted)
    return (
        surfaces.gone_today(plain) is not None
        or surfaces.gone_module(dotted) is not None
        or names.is_below(plain, surfaces.RENAMED_TODAY)
        or names.is_below(plain, surfaces.KERAS_REFUSES)
        or names.is_below(plain, (OWN_KERAS,))
    )


def is_asked(dotted):
    """Whether a dotted name below ``tensorflow`` is gone, has moved, or has such names below it."""
    return is_gone(dotted) or dotted in _ABOVE or dotted in surfaces.KERAS_OPTIMIZERS


def is_above(dotted):
    """Whether a name below ``tensorflow`` is of a module with names that are gone, or moved."""
    return names.without_compat(dotted) in _ABOVE


def may_name(raw):
    """Whether a file may name one.

    Args:
      raw: its bytes; the names of `tensorflow_words.names` are not looked at.
    """
    attributes = frozenset(_ATTRIBUTE.findall(raw))
    if not _MEMBERS.isdisjoint(attributes) or _DISTRIBUTE.search(raw) is not None:
        return True
    if b"keras" in raw and any(word in raw for word in _KERAS_WORDS):
        return True
    if b"keras" in raw and any(word in raw and each.search(raw) for word, each in _KERAS_CALL):
        return True
    if b"tensorflow" not in raw and b"tf" not in raw:
        return False
    if (b".python." in raw or b".core." in raw) and _OWN_MODULE.search(raw) is not None:
        return True
    if any(word in raw for word in _UNSEEN_WORDS) and _UNSEEN.search(raw) is not None:
        return True
    if b"ptimizers" in raw and _OPTIMIZER.search(raw) is not None:
        return True
    private = _PRIVATE if b"tensorflow.python" in raw else []
    if any(
        not words.isdisjoint(attributes) and above in raw and re.search(pattern, raw)
        for above, words, pattern in _BELOW + private
    ):
        return True
    return any(word in raw for word in _ASKING) and any(
        above in raw and any(word in raw for word in words) and re.search(pattern, raw)
        for above, words, pattern in _IN_STRING
    )
