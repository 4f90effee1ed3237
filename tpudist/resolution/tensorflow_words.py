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
    rb"\bfrom[ \t]+tensorflow([\w.]*)[ \t]+import[ \t]*(?:\(([^)]*)\)|((?:[^\\\n]|\\.)*))", re.S
)
_IMPORTED = re.compile(rb"(\w+)(?:[ \t]+as[ \t]+(\w+))?")
#: ``T = tf``, ``train = tf.train``, ``def f(T=tf):``, each after the name.
_IS = re.compile(rb"=[ \t]*(?:tf|tensorflow)((?:\.\w+)*)[ \t]*(?=[\r\n#,;)]|\Z)")
_LAST = re.compile(rb"(\w+)[ \t]*$")


def names(raw):
    """The dotted names below ``tensorflow`` that a file may use, a set.

    Args:
      raw: its bytes.
    """
    found, called = {word for pattern in _BELOW for word in pattern.findall(raw)}, {}
    for below, name in _AS.findall(raw):
        called[name] = below[1:]
    for match in _FROM.finditer(raw):
        for name, other in _IMPORTED.findall(match.group(2) or match.group(3) or b""):
            full = (match.group(1)[1:] + b"." + name).lstrip(b".")
            found.add(full)
            called[other or name] = full
    for match in _IS.finditer(raw):
        name = _LAST.search(raw, max(0, match.start() - 80), match.start())
        if name:
            called[name.group(1)] = match.group(1)[1:]
    for name, below in called.items():
        if (
            name != b"tf"
            and below.decode("utf-8", "replace") in surfaces.first_modules()
            and name + b"." in raw
        ):
            rest = re.findall(rb"\b%s\.(\w[\w.]*)" % name, raw)
            found.update((below + b"." + each).lstrip(b".") for each in rest)
    return {each.decode("utf-8", "replace") for each in found}
