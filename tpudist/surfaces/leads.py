"""Answers where a name of an old TensorFlow leads, and what to type where it leads nowhere.

Drop-ins, migrate and the doctor ask `lead` about names of ``tf.contrib``. It reads the tables of
``names.txt``, without TensorFlow: what TensorFlow moved (MOVED) or has under another meaning or
privately (LEADS), what tpudist wrote again (WRITTEN), and which packages carry a module on (HOMES;
CONTRIB_HOMES has their names). A name that none of them has, but 1.15 had, is a stand-in. Names
and paths are dotted names below ``tf``, such as "contrib.slim.conv2d".
"""

from __future__ import annotations

import functools
from typing import NamedTuple

from tpudist.surfaces.tables import table

#: Modules of ``tf`` that Keras implements.
_OF_KERAS = ("initializers", "keras", "losses", "metrics", "optimizers")
_PORTS, _V1 = "tpudist.legacy.contrib_ports.", "tensorflow.compat.v1."

#: The kinds of leads: a name of an era's surface, TensorFlow's own, one below its private
#: packages, one of another package, one that tpudist wrote again, and none.
SURFACE, PUBLIC, PRIVATE, PACKAGE = "surface", "public", "private", "package"
KEPT, NOWHERE = "kept", "gone"


class Lead(NamedTuple):
    """The destination of a name of contrib.

    `target` is its full dotted name, as a program reads it, "" if it is gone; `package` what has to
    be installed beside TensorFlow and tpudist, or ""; `parameters` {parameter: what it is called
    today} of those that kept their meaning, None if all did, and `places` how many of these kept
    their places.
    """

    kind: str
    target: str
    package: str = ""
    parameters: dict[str, str] | None = None
    places: int = 0


@functools.lru_cache(maxsize=None)
def lead(path: str) -> Lead:
    """Finds the destination of a name or module of contrib."""
    public = path if path in table("CONTRIB_NAMES") else public_name(path)
    found = _listed(path) or _listed(public) or _inside_a_module(path)
    kept = table("PARAMETERS").get(public_name(path))
    if kept is None:
        return found
    places = len(kept.partition("|")[0].split())
    pairs = [each.partition("=") for each in kept.replace("|", "").split()]
    return found._replace(parameters={old: new or old for old, _, new in pairs}, places=places)


def public_name(path: str) -> str:
    """The public spelling of a deep name: ``contrib.opt.python.x.Y`` is ``contrib.opt.Y``."""
    parts = path.split(".")
    if len(parts) > 3 and parts[0] == "contrib" and parts[2] in ("python", "ops"):
        return ".".join(parts[:2] + parts[-1:])
    return path


def _listed(path: str) -> Lead | None:
    """The lead of a name that a table has."""
    if path in table("DROPINS")["contrib"]:
        return Lead(SURFACE, "tpudist.contrib.tensorflow." + path)
    if path in table("WRITTEN"):
        return Lead(KEPT, _PORTS + path.rpartition(".")[2])
    known = table("LEADS").get(path) or table("MOVED").get(path)
    if known:
        return _in_tensorflow(known)
    home = _home_of(path)
    if home:
        return _at(home)
    if path in table("HOMES"):  # a module whose names nobody has listed
        first = table("HOMES")[path].split()[0]
        is_tensorflows = first.startswith("tensorflow.")
        return Lead(PRIVATE, first, "" if is_tensorflows else first.partition(".")[0])
    return None


def _in_tensorflow(known: str) -> Lead:
    if known.startswith(("python.", "core.")):
        return Lead(PRIVATE, "tensorflow." + known)
    return Lead(PUBLIC, _V1 + known)


def _at(home: str) -> Lead:
    """The lead to a full name, of whatever package."""
    first = home.partition(".")[0]
    if first.startswith("!"):  # no attribute of its package
        return Lead(PRIVATE, home[1:], first[1:])
    if first == "tensorflow":
        return Lead(PUBLIC if home.startswith(_V1) else PRIVATE, home)
    return Lead(PACKAGE, home, first)


def _inside_a_module(path: str) -> Lead:
    """The lead of a name below a module that leads elsewhere as a whole."""
    for module in _above(path)[1:]:
        rest = path[len(module) :]
        home = table("HOMES").get(module, "")
        if module in table("CONTRIB_HOMES"):  # its names are known, and this is none of them
            break
        if module in table("LEADS"):
            return _in_tensorflow(table("LEADS")[module] + rest)
        if home.startswith("tensorflow."):
            return _at(home + rest)
        if home == "tensorflow_gan":  # it ends with 2.15
            return Lead(PRIVATE, home + rest, home)
    return Lead(NOWHERE, "")


def _home_of(path: str) -> str:
    """The full name that a name or module of contrib has in a package, "" if in none.

    A module is carried on by the one that has most of its names; names that are elsewhere lead
    there.
    """
    homes: dict[str, dict[str, frozenset[str]]] = table("CONTRIB_HOMES")
    if path in homes:
        return next((home for home in homes[path] if home[0] != "!"), "")
    module, _, name = path.rpartition(".")
    for home, names in homes.get(module, {}).items():
        if name in names:
            return "%s.%s" % (home, name)
    if module in homes or module.count(".") < 2:
        return ""
    above = _home_of(module)
    is_class = above.rpartition(".")[2][:1].isupper()
    is_known = any(name in each.get(above, ()) for each in homes.values())
    return "%s.%s" % (above, name) if is_class or is_known else ""


def leads_below(module: str) -> bool:
    """Whether names below a module of contrib lead somewhere."""
    tables = [table(name) for name in ("MOVED", "LEADS", "WRITTEN", "CONTRIB_HOMES")]
    tables.append(table("DROPINS")["contrib"])
    starts = module + ".", public_name(module + ".x").rpartition(".")[0] + "."
    return any(key.startswith(starts) for each in tables for key in each)


def successor(path: str) -> Lead | None:
    """The successor of a name or module of contrib in a migrated program, or None.

    Names of the eras' own surfaces have rules of their own. What is private to TensorFlow,
    or asks for another program (GONE says so of that very name), is reported.
    """
    is_gone = path in table("GONE") and path not in table("CONTRIB_NAMES")
    found = lead(path)
    return None if is_gone or found.kind in (SURFACE, PRIVATE, NOWHERE) else found


@functools.lru_cache(maxsize=None)
def not_carried() -> dict[str, str]:
    """{full name that no package has: the name of contrib that it would be}.

    A module of contrib had each of these names, and what carries that module on has not: for
    contrib.framework.nest "tf_slim.nest".
    """
    homes = table("CONTRIB_HOMES").values()
    there = {"%s.%s" % (home, name) for each in homes for home in each for name in each[home]}
    modules = table("CONTRIB_NAMES")
    names = ["%s.%s" % (module, name) for module in modules for name in modules[module]]
    names += [*modules, *table("MOVED"), *table("LEADS")]
    names += [each.rpartition(".")[0] for each in names]
    found: dict[str, str] = {}
    for old in dict.fromkeys(names):
        module, _, name = old.rpartition(".")
        above = successor(module)
        full = "%s.%s" % (above.target, name) if above is not None else ""
        if full and full not in there and lead(old).kind != PACKAGE:
            found.setdefault(full, old)
    return found


# What to type where a name leads nowhere. A name is asked for when the installed TensorFlow does
# not have it, so that none costs anything on the releases that have it still.


def _above(name: str) -> list[str]:
    """A dotted name and those above it, the longest first."""
    parts = name.split(".")
    return [".".join(parts[:end]) for end in range(len(parts), 0, -1)]


def gone_prefix(name: str) -> str | None:
    """The longest key of GONE that is a name or one of its parents, or None."""
    return next((each for each in _above(name) if each in table("GONE")), None)


def gone_text(name: str) -> str:
    """Says what to type instead of a name of contrib, whether or not somebody carries it on."""
    found, public = lead(name), public_name(name)
    words = table("GONE")[gone_prefix(public if public in table("GONE") else name) or "contrib"]
    if found.kind == PRIVATE:
        words += "; %s has it, which is no public API" % found.target
    return str(words)


def instead_in_a_dropin(era: str, name: str) -> str:
    """The replacement, as text, for a name that `gone_prefix` covers and an era's drop-in lacks."""
    prefix = gone_prefix(name) or ""
    text: str = table("GONE_IN_A_DROPIN").get(prefix) or table("GONE")[prefix]
    in_contrib = name == "contrib" or (name.startswith("contrib.") and lead(name).kind != NOWHERE)
    if era == "contrib" or not in_contrib:
        return text
    return (
        "the era that has it: --era contrib, or from tpudist.contrib import tensorflow as tf; or "
        + text
    )


def gone_today(name: str) -> str | None:
    """The longest key of `gone_names` that is a name or one of its parents, or None.

    None is also said of what the newest TensorFlow has under another name.
    """
    for each in _above(name):
        if each in table("RENAMED_TODAY"):
            return None
        if each in gone_names():
            return each
    return None


def keras_2_has(name: str, is_v1: bool) -> bool:
    """Whether a name that the newest TensorFlow has not is there with TF_USE_LEGACY_KERAS=1.

    If `is_v1`, it is one of ``tf.compat.v1``.
    """
    if name in table("KERAS_2_OF_V1"):
        return is_v1
    return name.partition(".")[0] in _OF_KERAS and name not in table("KERAS_2_LACKS")


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
    """The module that is gone of a dotted name below ``tensorflow``, itself or one above it."""
    return next((each for each in _above(name) if each in table("GONE_MODULES")), None)


def instead_of_module(name: str) -> str:
    """Says what to type instead of a module below ``tensorflow`` that is gone."""
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
