"""The files of a code base: which there are, which may matter, what imports mean."""

import contextlib
import functools
import importlib.machinery
import os
import re

from tpudist.tools.migrate.resolution import contents as contents_lib
from tpudist.tools.migrate.resolution import (
    gone_words,
    legacy_words,
    lent_names,
    source_files,
    sources,
)

_KEPT = 1400000  # characters of parsed files, which are up to 100 times as large in memory
_ANSWERS = 2000  # kept, of which files a word is in
_LARGEST = 400000  # bytes of a file of an installed package
_REPOSITORY = (".git", "setup.py", "setup.cfg", "pyproject.toml", "WORKSPACE")
_ASSIGNED = re.compile(rb"\.(?<!\bself\.)(?<!\bcls\.)(\w+)[ \t]*=[^=]")


class CodeBase:
    """The files, and what is found by reading one of them.

    Args:
      paths: files and folders.
      exclude: patterns of what is left out.
      contents: {path: bytes} of files that are not to be read from disk.

    Attributes:
      files: the paths of all files.
      passed_over: what a user may miss among them, as of `source_files.find`.
      borrowed: {path: what `lent_names.Lent.words` says of it} of the files that have such words.
      asked: the paths of the parsed files that were asked for; who wants to know clears it.
    """

    def __init__(self, paths, exclude=(), contents=None):
        self.roots = [
            path if os.path.isdir(path) else os.path.dirname(path) or "." for path in paths
        ]
        self.files, self.passed_over = source_files.find(paths, exclude)
        self.bytes = contents_lib.Contents(contents)
        self.unreadable, self.candidates, may_borrow, keeping = {}, [], set(), []
        for path in self.files:
            try:
                raw = self.bytes.take(path)
            except OSError as error:
                self.unreadable[path] = error
                continue
            if legacy_words.may_matter(raw):
                self.candidates.append(path)
            if gone_words.may_borrow(raw):
                may_borrow.add(path)
            if lent_names.may_keep(raw):
                keeping.append(path)
        self._modules, self._mentioning, self._having, self._assigned = {}, {}, {}, None
        self._words, self.called, self.asked = None, {}, set()
        self._paths = _by_whole_path(self.bytes.paths)
        self._parts = {part for path in self._paths for part in path.split(os.sep)}
        self._module_files, self._kept = {}, {}
        self._shorten, self._short = None, {}
        lent = lent_names.Lent(self)
        kept = [b".%s." % word.encode("utf-8") for word in lent.keeping(keeping)]
        for path, raw in self.bytes.items() if kept else ():
            if any(each in raw for each in kept):
                may_borrow.add(path)
        words = ((path, lent.words(path)) for path in sorted(may_borrow))
        self.borrowed = {path: each for path, each in words if each}
        self.candidates += sorted(set(self.borrowed) - set(self.candidates))

    def __getstate__(self):
        return dict(self.__dict__, _modules={}, _kept={}, _short={}, _shorten=None)

    @contextlib.contextmanager
    def shortened(self, shorten):
        """Has modules read in part.

        Args:
          shorten: a function from a path and its `Source` to the text to parse; None
            for all of it.
        """
        self._shorten = shorten
        if shorten is not None:
            self._modules, self._short = self._short, self._modules
        try:
            yield
        finally:
            self._shorten = None
            if shorten is not None:
                self._modules, self._short = self._short, self._modules
            _drop(self._modules)
            _drop(self._short)

    def module(self, path):
        """The parsed file, or None if it cannot be parsed."""
        from tpudist.tools.migrate.resolution.module import Module

        self.asked.add(path)
        try:
            found = self._modules.pop(path)
        except KeyError:
            try:
                source = sources.read(path, self._raw(path))
                text = self._shorten(path, source) if self._shorten else source.text
                found = Module(path, text)
            except (OSError,) + sources.UNREADABLE:
                found = None
        self._modules[path] = found  # the last one of the dict is the one asked for last
        return found

    def _raw(self, path):
        """The bytes of a file; one outside of the code base is read when it is asked for."""
        if path in self.bytes:
            return self.bytes[path]
        with open(path, "rb") as file:
            return file.read(_LARGEST)

    def parsed(self, path, text, in_part=False):
        """The parsed file, if it is there already and its text is `text`; None else."""
        found = (self._short if in_part else self._modules).get(path)
        if found is None or found.text != text or found.skeleton is None:
            return None
        return found

    def put(self, path, module, kept=None):
        """Has `module` answer as the parsed file `path`.

        Args:
          path: one of the code base's.
          module: a `Module`; None for the file itself again.
          kept: a `Module` of the file that is asked for again; others are let go.
        """
        before = self._modules.pop(path, None)
        if before is not None and before is not module and before is not kept:
            before.release()
        if module is not None:
            self._modules[path] = module

    def once(self, key, compute):
        """What `compute` returns, computed once for a key and kept."""
        if key not in self._kept:
            self._kept[key] = compute()
        return self._kept[key]

    def mentioning(self, *words):
        """Paths of the files in which all the words stand."""
        found = None
        for word in words:
            if word not in self._mentioning:
                if len(self._mentioning) > _ANSWERS:
                    self._mentioning.clear()
                self._mentioning[word] = self._having_word(word.encode("utf-8"))
            found = self._mentioning[word] if found is None else found & self._mentioning[word]
        return sorted(found or ())

    def _having_word(self, raw):
        if contents_lib.is_word(raw):
            return self.words().files(raw)
        return {path for path, text in self.bytes.items() if raw in text}

    def words(self):
        """The `Words` of all files, which are read once for them."""
        if self._words is None:
            self._words = contents_lib.Words(self.bytes.items())
        return self._words

    def has_word(self, path, name):
        """Whether an identifier stands in a file; of a notebook, whether it may."""
        if path.endswith(".ipynb"):
            return True
        raw = name.encode("utf-8")
        if not contents_lib.is_word(raw):
            return re.search(rb"\b%s\b" % re.escape(raw), self.bytes.get(path, b"")) is not None
        if name not in self._having:
            if len(self._having) > _ANSWERS:
                self._having.clear()
            self._having[name] = self.words().files(raw)
        return path in self._having[name]

    def assigns_attribute(self, name):
        """Whether a file has ``x.name = ...`` where x is not ``self``."""
        if self._assigned is None:
            self._assigned = {
                found for _, raw in self.bytes.items() for found in _ASSIGNED.findall(raw)
            }
        return name.encode("utf-8") in self._assigned

    def reexporting(self, path, name):
        """Paths of the files that mention a name, if a package above `path` exports it."""
        init = os.path.join(os.path.dirname(path), "__init__.py")
        if init == path or name.encode("utf-8") not in self.bytes.get(init, b""):
            return []
        return self.mentioning(name)

    def find_module(self, dotted, level, importer):
        """The file that an import means.

        Args:
          dotted: the dotted name after ``from`` or ``import``, may be "".
          level: number of leading dots.
          importer: path of the file with the import.

        Returns:
          A path of this code base, or None.
        """
        key = (dotted, level, os.path.dirname(importer))
        if key not in self._module_files:
            self._module_files[key] = self._find_module(dotted, level, importer)
        return self._module_files[key]

    def _find_module(self, dotted, level, importer):
        first = dotted.partition(".")[0]
        if first and first not in self._parts and first + ".py" not in self._parts:
            return None
        for path in _candidates(dotted, level, importer, self.roots):
            if path in self._paths:
                return self._paths[path]
        return None

    def find_outside(self, dotted, level, importer):
        """As `find_module`, of files that are in no PATH: of its repository, or installed."""
        key = (dotted, level, os.path.dirname(importer), "outside")
        if key not in self._module_files:
            paths = _candidates(dotted, level, importer, self.roots)
            if not level:
                paths += _installed(dotted)
            self._module_files[key] = next(filter(os.path.isfile, paths), None)
        return self._module_files[key]


def _by_whole_path(paths):
    """{absolute path: path}; of those that are absolute each is one string."""
    pairs = ((os.path.abspath(path), path) for path in paths)
    return {path if path == whole else whole: path for whole, path in pairs}


def _drop(modules):
    """Drops the parsed files of a dict that were asked for longest ago."""
    kept = 0
    for path in reversed(list(modules)):
        kept += 0 if modules[path] is None else len(modules[path].text)
        if kept > _KEPT:
            module = modules.pop(path)
            if module is not None:
                module.release()


def _candidates(dotted, level, importer, roots):
    """The paths that an import may mean, the likeliest first."""
    folder = os.path.dirname(os.path.abspath(importer))
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
def _up_to_repository(folder):
    """The folders from one up to the root of its repository; none if it is in none."""
    found = []
    while os.path.dirname(folder) != folder:
        found.append(folder)
        if any(os.path.exists(os.path.join(folder, name)) for name in _REPOSITORY):
            return found
        folder = os.path.dirname(folder)
    return []


@functools.lru_cache(maxsize=None)
def _installed(dotted):
    """The paths that a module of an installed package may have. Nothing is imported."""
    first, *rest = dotted.split(".")
    try:
        spec = importlib.machinery.PathFinder.find_spec(first)
    except (ImportError, ValueError, AttributeError):
        return []
    if spec is None or not spec.origin or not spec.origin.endswith(".py"):
        return []
    if not rest:
        return [spec.origin]
    stem = os.path.join(os.path.dirname(spec.origin), *rest)
    return [stem + ".py", os.path.join(stem, "__init__.py")]


def _package_root(folder):
    """The folder above the topmost package that a folder is in."""
    while os.path.exists(os.path.join(folder, "__init__.py")):
        folder = os.path.dirname(folder)
    return folder
