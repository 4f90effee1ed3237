"""Names that are gone from modules of TensorFlow's own code which today's has, and what to type.

``private_names.txt`` lists them; ``python -m compat.private_names`` writes it.
"""

from __future__ import annotations

import functools
import os

from tpudist.surfaces.private_moved import MEMBERS

_OWN = "copy the few lines that you use"


@functools.lru_cache(maxsize=None)
def private_names() -> dict[str, str]:
    """{dotted name below ``tensorflow``: what to type}, such as "python.framework.ops.Tensor"."""
    words = {}
    with open(os.path.join(os.path.dirname(__file__), "private_names.txt")) as lines:
        rows = [line.split() for line in lines if not line.startswith("#")]
    for module, *names in rows:
        for name, _, instead in (each.partition("=") for each in names):
            words[module + "." + name] = _words(module, name, instead)
    return words


def _words(module: str, name: str, instead: str) -> str:
    if instead.startswith("tensorflow."):
        instead += "." + name
    elif not instead and name in MEMBERS.get(module, ()):
        home, _, today = MEMBERS[module][name].partition(":")
        instead = "tensorflow.%s.%s" % (home, today.partition("|")[0])
    if instead.startswith("tensorflow."):
        return instead + ", which is no public API either"
    return instead or _OWN
