"""The drop-in namespaces: an era's ``tf`` over the installed TensorFlow.

A `Namespace` looks a name up in three places: the era's own names
(``surfaces.DROPINS``), then the installed TensorFlow, then the list of names
that are gone (``surfaces.GONE``), which turns into an error that says what to
type. A name that was found is kept as an attribute, so the second access is an
attribute access.

Which TensorFlow module is searched first depends on the era: ``tf.compat.v1`` for
contrib; ``tf`` for 2.x eras, then ``tf.compat.v2`` - on TensorFlow 1 the other way
round, since there ``tf`` itself has the meanings of 1.x.
"""

from __future__ import annotations

import contextlib
import difflib
import functools
import importlib
import sys
import types
from typing import Any

from tpudist import surfaces
from tpudist.dropin import contrib_modules, exports, private_modules, replaced_names, stand_ins
from tpudist.errors import ContribNameError, EraNameError
from tpudist.surfaces import leads

#: Dunder names of TensorFlow that users read; all others are Python's.
_PASSED_ON = frozenset(
    "__compiler_version__ __git_version__ __internal__ __operators__ __version__".split()
)

#: How the attributes begin that Python and tpudist give a namespace.
_OWN = ("__", "_tpudist_")


class Namespace(types.ModuleType):
    """A module of an era's ``tf``, with the installed one's names below it.

    It has a name for Python, an era, the dotted `path` below the top that it belongs to, which is
    `root` ("", "compat.v1" or "compat.v2"), and the Namespace above, None for a top.

    What a program sets or deletes reaches TensorFlow's modules (:mod:`replaced_names`). Attributes
    are found when first used; of a name that the era had, and that neither the installed
    TensorFlow nor tpudist has, an EraNameError (an AttributeError) says what to type.
    """

    _tpudist_era: str
    _tpudist_path: str
    _tpudist_root: str
    _tpudist_parent: Namespace | None
    _tpudist_bases: list[tuple[str, types.ModuleType]] | None
    _tpudist_replaced: dict[str, replaced_names.Replaced]

    def __init__(
        self, name: str, era: str, path: str = "", root: str = "", parent: Namespace | None = None
    ) -> None:
        super().__init__(name)
        adopt(self, era, path, root, parent)

    def __getattr__(self, name: str) -> object:
        if name == "__all__":  # For from ... import *.
            return [name for name in dir(self) if not name.startswith("_") and hasattr(self, name)]
        is_pythons = name.startswith("__") and name not in _PASSED_ON
        if is_pythons or name in self._tpudist_replaced:  # Which the program has deleted.
            raise AttributeError("module %r has no attribute %r" % (self.__name__, name))
        value = _find(self, name)
        if not _is_gone(value):
            self.__dict__[name] = value
        return value

    def __setattr__(self, name: str, value: object) -> None:
        if private_modules.is_import("%s.%s" % (self.__name__, name), value):
            # A package may have another object under the module's name, or none.
            path = self._tpudist_path
            if not private_modules.is_private(path) and not contrib_modules.is_below(path + "."):
                super().__setattr__(name, value)
        elif name.startswith(_OWN):
            super().__setattr__(name, value)
        else:
            replaced_names.assign(self, bases_of(self), name, value)

    def __delattr__(self, name: str) -> None:
        if name.startswith(_OWN):
            super().__delattr__(name)
        else:
            replaced_names.delete(self, bases_of(self), name)

    def __dir__(self) -> list[str]:
        names = {name for name in self.__dict__ if not name.startswith("_")}
        names.update(_overlaid(self._tpudist_era, self._tpudist_path))
        for base in bases_of(self):
            with contextlib.suppress(ImportError):  # a lazy module that lacks a package
                names.update(dir(base))
        return sorted(names)

    def __repr__(self) -> str:
        return "<module %r over %r>" % (self.__name__, _real_name(self))


def adopt(
    module: Namespace, era: str, path: str = "", root: str = "", parent: Namespace | None = None
) -> None:
    """Gives a module, a Namespace or one to be, the state of a `Namespace`; arguments as of it."""
    module.__dict__["_tpudist_path"] = path  # First: setting attributes asks for it.
    module.__path__ = []
    module._tpudist_era = era
    module._tpudist_root = root
    module._tpudist_parent = parent
    module._tpudist_bases = None
    module._tpudist_replaced = {}


def top(era: str, root: str = "") -> Namespace:
    """The one Namespace of an era's ``tf``, or of its `root`: ``compat.v1`` or ``compat.v2``."""
    module: Any = importlib.import_module("tpudist.%s.tensorflow" % era)
    tops: dict[str, Namespace] = module.__dict__.setdefault("_tpudist_tops", {"": module})
    if root not in tops:
        tops[root] = Namespace(module.__name__ + "." + root, era, root=root)
    return tops[root]


@functools.lru_cache(maxsize=None)
def private_module(era: str, dotted: str) -> types.ModuleType | None:
    """The module of a private dotted name below ``tensorflow``, or None.

    TensorFlow's own where it has every name of the table, else a Namespace over the
    modules that have its names today. So is a package, in which Python binds what is
    imported from below it.
    """
    found = private_modules.homes(dotted)
    if not found and not private_modules.has_names_below(era, dotted):
        return None
    if len(found) == 1 and private_modules.is_complete(era, dotted, found[0]):
        return found[0]
    space = Namespace("tpudist.%s.tensorflow.%s" % (era, dotted), era, dotted)
    space._tpudist_bases = [("", module) for module in found]
    return space


def contrib_module(era: str, dotted: str) -> types.ModuleType | None:
    """TensorFlow 1's own module of a dotted name below ``tf.contrib``, if tpudist has none.

    The attribute of that name may be another: ``tf.contrib.eager`` is no package.
    """
    if not contrib_modules.is_below(dotted) or dotted in _wrapped(era):
        return None
    module: types.ModuleType | None = private_modules.import_or_none("tensorflow." + dotted)
    return module


@functools.lru_cache(maxsize=None)
def _begin() -> None:
    """Has TensorFlow 1 behave as TensorFlow 2 for code of 2.x, if nothing has used it before."""
    tf = exports.tensorflow()
    from tpudist.tfcompat import functions, versions

    if not versions.TF2 and not functions.turn_second_generation_on():
        tf.compat.v1.logging.warning(
            "tpudist: a tensorflow of the eras of 2.x on TensorFlow %s, which was used before. "
            "TensorFlow 1 behaves as TensorFlow 2 only if that is said at its start, so this code "
            "runs in a graph. Instead: its first use before other code builds a graph, or "
            "tf.compat.v1.enable_v2_behavior() at the start",
            versions.TF,
        )


def _find(space: Namespace, name: str) -> object:
    era, path = space._tpudist_era, _join(space._tpudist_path, name)
    if era != "contrib":
        _begin()
    names = (_join(space._tpudist_root, path), path, leads.public_name(path))
    for target in filter(None, map(surfaces.DROPINS[era].get, names)):
        return exports.load(target)
    if path in ("compat.v1", "compat.v2"):
        return top(era, path)
    if private_modules.is_private(path):
        return _private(space, path, name)
    if path in _wrapped(era) or _has_keras_elsewhere(space, path):
        child = Namespace(space.__name__ + "." + name, era, path, space._tpudist_root, space)
        if _overlaid(era, path) or bases_of(child):
            return child
    from tpudist.tfcompat import versions

    is_contrib = era == "contrib" and contrib_modules.is_below(path)
    # TensorFlow's own contrib comes before the table.
    for found in contrib_modules.find(path, top(era)) if is_contrib and versions.TF2 else ():
        return found
    cause = None
    for base in bases_of(space):
        try:
            return getattr(base, name)
        except EraNameError:
            raise
        except AttributeError as error:
            cause = cause or error
            for found in private_modules.behind_a_stub(base, name):
                return found
    if is_contrib and name.startswith("_"):
        for home in contrib_modules.private_homes(space._tpudist_path):
            return getattr(private_module(era, home), name)
    if is_contrib:
        for found in contrib_modules.find(path, top(era)) or _gone(space, path, name, cause):
            return found
    raise _missing(space, name, cause)


def _gone(space: Namespace, path: str, name: str, cause: AttributeError | None) -> list[Any]:
    """[the module, or the placeholder, of a name of contrib], or []."""
    if contrib_modules.is_module(path):
        child = Namespace(space.__name__ + "." + name, "contrib", path, space._tpudist_root, space)
        if not _is_gone(child) or not stand_ins.is_asked():
            return [child]
        # Imported before, it would be what Python finds for "from package import module".
        sys.modules.pop(child.__name__, None)
        return []
    if not contrib_modules.is_name(path) or stand_ins.is_asked():
        return []

    def error(seen: str) -> ContribNameError:
        missing = _missing(space, name, cause)
        why = "%s, and nobody carries the name on in this environment"
        return ContribNameError(seen, why % missing.args[1], missing.args[2])

    return [stand_ins.StandIn(path, error)]


def _is_gone(value: object) -> bool:
    """Whether an object stands for a name that nobody has, and raises when it is used."""
    if not isinstance(value, Namespace):
        return isinstance(value, stand_ins.StandIn)
    path = value._tpudist_path
    if value._tpudist_era != "contrib" or not contrib_modules.is_below(path):
        return False
    below = (key for key in surfaces.HOMES if key.startswith(path + "."))
    if leads.leads_below(path) or any(map(contrib_modules.homes, below)):
        return False
    return not bases_of(value)


def _private(space: Namespace, path: str, name: str) -> object:
    """A name below TensorFlow's private packages."""
    era = space._tpudist_era
    bases = bases_of(space)
    found = [getattr(base, name) for base in bases if hasattr(base, name)][:1]
    found = found or [each for base in bases for each in private_modules.behind_a_stub(base, name)]
    if found and not private_modules.is_module_named(found[0], path):
        return found[0]
    module = private_module(era, path)
    if found and not isinstance(module, Namespace):
        return found[0]
    if module is not None:
        return module
    members = surfaces.PRIVATE_MEMBERS.get(path.rpartition(".")[0], {})
    home, _, names = members.get(name, "").partition(":")
    owners: list[Any] = private_modules.homes(home) if home else []
    if home.startswith("contrib."):
        owners = [functools.reduce(getattr, home.split("."), top("contrib"))]
    if home.startswith("tpudist."):
        owners = [importlib.import_module(home)]
    for owner in owners:
        for today in names.split("/"):
            if hasattr(owner, today):
                return getattr(owner, today)
    raise _missing(space, name, AttributeError("no tensorflow.%s" % path))


def missing(era: str, dotted: str) -> AttributeError:
    """The error for a private module of an era that nobody has."""
    return _missing(top(era), dotted, AttributeError("no module tensorflow.%s" % dotted))


def _missing(space: Namespace, name: str, cause: AttributeError | None) -> AttributeError:
    path = _join(space._tpudist_path, name)
    release = exports.tensorflow().__version__
    close = _close_name(space, name)
    first = path.partition(".")[0]
    still_has_it = first in surfaces.LAST and bases_of(space)
    prefix = leads.gone_prefix(path)
    if prefix is None or (prefix == first != "contrib" and still_has_it):
        return AttributeError(
            "module %r has no attribute %r (nor has TensorFlow %s)%s"
            % (space.__name__, name, release, close and "; did you mean tf.%s?" % close)
        )
    was_there = contrib_modules.is_name(path) or contrib_modules.is_module(path)
    if contrib_modules.is_below(path) and not (
        was_there or leads.lead(path).kind != leads.NOWHERE  # before it went to a package
    ):
        owner = path.rpartition(".")[0]
        return EraNameError(
            "there is no tf.%s" % path,
            "TensorFlow 1.15, the last that has tf.contrib, lists no such name in tf.%s" % owner,
            "tf.%s, if that is meant" % close if close else "a name of dir(tf.%s)" % owner,
        )
    why = (
        str(cause)
        if first not in surfaces.LAST or still_has_it
        else ("tf.%s ended with TensorFlow %s" % (first, surfaces.LAST[first]))
    )
    return EraNameError(
        "tf.%s is not in TensorFlow %s, and tpudist.%s does not bring it back"
        % (path, release, space._tpudist_era),
        why,
        (close and "tf.%s, if that is meant; or " % close)
        + leads.instead_in_a_dropin(space._tpudist_era, path),
    )


def _close_name(space: Namespace, name: str) -> str:
    """The name below ``tf`` that is spelled like an unknown one; "" if there is none."""
    path = space._tpudist_path
    known = set(dir(space)) | surfaces.CONTRIB_NAMES.get(path, frozenset())
    found = difflib.get_close_matches(name, known - {name}, 1, 0.85)
    return _join(path, found[0]) if found else ""


def bases_of(space: Namespace) -> list[types.ModuleType]:
    """The modules of the installed TensorFlow that a Namespace stands over."""
    return [module for _, module in _stands_over(space)]


def _stands_over(space: Namespace) -> list[tuple[str, types.ModuleType]]:
    """Each module, after the generation of the API ("compat.v1" or "compat.v2") it is of."""
    if space._tpudist_bases is None:
        space._tpudist_bases = (
            _top_bases(space)
            if space._tpudist_parent is None
            else _child_bases(space, space._tpudist_parent)
        )
    return space._tpudist_bases


def _top_bases(space: Namespace) -> list[tuple[str, types.ModuleType]]:
    from tpudist.tfcompat import versions

    tf, era = exports.tensorflow(), space._tpudist_era
    if space._tpudist_root:
        root = space._tpudist_root
        has = versions.HAS_COMPAT_V2 or root == "compat.v1"
        return [(root, getattr(tf.compat, root.rpartition(".")[2]) if has else tf)]
    if era == "contrib":
        return [("compat.v1", tf.compat.v1), ("compat.v2", tf)]
    if not versions.HAS_COMPAT_V2:
        return [("compat.v2", tf)]
    both = [tf, tf.compat.v2] if versions.TF2 else [tf.compat.v2, tf]
    return [("compat.v2", module) for module in both]


def _child_bases(space: Namespace, parent: Namespace) -> list[tuple[str, types.ModuleType]]:
    from tpudist.tfcompat import keras_packages

    modules, path = [], space._tpudist_path
    for generation, base in _stands_over(parent):
        below: list[Any] = [getattr(base, path.rpartition(".")[2], None)]
        if generation and keras_packages.leads_elsewhere(generation, path):
            below = keras_packages.modules(generation, path, base)
        for module in below:
            if isinstance(module, types.ModuleType) and (generation, module) not in modules:
                modules.append((generation, module))
        if path == "estimator":  # which newer TensorFlow has in a package of its own
            from tpudist.tfcompat import estimators

            own = estimators.api(generation or "compat.v1")
            modules += [(generation, each) for each in own]
    if not modules:
        module = private_modules.import_or_none(_real_name(space))
        homes = [module] if module is not None else contrib_modules.homes(space._tpudist_path)
        modules = [("", module) for module in homes]
    return modules


def _has_keras_elsewhere(space: Namespace, path: str) -> bool:
    """Whether the era's Keras, which the installed TensorFlow does not have there, has a name."""
    from tpudist.tfcompat import keras_packages

    return any(
        generation and keras_packages.leads_elsewhere(generation, path)
        for generation, _ in _stands_over(space)
    )


def _real_name(space: Namespace) -> str:
    """The dotted name of the module in TensorFlow."""
    return _join("tensorflow", space._tpudist_root, space._tpudist_path)


@functools.lru_cache(maxsize=None)
def _wrapped(era: str) -> set[str]:
    """Dotted names that need a Namespace of their own: the parents of overlaid
    names, and modules whose members may be gone."""
    keys = ["compat.v1"] + list(surfaces.DROPINS[era])
    if era == "contrib":
        keys += [key for key in surfaces.WRITTEN if not contrib_modules.is_name(key)]
        keys += [key for key, to in surfaces.LEADS.items() if to.startswith("estimator.")]
    keys += [key + "." for key in surfaces.GONE if not key.startswith("contrib.")]
    return {key[:end] for key in keys for end, letter in enumerate(key) if letter == "."}


def _overlaid(era: str, path: str) -> set[str]:
    """The names directly below a dotted name that lead to overlaid ones."""
    start = path + "." if path else ""
    return {
        key[len(start) :].partition(".")[0]
        for key in surfaces.DROPINS[era]
        if key.startswith(start)
    }


def _join(*parts: str) -> str:
    return ".".join(part for part in parts if part)
