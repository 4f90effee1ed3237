"""The import hook: only the user's files see an era's TensorFlow.

``import tensorflow`` in a file of the user's gives the era's drop-in: one below the
script's folder, that of the package which the script is a part of, or one of PYTHONPATH
that the script is below. TensorFlow's own files, those of packages installed below that
folder (site-packages, and wherever TensorFlow itself is installed) and tpudist's get the
real one; so do those of every other package, but for one that names ``tf.estimator`` (`_CARRIED`)
where TensorFlow has none any more.
"""

import builtins
import importlib
import importlib.util
import os
import sys

from tpudist import machine, surfaces

#: Packages that carry parts of contrib on, and cannot be imported without ``tf.estimator``.
_CARRIED = ("tensorflow_gan",)
#: The package of its own in which TensorFlow 1.14 to 2.15 had the Estimator.
_ESTIMATORS = "tensorflow_estimator.python.estimator"
_OURS = os.path.dirname(os.path.dirname(os.path.realpath(__file__))) + os.sep


class Hook:
    """Context manager: inside, the user's files import the era's drop-in.

    Args:
      era: an element of ``surfaces.ERAS``.
      folder: folder of the user's files.

    On leaving it, Python's import is what it was before, and so are the user's
    modules in ``sys.modules``: those imported inside are forgotten, earlier ones
    are back.
    """

    def __init__(self, era, folder):
        self._era = era
        self._top = "tpudist.%s.tensorflow" % era
        self._folder = os.path.join(os.path.realpath(folder), "")
        self._foreign = self._foreign_folders()
        self._carried = _carried_folders()
        self._known = {}

    def __enter__(self):
        self._import = builtins.__import__
        self._import_module = importlib.import_module
        importlib.import_module(self._top)
        self._aliases = set(sys.modules)
        self._hidden = self._take_modules()
        builtins.__import__ = self._replace_import
        importlib.import_module = self._replace_import_module
        return self

    def __exit__(self, *exception):
        builtins.__import__ = self._import
        importlib.import_module = self._import_module
        self._take_modules()
        for name in set(sys.modules) - self._aliases:
            if name.startswith(self._top + "."):
                del sys.modules[name]
        sys.modules.update(self._hidden)

    def is_users(self, path):
        """Whether a file is one of the user's.

        Args:
          path: a module's ``__file__``, or None.
        """
        if not isinstance(path, str):
            return False
        if path not in self._known:
            self._known[path] = self._below_folder(os.path.realpath(path))
        return self._known[path]

    def _below_folder(self, path):
        if path.startswith(self._carried):
            return True
        if not path.startswith(self._folder) or path.startswith(self._foreign):
            return False
        return not machine.is_installed(path[len(self._folder) :])

    def _foreign_folders(self):
        origin = _file_of_tensorflow()
        folders = [_OURS]
        if origin:
            installed = os.path.dirname(os.path.dirname(os.path.realpath(origin)))
            if os.path.join(installed, "") != self._folder:
                folders.append(os.path.join(installed, ""))
        return tuple(folder for folder in folders if folder.startswith(self._folder))

    def _take_modules(self):
        taken = {}
        for name, module in list(sys.modules.items()):
            if name != "__main__" and self.is_users(getattr(module, "__file__", None)):
                taken[name] = sys.modules.pop(name)
        return taken

    def _replace_import(self, name, globals=None, locals=None, fromlist=(), level=0):
        below = _below_estimators(self._era, name, fromlist)
        if level or not (below or _is_tensorflow(name)):
            return self._import(name, globals, locals, fromlist, level)
        scope = sys._getframe(1).f_globals if globals is None else globals
        if not self.is_users(scope.get("__file__")):
            return self._import(name, globals, locals, fromlist, level)
        ours = "%s.%s" % (self._top, below) if below else self._renamed(name)
        found = self._import(ours, None, None, fromlist or ("__name__",), 0)
        return found if fromlist else sys.modules[self._top]

    def _replace_import_module(self, name, package=None):
        scope = sys._getframe(1).f_globals
        if _is_tensorflow(name) and self.is_users(scope.get("__file__")):
            name = self._renamed(name)
        return self._import_module(name, package)

    def _renamed(self, name):
        return self._top + name[len("tensorflow") :]


def _carried_folders():
    """The folders of `_CARRIED`, on releases that they do not fit by themselves."""
    from tpudist.tfcompat import versions

    specs = [] if versions.HAS_ESTIMATOR else map(importlib.util.find_spec, _CARRIED)
    files = [spec.origin for spec in specs if spec is not None and spec.origin]
    return tuple(os.path.join(os.path.dirname(os.path.realpath(file)), "") for file in files)


def _file_of_tensorflow():
    loaded = sys.modules.get("tensorflow")
    if loaded is not None:  # 1.14 replaces its module by one without a spec.
        return getattr(loaded, "__file__", None)
    spec = importlib.util.find_spec("tensorflow")
    return spec and spec.origin


def _below_estimators(era, name, fromlist):
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


def _is_tensorflow(name):
    return name == "tensorflow" or name.startswith("tensorflow.")
