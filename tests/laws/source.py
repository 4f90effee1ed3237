"""The project's source as syntax trees, for the laws to read."""

import ast
import functools
import os

from tests import ROOT

FACADES = ("contrib", "v2_0", "v2_2")

#: The packages of what the facades' calls lead to, from the ground up.
BELOW_FACADES = ("system", "strategy", "input", "keras", "backends", "adapter", "computations")


def files(*folders):
    """Paths of the Python files under folders of the checkout, relative to it."""
    found = []
    for folder in folders:
        for base, inner, names in os.walk(os.path.join(ROOT, folder)):
            inner[:] = [name for name in inner if not name.startswith((".", "__"))]
            found += [
                os.path.relpath(os.path.join(base, name), ROOT)
                for name in names
                if name.endswith(".py")
            ]
    return sorted(path.replace(os.sep, "/") for path in found)


def package():
    """The package's files; there are some, or every law would hold of nothing."""
    found = files("tpudist")
    assert "tpudist/errors.py" in found
    return found


@functools.lru_cache(maxsize=None)
def text(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


@functools.lru_cache(maxsize=None)
def tree(path):
    return ast.parse(text(path), path)


def offences(rule, paths):
    """["path:line what", ...] that a rule finds.

    Args:
      rule: a function from a tree to (line, what) pairs.
      paths: the files it reads.
    """
    return ["%s:%d %s" % (path, line, what) for path in paths for line, what in rule(tree(path))]


def hold(offences_found):
    """Fails with the whole list: one line an offence, none cut off."""
    assert not offences_found, "\n" + "\n".join(map(str, offences_found))


def chain(node):
    """["tf", "version", "VERSION"] of ``tf.version.VERSION``; [] of anything else."""
    names = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return [node.id] + names[::-1] if isinstance(node, ast.Name) else []


def imports(node, path=""):
    """The absolute dotted names that an import statement asks for.

    Args:
      node: any node; others than imports ask for none.
      path: the file's path, to resolve relative imports.
    """
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if not isinstance(node, ast.ImportFrom):
        return []
    base = node.module or ""
    if node.level:
        package_of = path[: -len(".py")].split("/")[: -node.level]
        base = ".".join(package_of + ([base] if base else []))
    return [base] + ["%s.%s" % (base, alias.name) for alias in node.names]


def below(name, parent):
    """Whether a dotted name is ``parent`` or inside it."""
    return name == parent or name.startswith(parent + ".")


def constant_text(node):
    """The text of a literal, "" of anything else (Python 3.7 has ``ast.Str``)."""
    value = node.value if type(node).__name__ == "Constant" else getattr(node, "s", "")
    return value if isinstance(value, str) else ""


def tensorflow_names(module):
    """Names in a file that stand for TensorFlow or a part of it.

    What ``import`` binds, and plain aliases of it (``nest = tf.nest``); values
    that a call returns are the caller's own.
    """
    names = {"tf", "tensorflow", "_tf"}
    for node in ast.walk(module):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                asked = alias.name if isinstance(node, ast.Import) else node.module or ""
                if below(asked, "tensorflow"):
                    names.add((alias.asname or alias.name).split(".")[0])
    for node in ast.walk(module):
        if isinstance(node, ast.Assign) and chain(node.value)[:1] and chain(node.value)[0] in names:
            names.update(target.id for target in node.targets if isinstance(target, ast.Name))
    return names


def docstring_lines(node):
    """How many lines the docstring of a function takes, 0 without one."""
    docstring = ast.get_docstring(node, clean=False)
    return docstring.count("\n") + 1 if docstring is not None else 0


def last_line(node):
    """The last line of a node; Python 3.7 does not record it."""
    return max(
        getattr(inner, "end_lineno", None) or getattr(inner, "lineno", 0)
        for inner in ast.walk(node)
    )
