"""Searches a program's source for uses of what cannot be recorded, such as the clock.

Only code that may run while the step is traced counts: code outside of functions, and
that in functions and classes whose names such code mentions. The source is parsed, never
run.
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

#: Names of functions whose results no audit event shows: TensorFlow reads files in C++,
#: the system says whether a file is there, the clock runs.
_UNRECORDABLE = frozenset(
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

#: Packages that read nothing unrecordable but through the names above.
_PACKAGES = ("tensorflow", "keras", "tf_keras", "numpy", "absl", "six", "tpudist")

#: Modules of the standard library that may read anything.
_UNRECORDABLE_MODULES = ("ctypes", "dbm", "mmap", "multiprocessing", "secrets")

#: Names by which code may call any function.
_DYNAMIC = frozenset(("exec", "eval", "globals", "vars", "locals", "__import__", "import_module"))

_Function = (ast.FunctionDef, ast.AsyncFunctionDef)


def unrecordable_use(paths: Iterable[str], roots: Iterable[str]) -> str:
    """Returns the first use of what cannot be recorded, "" if there is none.

    Args:
      paths: of the program's files.
      roots: names of functions that run.

    Returns:
      Such as ``"train.py:7 says exists"``.
    """
    paths = list(paths)
    own = {part.partition(".")[0] for path in paths for part in path.split(os.sep)}
    code = _LiveCode(roots)
    for path in paths:
        with open(path, "rb") as file:
            code.add(ast.parse(file.read(), path), path)
    for name, (path, line) in code.names().items():
        if name in _UNRECORDABLE:
            return "%s:%d says %s" % (path, line, name)
    for name, (path, line) in code.imported.items():
        if name not in own and not _is_recordable(name):
            return "%s:%d imports %s" % (path, line, name)
    return ""


def _is_recordable(name: str) -> bool:
    """Whether all that a package reads is recorded, or read through a name above."""
    if name in _UNRECORDABLE_MODULES:
        return False
    if name in _PACKAGES or name in sys.builtin_module_names:
        return True
    listed = getattr(sys, "stdlib_module_names", None)
    if listed is not None:
        return name in listed
    spec = importlib.util.find_spec(name)
    return bool(spec and spec.origin and not machine.is_installed(spec.origin))


class _LiveCode:
    """The code that may run, with the names that it mentions and the packages it imports.

    Args:
      roots: as for :func:`unrecordable_use`.

    Attributes:
      imported: {package: (path, line) of its first import}.
    """

    def __init__(self, roots: Iterable[str]) -> None:
        self.imported: dict[str, tuple[str, int]] = {}
        self._names: dict[str, tuple[str, int]] = {}
        self._defined: dict[str, list[tuple[ast.AST, str]]] = {}
        self._pending: list[tuple[ast.AST, str]] = []
        self._roots = list(roots)

    def add(self, tree: ast.Module, path: str) -> None:
        """Adds a file, whose code outside of functions may run."""
        for node in ast.walk(tree):
            if isinstance(node, (*_Function, ast.ClassDef)):
                self._defined.setdefault(node.name, []).append((node, path))
        self._pending += [(node, path) for node in tree.body if not _is_main(node)]

    def names(self) -> dict[str, tuple[str, int]]:
        """Returns {name: (path, line) of its first mention} for all code that may run."""
        for root in self._roots:
            self._mention(root, ("", 0))
        while self._pending:
            node, path = self._pending.pop()
            self._visit(node, path)
        return self._names

    def _mention(self, name: str, place: tuple[str, int]) -> None:
        """Notes a name; the functions and classes of that name may run."""
        if name in self._names:
            return
        self._names[name] = place
        for node, path in self._defined.get(name, ()):
            self._enter(node, path)
        if name in _DYNAMIC:
            for other in self._defined:
                self._mention(other, place)

    def _enter(self, node: ast.AST, path: str) -> None:
        """Queues the body of a function that may run, or of all methods of a class."""
        for child in getattr(node, "body", ()):
            if isinstance(node, ast.ClassDef) and isinstance(child, _Function):
                self._enter(child, path)
            elif not isinstance(node, ast.ClassDef):
                self._pending.append((child, path))

    def _visit(self, node: ast.AST, path: str) -> None:
        for name, line in _mentioned_names(node):
            self._mention(name, (path, line))
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for name in _imported_packages(node):
                self.imported.setdefault(name, (path, node.lineno))
        if isinstance(node, (*_Function, ast.ClassDef)):
            if node.decorator_list:
                self._enter(node, path)
            body = [] if isinstance(node, _Function) else node.body
            inner = [each for each in ast.iter_child_nodes(node) if each not in node.body]
            self._pending += [(each, path) for each in [*inner, *body]]
        else:
            self._pending += [(each, path) for each in ast.iter_child_nodes(node)]


def _mentioned_names(node: ast.AST) -> Iterator[tuple[str, int]]:
    """Yields (name, line) of each name that a node itself mentions."""
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


def _imported_packages(node: ast.Import | ast.ImportFrom) -> list[str]:
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
