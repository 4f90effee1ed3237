"""What a program's code that may run while its step is traced asks for, by name.

Read from its source, never run. Code may run if it stands outside of functions, or in a
function, or a class, whose name such code says.
"""

from __future__ import annotations

import ast
import importlib.util
import os
import sys
from typing import TYPE_CHECKING

from tpudist import machine

if TYPE_CHECKING:
    from typing import Iterable, Iterator

#: Names whose answer no event tells: TensorFlow reads in C++, the system is asked
#: whether a file is there, the clock runs.
_ASKS = frozenset(
    "gfile read_file matching_files list_files TFRecordDataset TextLineDataset "
    "FixedLengthRecordDataset CsvDataset make_csv_dataset SqlDataset saved_model load_model "
    "load_weights restore latest_checkpoint load_checkpoint load_variable list_variables "
    "NewCheckpointReader init_from_checkpoint Saver CheckpointManager TextFileInitializer "
    "load_library load_op_library load_file_system_library get_file FileWriterCache "
    "image_dataset_from_directory text_dataset_from_directory audio_dataset_from_directory "
    "flow_from_directory python_io tf_record_iterator "
    "exists lexists isfile isdir islink ismount is_file is_dir is_symlink is_mount stat lstat "
    "access getmtime getsize getctime getatime samefile readlink statvfs disk_usage "
    "time time_ns perf_counter monotonic process_time datetime date today now strftime ctime "
    "getpid getppid getloadavg urandom uuid1 uuid4 stdin input getpass getuser getnode".split()
)

#: Names of packages by which nothing is read but as above.
_PACKAGES = ("tensorflow", "keras", "tf_keras", "numpy", "absl", "six", "tpudist")

#: Modules of Python by which anything may be.
_ANYTHING = ("ctypes", "dbm", "mmap", "multiprocessing", "secrets")

#: Who says these may call any function by its name.
_BY_NAME = frozenset(("exec", "eval", "globals", "vars", "locals", "__import__", "import_module"))

_Function = (ast.FunctionDef, ast.AsyncFunctionDef)


def asked(paths: Iterable[str], roots: Iterable[str]) -> str:
    """What the code asks for that nobody can tell, "" if it asks for nothing such.

    Args:
      paths: of the program's files.
      roots: names of functions that run.

    Returns:
      Such as ``"train.py:7 says exists"``.
    """
    paths = list(paths)
    own = {part.partition(".")[0] for path in paths for part in path.split(os.sep)}
    code = _Live(roots)
    for path in paths:
        with open(path, "rb") as file:
            code.add(ast.parse(file.read(), path), path)
    for name, (path, line) in code.said().items():
        if name in _ASKS:
            return "%s:%d says %s" % (path, line, name)
    for name, (path, line) in code.imported.items():
        if name not in own and not _is_known(name):
            return "%s:%d imports %s" % (path, line, name)
    return ""


def _is_known(name: str) -> bool:
    """Whether a package reads nothing but what is told, or what a name above says."""
    if name in _ANYTHING:
        return False
    if name in _PACKAGES or name in sys.builtin_module_names:
        return True
    listed = getattr(sys, "stdlib_module_names", None)
    if listed is not None:
        return name in listed
    spec = importlib.util.find_spec(name)
    return bool(spec and spec.origin and not machine.is_installed(spec.origin))


class _Live:
    """The names that live code says, and the packages that it imports.

    Args:
      roots: as of :func:`asked`.
    """

    def __init__(self, roots: Iterable[str]) -> None:
        self.imported: dict[str, tuple[str, int]] = {}
        self._names: dict[str, tuple[str, int]] = {}
        self._defined: dict[str, list[tuple[ast.AST, str]]] = {}
        self._pending: list[tuple[ast.AST, str]] = []
        self._roots = list(roots)

    def add(self, tree: ast.Module, path: str) -> None:
        """Takes in a file: what stands outside of functions is live."""
        for node in ast.walk(tree):
            if isinstance(node, (*_Function, ast.ClassDef)):
                self._defined.setdefault(node.name, []).append((node, path))
        self._pending += [(node, path) for node in tree.body if not _is_main(node)]

    def said(self) -> dict[str, tuple[str, int]]:
        """{name: (path, line) that says it first}."""
        for root in self._roots:
            self._say(root, ("", 0))
        while self._pending:
            node, path = self._pending.pop()
            self._read(node, path)
        return self._names

    def _say(self, name: str, place: tuple[str, int]) -> None:
        if name in self._names:
            return
        self._names[name] = place
        for node, path in self._defined.get(name, ()):
            self._enter(node, path)
        if name in _BY_NAME:
            for other in self._defined:
                self._say(other, place)

    def _enter(self, node: ast.AST, path: str) -> None:
        """The body of a function that may be called; of a class all its methods."""
        for child in getattr(node, "body", ()):
            if isinstance(node, ast.ClassDef) and isinstance(child, _Function):
                self._enter(child, path)
            elif not isinstance(node, ast.ClassDef):
                self._pending.append((child, path))

    def _read(self, node: ast.AST, path: str) -> None:
        for name, line in _names_of(node):
            self._say(name, (path, line))
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for name in _packages_of(node):
                self.imported.setdefault(name, (path, node.lineno))
        if isinstance(node, (*_Function, ast.ClassDef)):
            if node.decorator_list:
                self._enter(node, path)
            body = [] if isinstance(node, _Function) else node.body
            inner = [each for each in ast.iter_child_nodes(node) if each not in node.body]
            self._pending += [(each, path) for each in [*inner, *body]]
        else:
            self._pending += [(each, path) for each in ast.iter_child_nodes(node)]


def _names_of(node: ast.AST) -> Iterator[tuple[str, int]]:
    """(name, line) of what one node says itself."""
    if isinstance(node, ast.Name):
        if node.id != "input":  # a tensor's name, more often than not
            yield node.id, node.lineno
    elif isinstance(node, ast.Attribute):
        yield node.attr, node.lineno
    elif isinstance(node, ast.ImportFrom):
        for alias in node.names:
            if alias.asname or alias.name == "*":
                yield ("exec" if alias.name == "*" else alias.name), node.lineno
    elif isinstance(node, ast.Call) and getattr(node.func, "id", None) == "input":
        yield "input", node.lineno
    elif isinstance(node, ast.Call) and getattr(node.func, "id", None) == "getattr":
        name = node.args[1] if len(node.args) > 1 else None
        value = getattr(name, "value", None)
        yield (value if isinstance(value, str) else "exec"), node.lineno


def _packages_of(node: ast.Import | ast.ImportFrom) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name.partition(".")[0] for alias in node.names]
    return [] if node.level or not node.module else [node.module.partition(".")[0]]


def _is_main(node: ast.AST) -> bool:
    """Whether it is ``if __name__ == "__main__":``, which does not run here."""
    if not isinstance(node, ast.If) or node.orelse or not isinstance(node.test, ast.Compare):
        return False
    sides = [node.test.left, *node.test.comparators]
    return (
        len(sides) == 2
        and isinstance(node.test.ops[0], ast.Eq)
        and {getattr(each, "id", getattr(each, "value", None)) for each in sides}
        == {"__name__", "__main__"}
    )
