"""Writes the ``.pyi`` stubs of lazily loaded names from the table, for checkers and editors.

    python -m compat.make.stubs [--check]

A drop-in's stub names what the era has from tpudist; every other name is of any type.
The stubs of TensorFlow that checkers bring along are of another release and another Keras than
an era's, and would report what is right: `Dense(1, input_shape=(2,))`, a Variable of a number,
a Tensor's remainder. A test holds the files fresh.
"""

from __future__ import annotations

import os
import pkgutil
import sys
from typing import Iterable, Mapping

import tpudist
from tpudist import files, machine, surfaces

_HEAD = "# Written by: python -m compat.make.stubs\n"
_ANY = "def __getattr__(name: str) -> Any: ...  # The installed TensorFlow's, of any type.\n"

#: Modules below a drop-in that code imports as modules (``from ...tensorflow.keras.layers
#: import Dense``), besides the modules that the table has names in.
_IMPORTED = """
compat.v1 compat.v2 core.framework core.protobuf io keras.activations keras.applications
keras.backend keras.callbacks keras.constraints keras.datasets keras.initializers
keras.layers.experimental keras.losses keras.metrics keras.mixed_precision.experimental keras.models
keras.optimizers.schedules keras.preprocessing.image keras.preprocessing.sequence
keras.preprocessing.text keras.regularizers keras.utils python.client python.data.ops python.eager
python.framework python.keras.callbacks python.keras.engine python.keras.layers python.layers
python.ops python.platform python.saved_model python.training python.util
""".split()
#: The same, of the contrib era alone.
_IMPORTED_OF_CONTRIB = """
contrib.data contrib.eager.python contrib.framework.python.ops contrib.layers.python.layers
contrib.rnn contrib.seq2seq.python.ops contrib.slim.nets contrib.summary
contrib.training.python.training
""".split()


def stubs() -> dict[str, str]:
    """{path below the package: text} of all stubs that are written."""
    texts = {"__init__.pyi": _package()}
    for era in surfaces.ERAS:
        texts[era + "/__init__.pyi"] = _era(era)
        ours = {
            name: target
            for name, target in surfaces.DROPINS[era].items()
            if not target.startswith("tensorflow:")
        }
        texts.update(_dropin(era, ours))
    return texts


def _package() -> str:
    functions = sorted(vars(tpudist)["_FUNCTIONS"].items())
    lines = ["from %s import %s as %s" % (module, name, name) for name, module in functions]
    lines += ["from tpudist import %s as %s" % (name, name) for name in _modules(machine.PACKAGE)]
    return _text(lines, "__version__: str\n")


def _era(era: str) -> str:
    lines = []
    for name, target in surfaces.EXPORTS[era].items():
        if target.startswith("tensorflow:"):  # of any type, by way of the drop-in
            module, _, attribute = target.replace(":", ".").rpartition(".")
            target = "tpudist.%s.%s:%s" % (era, module, attribute)
        lines.append(_import(target, name))
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
    imported = _IMPORTED + (_IMPORTED_OF_CONTRIB if era == "contrib" else [])
    modules = _closed(imported) | _closed(_parent(name) for name in names)
    return {_path(era, module): _module(era, module, modules, names) for module in modules}


def _closed(modules: Iterable[str]) -> set[str]:
    """Dotted names and all their parents, "" at the top."""
    names = {""}
    for module in modules:
        parts = module.split(".")
        names.update(".".join(parts[:end]) for end in range(1, len(parts) + 1))
    return names


def _parent(module: str) -> str:
    return module.rpartition(".")[0]


def _path(era: str, module: str) -> str:
    parts = [era, "tensorflow"] + (module.split(".") if module else [])
    return "/".join(parts + ["__init__.pyi"])


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
    return _text(lines, _ANY, "from typing import Any")


def _import(target: str, name: str) -> str:
    """The statements that give a target of the table a name.

    A stub's import is its own affair, unless it is ``import X as X``.
    """
    module, _, attribute = target.partition(":")
    if attribute == name:
        return "from %s import %s as %s" % (module, name, name)
    return "from %s import %s as _%s\n%s = _%s" % (module, attribute, name, name, name)


def _text(imports: Iterable[str], tail: str = "", first: str = "") -> str:
    """A stub: its first import, the others in order, and what follows them."""
    blocks = [first, "\n".join(sorted(imports)), tail]
    return _HEAD + "\n\n".join(each.rstrip("\n") for each in blocks if each) + "\n"


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
