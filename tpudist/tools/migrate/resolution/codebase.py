"""Reads the files of a code base, and resolves their imports."""

from __future__ import annotations

import fnmatch
import functools
import os
import re
import sys
from typing import Iterable, Iterator, Sequence

from tpudist import machine
from tpudist.tools.migrate.resolution import sources
from tpudist.tools.migrate.resolution.module import Module

STANDARD_INPUT = "-"
_KEPT = 2000000  # characters of parsed files, which are some 35 times as large in memory
_REPOSITORY = (".git", "setup.py", "setup.cfg", "pyproject.toml", "WORKSPACE")
_IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+(\.*)([\w.]*)[ \t]+import[ \t]+(\([^)]*|[^#\n]*)|import[ \t]+([^#\n]+))",
    re.M,
)
_NAME = re.compile(rb"[\w.]+|\*")
_CALLED = re.compile(rb"(?<![\w\x80-\xff])([\w\x80-\xff]+)\W*\(")


class CodeBase:
    """The files below some paths, without those that match a pattern.

    `bytes` has those of the repositories around single files, too, which say whose they are.
    """

    def __init__(self, paths: Iterable[str], exclude: Sequence[str] = ()) -> None:
        self._roots = tuple(
            path if os.path.isdir(path) else os.path.dirname(path) or "." for path in paths
        )
        self.files, self.passed_over = _find_files(paths, exclude)
        self.bytes: dict[str, bytes] = {}
        self.unreadable: dict[str, OSError] = {}
        read = set(map(os.path.abspath, self.files))
        alone = [
            os.path.dirname(os.path.abspath(each)) for each in paths if not os.path.isdir(each)
        ]
        roots = sorted({found[-1] for found in map(_up_to_repository, alone) if found})
        beside = _find_files(map(os.path.relpath, roots), exclude)[0] if roots else []
        around = [each for each in beside if os.path.abspath(each) not in read]
        for path in (*self.files, *around):
            try:
                self.bytes[path] = _content(path)
            except OSError as error:
                if path not in around:
                    self.unreadable[path] = error
        self._leading: dict[str, set[str]] = {}
        self._modules: dict[str, Module | None] = {}
        self._called: dict[str, set[bytes]] = {}
        self._paths = {os.path.abspath(path): path for path in self.bytes}

    @functools.cached_property
    def imports(self) -> dict[str, set[str]]:
        """{path: the files of the code base that it imports} of those that import any."""
        found = {path: set(self._imported(path)) for path in self.bytes}
        return {path: others for path, others in found.items() if others}

    @functools.cached_property
    def importers(self) -> dict[str, set[str]]:
        """{path: the files that import it} of those that any imports."""
        found: dict[str, set[str]] = {}
        for path, others in self.imports.items():
            for other in others:
                found.setdefault(other, set()).add(path)
        return found

    def below(self, paths: Iterable[str]) -> set[str]:
        """Some files and what they import, directly or not."""
        return _closure(paths, self.imports)

    def above(self, paths: Iterable[str]) -> set[str]:
        """Some files and what imports them, directly or not."""
        return _closure(paths, self.importers)

    def leading_to(self, path: str) -> set[str]:
        """A file and what imports it, directly or not."""
        if path not in self._leading:
            self._leading[path] = self.above([path])
        return self._leading[path]

    def programs(self, paths: Iterable[str]) -> set[str]:
        """The files of the programs that some files belong to: all that their importers import."""
        return self.below(self.above(paths))

    def imported_first(self, paths: Iterable[str]) -> list[str]:
        """Some files and what they import, each after what it imports; not so in a circle."""
        found: dict[str, None] = {}
        seen: set[str] = set()
        todo = list(paths)[::-1]
        while todo:
            path = todo[-1]
            inner = [each for each in sorted(self.imports.get(path, ())) if each not in seen]
            seen.update([path])
            if inner:
                todo += inner
            else:
                found[todo.pop()] = None
        return list(found)

    def source(self, path: str) -> sources.Source:
        """The source of a file; raises one of `sources.UNREADABLE`, or an OSError."""
        raw = self.bytes.get(path)
        return sources.read(path, _content(path) if raw is None else raw)

    def module(self, path: str) -> Module | None:
        """The parsed file, or None if it cannot be parsed."""
        if path in self._modules:
            found = self._modules.pop(path)
        else:
            try:
                found = Module(path, self.source(path).text)
            except (OSError, *sources.UNREADABLE):
                found = None
        self._modules[path] = found  # the last one of the dict is the one asked for last
        return found

    def drop(self, path: str) -> None:
        """Forgets a file, which is parsed again when it is needed, and those unused for longest."""
        self._modules.pop(path, None)
        kept = 0
        for other, module in list(self._modules.items())[::-1]:
            kept += 0 if module is None else len(module.text)
            if kept > _KEPT:
                del self._modules[other]

    def may_call(self, path: str, name: str) -> bool:
        """Whether a function may be called in a file, or passed to ``merge_call``."""
        raw, word = self.bytes[path], name.encode("utf-8")
        if word not in raw:
            return False
        if path not in self._called:
            self._called[path] = set(_CALLED.findall(raw))
        return b"merge_call" in raw or word in self._called[path]

    def _imported(self, path: str) -> Iterator[str]:
        """The files that a file's import statements mean, found without parsing it."""
        raw = self.bytes[path]
        if path.endswith(".ipynb") and b"import" in raw:
            try:
                raw = self.source(path).text.encode("utf-8")
            except sources.UNREADABLE:
                return
        for dots, base, names, plain in _IMPORT.findall(raw) if b"import" in raw else ():
            for each in (plain or names).split(b","):
                name = _NAME.search(each)
                inner = base + b"." + (name.group() if name else b"")
                for dotted in (base.strip(b"."), inner.strip(b".")):
                    target = dotted.decode("utf-8", "replace")
                    other = self.find_module(target, len(dots), path) if target or dots else None
                    if other is not None and other != path:
                        yield other

    def find_module(self, dotted: str, level: int, importer: str) -> str | None:
        """The file of this code base that an import with `level` dots means, or None."""
        every = _candidates(dotted, level, os.path.dirname(importer), self._roots)
        return next((self._paths[path] for path in every if path in self._paths), None)

    def find_outside(self, dotted: str, level: int, importer: str) -> str | None:
        """The file in its repository, but in no PATH, that an import means; or None."""
        return next(filter(os.path.isfile, _candidates(dotted, level, importer, self._roots)), None)


def _content(path: str) -> bytes:
    if path == STANDARD_INPUT:
        return sys.stdin.buffer.read()
    with open(path, "rb") as file:
        return file.read()


def _closure(paths: Iterable[str], edges: dict[str, set[str]]) -> set[str]:
    todo = list(paths)
    seen = set(todo)
    for path in todo:
        for other in edges.get(path, ()):
            if other not in seen:
                seen.add(other)
                todo.append(other)
    return seen


@functools.lru_cache(maxsize=None)
def _candidates(dotted: str, level: int, folder: str, roots: tuple[str, ...]) -> list[str]:
    """The paths that an import in a folder may mean, the likeliest first."""
    folder = os.path.abspath(folder)
    if level:
        for _ in range(level - 1):
            folder = os.path.dirname(folder)
        bases = [folder]
    else:
        bases = [folder, _package_root(folder)] + [os.path.abspath(root) for root in roots]
        bases += _up_to_repository(folder)
    stems = [os.path.join(base, *dotted.split(".")) if dotted else base for base in bases]
    return [path for stem in stems for path in (stem + ".py", os.path.join(stem, "__init__.py"))]


@functools.lru_cache(maxsize=None)
def _up_to_repository(folder: str) -> list[str]:
    """The folders from one up to the root of its repository; none if it is in none."""
    found = []
    while os.path.dirname(folder) != folder:
        found.append(folder)
        if any(os.path.exists(os.path.join(folder, name)) for name in _REPOSITORY):
            return found
        folder = os.path.dirname(folder)
    return []


@functools.lru_cache(maxsize=None)
def _package_root(folder: str) -> str:
    """The folder above the topmost package that a folder is in."""
    while os.path.exists(os.path.join(folder, "__init__.py")):
        folder = os.path.dirname(folder)
    return folder


#: Folders of what is built: the summary lists them.
_BUILT = ("build", "dist")
#: Folders of what is built or installed.
_PASSED_OVER = frozenset(_BUILT + ("__pycache__", "node_modules") + machine.INSTALLED)


def _find_files(paths: Iterable[str], exclude: Sequence[str] = ()) -> tuple[list[str], list[str]]:
    """(files of paths, what a user may miss: build, dist, scripts without ``.py``), both sorted."""
    found: list[str] = []
    passed: list[str] = []
    for path in paths:
        if not os.path.isdir(path):
            found.append(path)
            continue
        for base, folders, names in os.walk(path):
            passed += [os.path.join(base, name) + os.sep for name in folders if name in _BUILT]
            folders[:] = sorted(
                name
                for name in folders
                if name not in _PASSED_OVER and not name.startswith(".")
                if not os.path.exists(os.path.join(base, name, "pyvenv.cfg"))
                if not _matches(base, name, exclude)
            )
            wanted = [name for name in names if not _matches(base, name, exclude)]
            found += [
                os.path.join(base, name) for name in wanted if name.endswith((".py", ".ipynb"))
            ]
            passed += [
                os.path.join(base, name)
                for name in wanted
                if "." not in name and _is_script(os.path.join(base, name))
            ]
    return sorted(set(map(os.path.normpath, found))), sorted(set(passed))


def _matches(base: str, name: str, patterns: Sequence[str]) -> bool:
    path = os.path.normpath(os.path.join(base, name)).replace(os.sep, "/")
    return any(
        name == pattern.rstrip("/")
        or fnmatch.fnmatch(path, pattern)
        or fnmatch.fnmatch(path, "*/" + pattern.rstrip("/"))
        for pattern in patterns
    )


def _is_script(path: str) -> bool:
    """Whether a file begins as a script of Python does."""
    try:
        with open(path, "rb") as file:
            first = file.readline(200)
    except OSError:
        return False
    return first.startswith(b"#!") and b"python" in first
