"""Writes the ``.pyi`` stubs of lazily loaded names from the table, for checkers and editors.

    python -m tpudist.dropin.stubs [--check]

A drop-in's stub names what the era has from tpudist; every other name is the
installed TensorFlow's, as far as a checker knows it, else of any type (so are the
names of TensorFlow 1, which no stubs describe). A test holds the files fresh.
"""

from __future__ import annotations

import os
import pkgutil
import sys
from typing import TYPE_CHECKING

import tpudist
from tpudist import files, machine, surfaces

if TYPE_CHECKING:
    from typing import Iterable, Mapping

_HEAD = "# Written by: python -m tpudist.dropin.stubs\n"
_ANY = "def __getattr__(name: str) -> Any: ...  # Not every release of TensorFlow has the rest.\n"

#: Modules below a drop-in that code imports as modules (``from ...tensorflow.keras.layers
#: import Dense``), besides the modules that the table has names in.
_IMPORTED = ("compat.v1", "compat.v2", "keras") + tuple(
    "keras." + name
    for name in (
        "applications",
        "backend",
        "callbacks",
        "datasets",
        "initializers",
        "layers",
        "losses",
        "metrics",
        "models",
        "optimizers",
        "preprocessing",
        "regularizers",
        "utils",
    )
)


def stubs() -> dict[str, str]:
    """{path below the package: text} of all stubs that are written."""
    texts = {"__init__.pyi": _package()}
    for era in surfaces.ERAS:
        texts[era + "/__init__.pyi"] = _era(era)
        texts.update(_dropin(era, surfaces.DROPINS[era]))
    return texts


def _package() -> str:
    functions = sorted(vars(tpudist)["_FUNCTIONS"].items())
    lines = ["from %s import %s as %s" % (module, name, name) for name, module in functions]
    lines += ["from tpudist import %s as %s" % (name, name) for name in _modules(machine.PACKAGE)]
    return _text(lines, "__version__: str\n")


def _era(era: str) -> str:
    exports = surfaces.EXPORTS[era]
    lines = [_import(target, name) for name, target in exports.items()]
    lines += [
        "from tpudist.%s import %s as %s" % (era, name, name)
        for name in _modules(os.path.join(machine.PACKAGE, era))
    ]
    return _text(lines)


def _modules(folder: str) -> list[str]:
    """Names of the public modules and packages in a folder."""
    return sorted(
        module.name for module in pkgutil.iter_modules([folder]) if not module.name.startswith("_")
    )


def _dropin(era: str, names: Mapping[str, str]) -> dict[str, str]:
    """{path: text} of the stubs of an era's ``tf``."""
    modules = _closed(_IMPORTED) | _closed(name.rpartition(".")[0] for name in names)
    parents = {_parent(module) for module in modules if module}
    return {
        _path(era, module, module in parents): _module(era, module, modules, names)
        for module in modules
    }


def _closed(modules: Iterable[str]) -> set[str]:
    """Dotted names and all their parents, "" at the top."""
    names = {""}
    for module in modules:
        parts = module.split(".")
        names.update(".".join(parts[:end]) for end in range(1, len(parts) + 1))
    return names


def _parent(module: str) -> str:
    return module.rpartition(".")[0]


def _path(era: str, module: str, is_package: bool) -> str:
    parts = [era, "tensorflow"] + (module.split(".") if module else [])
    return "/".join(parts) + ("/__init__.pyi" if is_package else ".pyi")


def _module(era: str, module: str, modules: Iterable[str], names: Mapping[str, str]) -> str:
    package = ".".join(["tpudist", era, "tensorflow"] + ([module] if module else []))
    lines = [
        "from %s import %s as %s" % (package, each.rpartition(".")[2], each.rpartition(".")[2])
        for each in modules
        if each and _parent(each) == module
    ]
    if module.startswith(("compat.v1", "compat.v2")):
        root = ".".join(module.split(".")[:2])
        inner = module[len(root) + 1 :]  # its names are those of the era's, but for its own
        above = package[: -len("." + module)] + ("." + inner if inner else "")
        lines += [
            "from %s import %s as %s" % (above, each.rpartition(".")[2], each.rpartition(".")[2])
            for each in modules
            if each and _parent(each) == inner and each not in ("compat", "python")
            if "%s.%s" % (root, each) not in modules
        ]
        own = {key: value for key, value in names.items() if _parent(key) == module}
        names = {
            "%s.%s" % (root, key): value for key, value in names.items() if _parent(key) == inner
        }
        names.update(own)
    lines += [
        _import(target, name.rpartition(".")[2])
        for name, target in names.items()
        if _parent(name) == module
    ]
    stars = ["from %s import *" % each for each in _native(era, module)]
    return _text(lines, _ANY, ["from typing import Any"], stars)


def _native(era: str, module: str) -> list[str]:
    """Modules of the installed TensorFlow behind one of a drop-in; the last one wins.

    Stubs of TensorFlow describe the 2.x of today. The code itself, from which an editor
    guesses types, is asked where they are silent and only names of classes matter.
    """
    first = module.split(".")[0]
    if module.startswith("compat.v1."):
        return []
    if era == "contrib" or first == "python" or module in ("compat", "compat.v1"):
        return []
    if module in ("", "compat.v2"):
        return ["tensorflow"]
    guessed = [] if first == "keras" else ["tensorflow._api.v2." + module]
    return guessed + ["tensorflow." + module]


def _import(target: str, name: str) -> str:
    """The statements that give a target of the table a name.

    A stub's import is its own affair, unless it is ``import X as X``.
    """
    module, _, attribute = target.partition(":")
    if module == "tensorflow":
        module, _, attribute = ("tensorflow._api.v2." + attribute).rpartition(".")
    if attribute == name:
        return "from %s import %s as %s" % (module, name, name)
    return "from %s import %s as _%s\n%s = _%s" % (module, attribute, name, name, name)


def _text(
    lines: Iterable[str], tail: str = "", first: Iterable[str] = (), stars: Iterable[str] = ()
) -> str:
    """A stub; imports by name come after ``*`` imports, and so override them."""
    blocks = ["\n".join(block) for block in (first, stars, sorted(lines)) if block]
    return (
        "\n\n".join([_HEAD + (blocks[0] if blocks else "")] + blocks[1:])
        + "\n"
        + ("\n" + tail if tail else "")
    )


def stale(root: str = machine.PACKAGE) -> list[str]:
    """Paths below the package whose stub is missing, outdated or no longer written.

    Args:
      root: the package's folder.
    """
    wanted = stubs()
    found = {
        os.path.relpath(os.path.join(base, name), root).replace(os.sep, "/")
        for base, _, names in os.walk(root)
        for name in names
        if name.endswith(".pyi") and _read(root, os.path.join(base, name)).startswith(_HEAD)
    }
    return sorted(found - set(wanted)) + sorted(
        path for path, text in wanted.items() if path not in found or _read(root, path) != text
    )


def _read(root: str, path: str) -> str:
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return file.read()


def main(arguments: list[str]) -> int:
    """Writes the stubs; with ``--check`` names those that are stale.

    Args:
      arguments: of the command line.

    Returns:
      1 if ``--check`` finds a stale one, else 0.
    """
    wanted, outdated = stubs(), stale()
    for path in outdated:
        print(path)
        if "--check" not in arguments:
            place = os.path.join(machine.PACKAGE, path)
            if path in wanted:
                files.write(place, wanted[path])
            else:
                os.unlink(place)
    return int(bool(outdated) and "--check" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
