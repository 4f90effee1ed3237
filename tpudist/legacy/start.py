"""Finds what `tpudist run` starts: a script by its path, or a module by its name (``-m``)."""

from __future__ import annotations

import importlib
import os
import sys
from typing import TYPE_CHECKING, Any

from tpudist.errors import ScriptError
from tpudist.surfaces.eras import notebook_cells

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from types import CodeType, ModuleType


class Script:
    """A script, as ``python path`` starts it; a ScriptError if there is none.

    `folder` comes first on ``sys.path``: where it is, links followed. `own` is the folder that its
    own files are below, or None to find it by the path; `attributes` those of ``__main__``.
    """

    own = None

    def __init__(self, path: str) -> None:
        if os.path.isdir(path):
            raise ScriptError(
                "%s is a folder" % path,
                "a script is a file",
                "tpudist run %s, or tpudist run -m PACKAGE" % os.path.join(path, "train.py"),
            )
        if not os.path.isfile(path):
            raise ScriptError(
                "no file %s" % path,
                "the working folder is %s" % os.getcwd(),
                "tpudist run [--era ERA] path/to/script.py [args], or tpudist run -m MODULE",
            )
        self.path = path
        self.folder = os.path.dirname(os.path.realpath(path))
        self.attributes = {"__file__": os.path.abspath(path), "__package__": None}

    def run(self, code: CodeType, module: ModuleType) -> None:
        """Runs the script's code in a module."""
        exec(code, module.__dict__)


class Notebook(Script):
    """A notebook, whose cells IPython runs."""

    def run(self, unused_code: CodeType, module: ModuleType) -> None:
        """Runs the cells in a module."""
        from tpudist.legacy import notebook_runs

        notebook_runs.run(notebook_cells.read(self.path), module, self.path)


class Module:
    """A module, or the ``__main__`` of a package, as ``python -m name`` starts it.

    Its attributes are those of `Script`; the working folder is first on the path.

    Raises:
      ScriptError: there is no such module.
    """

    def __init__(self, name: str) -> None:
        self.folder = os.getcwd()
        sys.path.insert(0, self.folder)
        try:
            spec = _spec(name)
        finally:
            sys.path.remove(self.folder)
        self.path = spec.origin or ""
        own = os.path.join(os.path.realpath(self.folder), "")
        self.own = self.folder if os.path.realpath(self.path).startswith(own) else None
        self._package = spec.parent
        self.attributes: dict[str, Any] = {"__file__": spec.origin, "__package__": spec.parent}
        self.attributes.update(__spec__=spec, __loader__=spec.loader, __cached__=spec.cached)

    def run(self, code: CodeType, module: ModuleType) -> None:
        """Imports the packages that it is in, as Python does, and runs its code in a module."""
        if self._package:
            importlib.import_module(self._package)
        exec(code, module.__dict__)


def _spec(name: str) -> ModuleSpec:
    """The spec of what ``-m name`` executes; nothing is imported."""
    path: Any = None
    spec: Any = None
    parts = name.split(".")
    for end in range(1, len(parts) + 1):
        spec = _find(".".join(parts[:end]), path) if end == 1 or path is not None else None
        if spec is None:
            raise _missing("-m %s: no module named %s" % (name, ".".join(parts[:end])))
        path = spec.submodule_search_locations
    if path is not None:
        spec = _find(name + ".__main__", path)
        if spec is None:
            raise _missing("-m %s: a package without a module __main__" % name)
    if not (spec.origin or "").endswith(".py"):
        raise _missing("-m %s: %s" % (name, spec.origin))
    return spec


def _find(name: str, path: Any) -> ModuleSpec | None:
    for finder in sys.meta_path:
        spec = finder.find_spec(name, path) if hasattr(finder, "find_spec") else None
        if spec is not None:
            return spec
    return None


def _missing(seen: str) -> ScriptError:
    return ScriptError(
        seen,
        "it is looked for from %s on, and executed as Python source" % os.getcwd(),
        "tpudist run -m PACKAGE.MODULE from the folder that PACKAGE is in, or with that folder "
        "on PYTHONPATH",
    )
