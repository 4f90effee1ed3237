"""The import hook: a program's files see its era's TensorFlow.

``import tensorflow`` gives the era's drop-in in the files below the program's own folder; in
what it imports from elsewhere (PYTHONPATH, the working folder, packages in editable mode); and
in installed packages that these import, and those in turn, since one program has one TensorFlow.
A line says so when a package first imports TensorFlow. Packages whose names are of another era,
those that are made for a release of TensorFlow's (`packages.FOLLOWING`), TensorFlow's own files
and tpudist's get the real one, and so does what was imported before the program began.
"""

from __future__ import annotations

import builtins
import contextlib
import importlib
import importlib.util
import os
import sys
from typing import TYPE_CHECKING, Any, Sequence

from tpudist import console, machine, surfaces
from tpudist.surfaces.eras import packages, program

if TYPE_CHECKING:
    from types import ModuleType

#: The package of its own in which TensorFlow 1.14 to 2.15 had the Estimator.
_ESTIMATORS = "tensorflow_estimator.python.estimator"
_TAKEN = (
    "tpudist run: %s sees TensorFlow of the era %s, as the script does: %s (--not %s leaves it the "
    "installed one)"
)
_LEFT = "tpudist run: %s saw the installed TensorFlow, not the era's; --also %s gives it that"
#: What imports a module for whoever gives its name: ``mock.patch("tensorflow.nn.relu")``.
_IMPORT_FOR_OTHERS = ("_pytest.monkeypatch", "mock.mock", "pkgutil", "unittest.mock")
_OURS = os.path.realpath(machine.PACKAGE) + os.sep


class Hook:
    """Context manager: inside, the user's files, those below a folder, import the era's drop-in.

    Installed packages named in `also` are the program's too, packages and modules in `left_out`
    are not. On leaving it, Python's import is what it was before, and so are the user's modules in
    ``sys.modules``: those imported inside are forgotten, earlier ones are back.
    """

    def __init__(
        self, era: str, folder: str, also: Sequence[str] = (), left_out: Sequence[str] = ()
    ) -> None:
        self._era, self._also, self._left_out = era, tuple(also), tuple(left_out)
        self._top = "tpudist.%s.tensorflow" % era
        self._folder = os.path.join(os.path.realpath(folder), "")
        self._foreign = self._foreign_folders()
        self._known: dict[Any, Any] = {}
        self._elsewhere: dict[Any, Any] = {}
        self._before: dict[Any, Any] = {}
        #: The packages that imported the installed TensorFlow.
        self.left: list[str] = []

    def __enter__(self) -> Hook:
        self._import = builtins.__import__
        self._import_module = importlib.import_module
        importlib.import_module(self._top)
        self._aliases = set(sys.modules)
        self._hidden = self._take_modules()
        self._before = dict(sys.modules)
        builtins.__import__ = self._replace_import
        importlib.import_module = self._replace_import_module
        return self

    def __exit__(self, *exception: Any) -> None:
        builtins.__import__ = self._import
        importlib.import_module = self._import_module
        self._take_modules()
        for name in set(sys.modules) - self._aliases:
            if name.startswith(self._top + "."):
                del sys.modules[name]
        sys.modules.update(self._hidden)

    def is_users(self, path: object) -> bool:
        """Whether a module's ``__file__``, or None, is one of the user's."""
        if not isinstance(path, str):
            return False
        if path not in self._known:
            real = os.path.realpath(path)
            is_below = real.startswith(self._folder) and not real.startswith(self._foreign)
            self._known[path] = is_below and not machine.is_installed(real[len(self._folder) :])
        return self._known[path]

    def sees_era(self, name: str, path: object) -> bool:
        """Whether ``import tensorflow`` gives the era's in a module of a dotted name and a file."""
        if program.is_named(name, self._left_out):
            return False
        if self.is_users(path) or program.is_named(name, self._also):
            return True
        first = name.partition(".")[0]
        if first not in self._elsewhere:
            self._elsewhere[first] = self._decided(first, name, path)
        return self._elsewhere[first]

    def _decided(self, first: str, name: str, path: Any) -> bool:
        """Whether a package that stands elsewhere is the program's; says so."""
        where = packages.place(name, path)
        if name in self._before or where == packages.NOBODYS:
            return False
        folder = why = packages.top(name, os.path.realpath(path))
        if first in packages.CARRIED:
            why = "it carries %s on" % packages.CARRIED[first]
        elif where == packages.INSTALLED:
            names = packages.names_of(folder)
            own = [
                each for each in names if each.kind in packages.DECIDING and self._era in each.eras
            ]
            is_old = any("v2_2" not in each.eras for each in own)
            if packages.is_of_another(names, self._era) or not (
                is_old or (first not in packages.FOLLOWING and self._is_imported_by_era(first))
            ):
                self.left.append(first)
                return False
            why = program.some(own) or "the program imports it"
        console.note(_TAKEN % (first, surfaces.spelled(self._era), why, first))
        return True

    def _is_imported_by_era(self, first: str) -> bool:
        """Whether what is importing a package now, outside of itself, sees the era's TensorFlow."""
        frame = sys._getframe(1)
        while frame is not None:
            name = frame.f_globals.get("__name__") or ""
            path = frame.f_globals.get("__file__")
            if name.partition(".")[0] != first and packages.place(name, path) != packages.NOBODYS:
                return self.sees_era(name, path)
            frame = frame.f_back  # type: ignore[assignment]
        return False

    def about_failure(self) -> list[str]:
        """Notes, for a program that fails, on packages that saw the installed TensorFlow."""
        names = sorted(set(self.left))
        return [_LEFT % (", ".join(names), " --also ".join(names))] if names else []

    def _foreign_folders(self) -> tuple[str, ...]:
        folders = [_OURS, os.path.join(os.path.realpath(os.path.dirname(os.__file__)), "")]
        origin = file_of_tensorflow()
        if origin:
            installed = os.path.dirname(os.path.dirname(os.path.realpath(origin)))
            folders.append(os.path.join(installed, ""))
        return tuple(
            each for each in folders if each.startswith(self._folder) and each != self._folder
        )

    def _take_modules(self) -> dict[str, ModuleType]:
        taken = {}
        for name, module in list(sys.modules.items()):
            path = getattr(module, "__file__", None)
            is_programs = self.is_users(path) or program.is_named(name, self._also)
            if self._before and name not in self._before and not is_programs:  # of this run
                is_taken = self._elsewhere.get(name.partition(".")[0], False)
                is_programs = is_taken or packages.place(name, path) == packages.OUTSIDE
            if name != "__main__" and is_programs:
                taken[name] = sys.modules.pop(name)
        return taken

    def _replace_import(
        self, name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0
    ) -> ModuleType:
        if not level and fromlist and name.startswith("keras."):
            return self._import_keras(name, globals, locals, fromlist)
        below = _below_estimators(self._era, name, fromlist)
        if name.partition(".")[0] == "tensorflow_estimator":
            importlib.import_module("tpudist.tfcompat.estimators")  # It gets what it lacks there.
        if level or not (below or _is_tensorflow(name)):
            return self._import(name, globals, locals, fromlist, level)
        scope = sys._getframe(1).f_globals if globals is None else globals
        if not self._is_users_scope(scope):
            return self._import(name, globals, locals, fromlist, level)
        ours = "%s.%s" % (self._top, below) if below else self._renamed(name)
        module = self._import(ours, None, None, fromlist or ("__name__",), 0)
        return module if fromlist else sys.modules[self._top]

    def _import_keras(self, name: str, globals: Any, locals: Any, fromlist: Any) -> ModuleType:
        """Imports a module of Keras: from ``tf_keras`` if Keras 3 has none of its name.

        Libraries import private modules of Keras 2 (tensorflow_addons: ``keras.src.engine``).
        """
        try:
            return self._import(name, globals, locals, fromlist, 0)
        except ModuleNotFoundError as error:
            from tpudist.tfcompat import keras_packages

            if error.name and (name + ".").startswith(error.name + ".") and keras_packages.legacy():
                with contextlib.suppress(ModuleNotFoundError):
                    return self._import("tf_" + name, None, None, fromlist, 0)
            raise

    def _replace_import_module(self, name: str, package: Any = None) -> ModuleType:
        scope = sys._getframe(1).f_globals
        if _is_tensorflow(name) and self._is_users_scope(scope):
            name = self._renamed(name)
        return self._import_module(name, package)

    def _is_users_scope(self, scope: Any) -> bool:
        name = scope.get("__name__") or ""
        return name in _IMPORT_FOR_OTHERS or self.sees_era(name, scope.get("__file__"))

    def _renamed(self, name: str) -> str:
        return self._top + name[len("tensorflow") :]


def file_of_tensorflow() -> str | None:
    """The path of the installed TensorFlow's ``__init__.py``, or None."""
    loaded = sys.modules.get("tensorflow")
    if loaded is not None:  # 1.14 replaces its module by one without a spec.
        return getattr(loaded, "__file__", None)
    spec = importlib.util.find_spec("tensorflow")
    return spec.origin if spec else None


def _below_estimators(era: str, name: str, fromlist: Any) -> str:
    """The dotted name below ``tf`` of a module of the package tensorflow_estimator, or "".

    Of one whose names the import asks for are all in the era's table.
    """
    if not fromlist or not (name + ".").startswith(_ESTIMATORS + "."):
        return ""
    below = ("python.estimator" + name[len(_ESTIMATORS) :]).replace("estimator.tpu", "tpu")
    paths = [("%s.%s" % (below, each)).replace("estimator.tpu", "tpu") for each in fromlist]
    known = [key + "." for key in surfaces.DROPINS[era]]
    if all(any(key.startswith(path + ".") for key in known) for path in paths):
        return below
    return ""


def _is_tensorflow(name: str) -> bool:
    return name == "tensorflow" or name.startswith("tensorflow.")
