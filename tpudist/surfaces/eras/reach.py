"""Finds the functions of a program that can run: those whose names code that runs reads.

A function that nothing names is not called; what it names is no part of what the program does.
Names are compared as words, so that a function may count as called which is not, and hardly one
the other way round.
"""

from __future__ import annotations

import ast
from typing import Mapping, NamedTuple

from tpudist.surfaces.eras import walks

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Part(NamedTuple):
    """The code of one function, class body or module, without that of the functions in it.

    A module has the name "", and -1 as index of the part above it. Special methods run with their
    class, and what is decorated may be called. `words` are the names that it reads, attributes, and
    strings that could be names.
    """

    name: str
    above: int
    is_class: bool
    is_decorated: bool
    words: set[str]


class Parts:
    """The parts of a file, by its syntax tree.

    `every` has them, the module first; `by_line` is {line: the index of the innermost part with
    code on it}.
    """

    def __init__(self, tree: ast.AST) -> None:
        self.every: list[Part] = []
        self.by_line: dict[int, int] = {}
        todo: list[tuple[ast.AST, int]] = [(tree, -1)]
        while todo:
            todo += self._take(*todo.pop(0))

    def _take(self, node: ast.AST, above: int) -> list[tuple[ast.AST, int]]:
        """Adds a part; returns the definitions in it, each with the index of the part."""
        index = len(self.every)
        inner: list[tuple[ast.AST, int]] = []
        words: set[str] = set()
        is_decorated = bool(getattr(node, "decorator_list", None))
        name = getattr(node, "name", "")
        self.every.append(Part(name, above, type(node) is ast.ClassDef, is_decorated, words))
        todo = list(ast.iter_child_nodes(node))
        while todo:
            each = todo.pop()
            if hasattr(each, "lineno"):
                self.by_line[each.lineno] = index
            if isinstance(each, _DEFINITIONS):
                inner.append((each, index))
                todo += each.decorator_list
                continue
            words.update((walks.last_word(each), walks.text(each) or ""))
            todo += ast.iter_child_nodes(each)
        return inner


def reached(files: Mapping[str, Parts]) -> set[tuple[str, int]]:
    """{(path, index)} of the parts that can run, of {path: its `Parts`} of a program."""
    waiting = {(path, i): part for path, file in files.items() for i, part in enumerate(file.every)}
    running: set[tuple[str, int]] = set()
    words: set[str] = set()
    while True:
        new = []
        for place, part in waiting.items():
            is_special = part.name.startswith("__") and files[place[0]].every[part.above].is_class
            runs = part.is_decorated or is_special or part.name in words
            if part.above < 0 or (runs and (place[0], part.above) in running):
                new.append(place)
        if not new:
            return running
        for place in new:
            words |= waiting.pop(place).words
        running.update(new)
