"""Dotted names of TensorFlow in a file's bytes, whatever the file calls TensorFlow."""

import re

from tpudist import surfaces

#: Patterns that begin with a word are found many times as fast.
_BELOW = [
    re.compile(rb"tf\.(?<!\wtf\.)(\w[\w.]*)"),
    re.compile(rb"tensorflow\.(?<!\wtensorflow\.)(\w[\w.]*)"),
]
_AS = re.compile(rb"tensorflow\b(?<!\wtensorflow)([\w.]*)[ \t]+as[ \t]+(\w+)")
_FROM = re.compile(
    rb"from(?<!\wfrom)[ \t]+tensorflow([\w.]*)[ \t]+import[ \t]*(?:\(([^)]*)\)|((?:[^\\\n]|\\.)*))",
    re.S,
)
_IMPORTED = re.compile(rb"(\w+)(?:[ \t]+as[ \t]+(\w+))?")
#: ``T = tf``, ``train = tf.train``, ``def f(T=tf):``, each after the name.
_IS = re.compile(rb"=[ \t]*(tf|tensorflow)((?:\.\w+)*)[ \t]*(?=[\r\n#,;)]|\Z)")
#: TensorFlow itself, neither imported nor asked for a name there.
_WHOLE = re.compile(rb"tf\b(?<![\w.]tf)(?<!as tf)(?<!import tf)(?=[ \t]*[),\]}:\n])")
#: ``tf`` that may be anything but what ``import tensorflow.compat.v1 as tf`` binds.
_OTHER = re.compile(rb"tf\b(?<!\wtf)(?:(?<=\.tf)|(?!\.)(?<!import tensorflow\.compat\.v1 as tf))")
_COMPAT = b"compat.v1."
_FIRST = frozenset(
    name.encode("ascii")
    for name in surfaces.FIRST_GENERATION
    if "." not in name and (name != name.lower() or "_" in name or name == "placeholder")
)
#: A name below one that is asked for by a string: ``getattr(tf.train, "Saver")``.
_GETATTR = re.compile(rb"""getattr\(\s*([\w.]+)\s*,\s*["'](\w+)["']""")
_VARS = re.compile(rb"""vars\(\s*([\w.]+)\s*\)\s*(?:\[|\.get\()\s*["'](\w+)["']""")
_ROOTS = {b"tf": (b"",), b"tensorflow": (b"",)}
_IN_DICT = re.compile(rb"""(?<![\w.])([\w.]+)\.__dict__\s*(?:\[|\.get\()\s*["'](\w+)["']""")
_ATTRIBUTE = re.compile(rb"\.(\w+)")
_LAST = re.compile(rb"(\w+)[ \t]*:?$")


def names(raw):
    """The dotted names below ``tensorflow`` that a file may use, a set.

    Args:
      raw: its bytes.
    """
    found, called = {word for pattern in _BELOW for word in pattern.findall(raw)}, bound(raw)
    if _is_compat_v1(raw, called):
        found = {_COMPAT + word for word in _BELOW[0].findall(raw)}
        found.update(_BELOW[1].findall(raw))
    for below in called.pop(b"*", ()):
        words = set(re.findall(rb"\w+", raw))
        found.update((below + b"." + word).lstrip(b".") for word in words)
    if b"import tensorflow" in raw and _WHOLE.search(raw):
        found |= _FIRST.intersection(_ATTRIBUTE.findall(raw))
    for owner, last in _asked_by_a_string(raw):
        first, _, rest = owner.partition(b".")
        for below in called.get(first, _ROOTS.get(first, ())):
            found.add(b".".join(filter(None, (below, rest, last))))
    for name, every in called.items():
        for below in every:
            found.add(below)
            if (
                name != b"tf"
                and below.decode("utf-8", "replace") in surfaces.first_modules()
                and name + b"." in raw
            ):
                rest = re.findall(rb"\b%s\.(\w[\w.]*)" % name, raw)
                found.update((below + b"." + each).lstrip(b".") for each in rest)
    return {each.decode("utf-8", "replace") for each in found}


def _asked_by_a_string(raw):
    """Yields (dotted name, name below it) of each that a string asks for."""
    if b"getattr(" in raw:
        yield from _GETATTR.findall(raw)
    if b"vars(" in raw:
        yield from _VARS.findall(raw)
    if b".__dict__" in raw:
        yield from _IN_DICT.findall(raw)


def bound(raw):
    """{name: what a file may bind it to, dotted names below ``tensorflow``}, all of them bytes.

    Of ``from tensorflow.a import *`` the name is "*", and what it is bound to the module.
    """
    called = {}
    for below, name in _AS.findall(raw):
        called.setdefault(name, set()).add(below[1:])
    for match in _FROM.finditer(raw):
        imported = match.group(2) or match.group(3) or b""
        if imported.strip().startswith(b"*"):
            called.setdefault(b"*", set()).add(match.group(1)[1:])
        for name, other in _IMPORTED.findall(imported):
            full = (match.group(1)[1:] + b"." + name).lstrip(b".")
            called.setdefault(other or name, set()).add(full)
    is_v1 = _is_compat_v1(raw, called)
    for match in _IS.finditer(raw):
        name = _LAST.search(raw, max(0, match.start() - 80), match.start())
        if name:
            start = _COMPAT if is_v1 and match.group(1) == b"tf" else b""
            called.setdefault(name.group(1), set()).add(start + match.group(2)[1:])
    return called


def _is_compat_v1(raw, called):
    """Whether each ``tf`` of a file is ``tensorflow.compat.v1``."""
    return called.get(b"tf") == {_COMPAT[:-1]} and not _OTHER.search(raw)
