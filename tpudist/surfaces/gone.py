"""Says what is gone, and what to type instead: of the eras, and of TensorFlow's own code.

The tables are in ``names.txt``. A name is asked for here when the installed TensorFlow does not
have it, so that none costs anything on the releases that have it still.
"""

from __future__ import annotations

import functools

from tpudist.surfaces.contrib_names import lead, public_name
from tpudist.surfaces.tables import table


def _above(name: str) -> list[str]:
    """A dotted name and those above it, the longest first."""
    parts = name.split(".")
    return [".".join(parts[:end]) for end in range(len(parts), 0, -1)]


def gone_text(name: str) -> str:
    """What to type instead of a name of contrib, whether or not somebody carries it on.

    Args:
      name: dotted name below ``tf``.
    """
    found, public = lead(name), public_name(name)
    words = table("GONE")[gone_prefix(public if public in table("GONE") else name) or "contrib"]
    if found.kind == "private":
        words += "; %s has it, which is no public API" % found.target
    return str(words)


def gone_prefix(name: str) -> str | None:
    """The line of GONE that covers a dotted name.

    Args:
      name: dotted name below ``tf``, such as "contrib.layers.fully_connected".

    Returns:
      The longest key of GONE that is the name or one of its parents, or None.
    """
    return next((each for each in _above(name) if each in table("GONE")), None)


def instead_in_a_dropin(era: str, name: str) -> str:
    """What a program that an era's drop-in serves types instead of a name that it has not.

    Args:
      era: an element of `ERAS`.
      name: dotted name below ``tf`` that :func:`gone_prefix` covers.
    """
    prefix = gone_prefix(name) or ""
    text: str = table("GONE_IN_A_DROPIN").get(prefix) or table("GONE")[prefix]
    in_contrib = name == "contrib" or (name.startswith("contrib.") and lead(name).kind != "gone")
    if era == "contrib" or not in_contrib:
        return text
    return (
        "the era that has it: --era contrib, or from tpudist.contrib import tensorflow as tf; or "
        + text
    )


def gone_today(name: str) -> str | None:
    """What the newest TensorFlow has not, of a dotted name: itself or one of its parents.

    Args:
      name: dotted name below ``tf``, such as "keras.layers.CuDNNLSTM".

    Returns:
      The longest such key of `gone_names`, names of contrib apart; None if the newest TensorFlow
      has it, or has it under another name.
    """
    known = (
        each for each in _above(name) if each in table("RENAMED_TODAY") or each in gone_names()
    )
    found = next(known, None)
    return None if found in table("RENAMED_TODAY") else found


@functools.lru_cache(maxsize=None)
def gone_names() -> dict[str, str]:
    """{dotted name: what to type} of names that the newest TensorFlow has not, below no contrib."""
    return {**table("GONE_TODAY"), **private_names()}


@functools.lru_cache(maxsize=None)
def private_names() -> dict[str, str]:
    """{dotted name: what to type} of names that are gone from modules that are still there.

    Names are below ``tensorflow``, such as "python.framework.ops.Tensor".
    """
    return {name: _words(name, instead) for name, instead in table("PRIVATE_NAMES").items()}


def _words(dotted: str, instead: str) -> str:
    module, _, name = dotted.rpartition(".")
    if instead.startswith("tensorflow."):
        instead += "." + name
    home, _, today = table("PRIVATE_MEMBERS").get(module, {}).get(name, "").partition(":")
    if home and not instead and not home.startswith("tpudist."):
        instead = "tensorflow.%s.%s" % (home, today.partition("/")[0])
    if instead.startswith("tensorflow."):
        return instead + ", which is no public API either"
    return instead or "copy the few lines that you use"


def gone_module(name: str) -> str | None:
    """The module that is gone of a dotted name below ``tensorflow``, itself or one above it.

    Args:
      name: such as "python.training.tracking.base".
    """
    return next((each for each in _above(name) if each in table("GONE_MODULES")), None)


def instead_of_module(name: str) -> str:
    """What to type instead of a module that is gone.

    Args:
      name: dotted name below ``tensorflow``.
    """
    instead, modules = table("INSTEAD_OF_MODULES"), table("PRIVATE_MODULES")
    for above in _above(name):
        if above in instead:
            return str(instead[above])
    known = next((modules[each] for each in _above(name) if each in modules), "")
    homes = [each for each in known.split() if gone_module(each) is None]
    if homes and not homes[0].startswith("contrib."):
        return "tensorflow.%s has its names today, and is no public API either" % homes[0]
    if any(part.startswith("gen_") for part in name.split(".")):
        return "tf.raw_ops, which has the ops that TensorFlow's kernels implement"
    return "a public name of tf; where there is none, copy the lines that you use"
