"""Finds where each name of ``tf.contrib`` leads, for drop-ins, migrate and doctor.

`lead` reads the tables of ``names.txt``, without TensorFlow: what TensorFlow moved (MOVED) or
has under another meaning or privately (LEADS), what tpudist wrote again (WRITTEN), and which
packages carry a module on (HOMES; CONTRIB_HOMES has their names). A name that none of them has,
but 1.15 had (CONTRIB_NAMES), is a stand-in.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

from tpudist.surfaces.tables import table

_PORTS = "tpudist.legacy.contrib_ports."


def contrib_modules() -> dict[str, frozenset[str]]:
    """{module of 1.15's contrib: its public names}, such as "contrib.opt"."""
    found: dict[str, frozenset[str]] = table("CONTRIB_NAMES")
    return found


def public_name(path: str) -> str:
    """The public spelling of a deep one: ``contrib.opt.python.training.x.Y`` is ``contrib.opt.Y``.

    Args:
      path: dotted name below ``tf``.
    """
    parts = path.split(".")
    if len(parts) > 3 and parts[0] == "contrib" and parts[2] in ("python", "ops"):
        return ".".join(parts[:2] + parts[-1:])
    return path


#: The kinds of leads: a name of an era's surface, TensorFlow's own, one below its private
#: packages, one of another package, one that tpudist wrote again, and none.
SURFACE, PUBLIC, PRIVATE, PACKAGE = "surface", "public", "private", "package"
KEPT, NOWHERE = "kept", "gone"

_V1 = "tensorflow.compat.v1."


class Lead(NamedTuple):
    """Where a name of contrib leads.

    Attributes:
      kind: one of the constants of this module.
      target: full dotted name, as a program reads it; "" if it is gone. Of a surface it is
        that of the drop-in namespace.
      package: what has to be installed beside TensorFlow and tpudist, as pip names it; "".
    """

    kind: str
    target: str
    package: str = ""


@functools.lru_cache(maxsize=None)
def lead(path: str) -> Lead:
    """Where a name of contrib leads.

    Args:
      path: dotted name below ``tf``, of a name or module: "contrib.slim.conv2d".
    """
    public = path if path in contrib_modules() else public_name(path)
    for spelled in dict.fromkeys((path, public)):
        if spelled in table("DROPINS")["contrib"]:
            return Lead(SURFACE, "tpudist.contrib.tensorflow." + spelled)
        if spelled in table("WRITTEN"):
            return Lead(KEPT, _PORTS + spelled.rpartition(".")[2])
        known = table("LEADS").get(spelled) or table("MOVED").get(spelled)
        if known:
            return _tensorflow(known)
        home = home_of(spelled)
        if home:
            return _elsewhere(home)
        if spelled in table("HOMES"):  # a module whose names nobody has listed
            first = table("HOMES")[spelled].split()[0]
            return Lead(
                PRIVATE, first, "" if first.startswith("tensorflow.") else first.partition(".")[0]
            )
    return _inside_a_module(path)


def _tensorflow(known: str) -> Lead:
    if known.startswith(("python.", "core.")):
        return Lead(PRIVATE, "tensorflow." + known)
    return Lead(PUBLIC, _V1 + known)


def _elsewhere(home: str) -> Lead:
    first = home.partition(".")[0]
    if first.startswith("!"):  # no attribute of its package
        return Lead(PRIVATE, home[1:], first[1:])
    if first == "tensorflow":
        return Lead(PUBLIC if home.startswith(_V1) else PRIVATE, home)
    return Lead(PACKAGE, home, first)


def _inside_a_module(path: str) -> Lead:
    """The lead of a name below a module that leads elsewhere as a whole."""
    module, _, name = path.rpartition(".")
    while module:
        if module in _rows():  # its names are known, and this is none of them
            break
        if module in table("LEADS"):
            return _tensorflow("%s.%s" % (table("LEADS")[module], name))
        if table("HOMES").get(module, "").startswith("tensorflow."):
            return _elsewhere("%s.%s" % (table("HOMES")[module], name))
        if table("HOMES").get(module) == "tensorflow_gan":  # it ends with 2.15
            return Lead(PRIVATE, "tensorflow_gan." + name, "tensorflow_gan")
        module, _, last = module.rpartition(".")
        name = "%s.%s" % (last, name)
    return Lead(NOWHERE, "")


def _rows() -> dict[str, dict[str, frozenset[str]]]:
    """{module of contrib: {what carries it on: names there}}, the largest first."""
    found: dict[str, dict[str, frozenset[str]]] = table("CONTRIB_HOMES")
    return found


def home_of(path: str) -> str:
    """The full name that a name or module of contrib has in a package, "" if in none.

    Args:
      path: dotted name below ``tf``. A module is carried on by the one that has most of its
        names; names that are elsewhere lead there.
    """
    if path in _rows():
        return next((home for home in _rows()[path] if home[0] != "!"), "")
    module, _, name = path.rpartition(".")
    for home, names in _rows().get(module, {}).items():
        if name in names:
            return "%s.%s" % (home, name)
    if module in _rows() or module.count(".") < 2:
        return ""
    above = home_of(module)
    is_class = above.rpartition(".")[2][:1].isupper()
    return "%s.%s" % (above, name) if is_class or name in _names_of(above) else ""


def _names_of(home: str) -> frozenset[str]:
    """The names of a module of a package, by whatever module of contrib it carries on."""
    return frozenset().union(*(homes.get(home, ()) for homes in _rows().values()))


def leads_below(module: str) -> bool:
    """Whether names below a module of contrib lead somewhere."""
    tables = (
        table("MOVED"),
        table("LEADS"),
        table("WRITTEN"),
        table("DROPINS")["contrib"],
        _rows(),
    )
    start = module + "."
    public = public_name(module + ".x").rpartition(".")[0] + "."
    return any(key.startswith((start, public)) for table in tables for key in table)


class Successor(NamedTuple):
    """What a migrated program says for a name of contrib.

    Attributes:
      target: full dotted name; ``tensorflow.compat.v1.x`` is ``tf.x`` of the program.
      parameters: {parameter: what it is called today}, of those that kept their meaning;
        None if all did.
      places: how many of these kept their places.
      package: as of `Lead`.
    """

    target: str
    parameters: dict[str, str] | None
    places: int
    package: str


def successor(path: str) -> Successor | None:
    """What a migrated program says for a name or module of contrib, None if there is nothing.

    Names of the eras' own surfaces have rules of their own. What is private to TensorFlow,
    or asks for another program (`tpudist.surfaces.gone` says so of that very name), is told.

    Args:
      path: dotted name below ``tf``.
    """
    where = lead(path)
    if where.kind not in (PUBLIC, PACKAGE, KEPT) or _is_gone(path):
        return None
    kept = table("PARAMETERS").get(public_name(path))
    if kept is None:
        return Successor(where.target, None, 0, where.package)
    places = len(kept.partition("|")[0].split())
    return Successor(where.target, _parameters(kept.replace("|", "")), places, where.package)


def _is_gone(path: str) -> bool:
    """Whether what to type instead is said of that very name, not of its module."""
    return path in table("GONE") and path not in contrib_modules()


def _parameters(kept: str) -> dict[str, str]:
    pairs = [each.partition("=") for each in kept.split()]
    return {old: new or old for old, _, new in pairs}
