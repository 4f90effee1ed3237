"""Which files of a code base are of one program: what some file imports, directly or not."""

import collections
import os
import re

_IMPORT = re.compile(
    rb"^[ \t]*(?:from[ \t]+(\.*)([\w.]*)[ \t]+import[ \t]+(\(?[^#\n]*)|import[ \t]+([^#\n]+))", re.M
)
_NAME = re.compile(rb"[\w.]+")


def together(codebase, paths):
    """The files that are of a program that some files are of.

    Args:
      codebase: a `CodeBase`.
      paths: some of its files.

    Returns:
      A set of paths: what is imported by whatever imports one of them, themselves too.
    """
    if not paths:
        return set()
    below = codebase.once("imports", lambda: _edges(codebase))
    above = collections.defaultdict(set)
    for path, others in below.items():
        for other in others:
            above[other].add(path)
    return _closure(_closure(paths, above), below)


def meant(codebase, path, imports):
    """The files of a code base that import statements of one of its files mean.

    Args:
      codebase: the `CodeBase`.
      path: the file.
      imports: as of `walks.imported`.
    """
    for module, level, names in imports:
        dotted = [name for name, _ in names]
        if module is not None:
            dotted = [module] + [(module + "." + name).strip(".") for name in dotted]
        for name in dotted:
            found = codebase.find_module(name, level, path)
            if found is not None and os.path.normpath(found) != path:
                yield found


def _edges(codebase):
    """{path: the files it imports} of those that import any."""
    found = ((path, set(_imported(codebase, path, raw))) for path, raw in codebase.bytes.items())
    return {path: others for path, others in found if others}


def _closure(paths, edges):
    seen, todo = set(paths), list(paths)
    for path in todo:
        for other in edges.get(path, ()):
            if other not in seen:
                seen.add(other)
                todo.append(other)
    return seen


def _imported(codebase, path, raw):
    """The files that a file's import statements mean, found without parsing it."""
    for dots, base, names, plain in _IMPORT.findall(raw):
        if plain:
            found = [(_first_name(each), 0) for each in plain.split(b",")]
        else:
            module, level = base.decode("utf-8"), len(dots)
            found = [(module, level)]
            found += [
                ((module + "." + _first_name(each)).strip("."), level) for each in names.split(b",")
            ]
        for dotted, level in found:
            other = codebase.find_module(dotted, level, path) if dotted or level else None
            if other is not None and other != path:
                yield other


def _first_name(text):
    name = _NAME.search(text)
    return name.group().decode("utf-8") if name else ""
