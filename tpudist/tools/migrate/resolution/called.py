"""Which functions the calls of a file mean, by the name that they are called by.

To know it a file has to be read and what its calls call followed: in a code base whose
classes all have a method of one name this would be every file, for every file. A file is
asked once for a name, and what was found holds for the run; not where libcst has to read it
(all files, before Python 3.9), for it does not say cheaply where a definition stands.
"""

import libcst as cst

_MOST = 20000  # pairs of a file and a name that are kept
_KINDS = ("function", "class")


class Called:
    """What one evaluation asks; what is certain of it is kept with the code base.

    Args:
      kept: {(how, path, name): places of functions and classes} of what is certain.
      how: how files are read, "" if one is not as it is on disk: nothing is kept then.
    """

    def __init__(self, kept, how=""):
        self._kept, self._how = kept, how
        self._asked = {}

    def is_other(self, path, names, meant):
        """Whether a file has no call of some names that means a function, or its class.

        Args:
          path: the file.
          names: (name that it is called by, name that it is passed on by).
          meant: (module, function, the definition that it is in).
        """
        module, *nodes = meant
        found = self._kept.get((self._how, path, names))
        if found is None or module.skeleton is None:
            return False
        return found.isdisjoint([_place(module, each) for each in nodes if each is not None])

    def ask(self, where, names, nodes):
        """Notes what is called, or passed on, by some names in a module."""
        if self._how:
            self._asked[self._how, where.path, names] = where, nodes

    def settle(self, evaluator):
        """Keeps what an `Evaluator` is certain of, once nothing is open any more."""
        for key, (where, nodes) in self._asked.items():
            found = [evaluator.certain(where, node) for node in nodes]
            if None not in found and len(self._kept) < _MOST:
                self._kept[key] = frozenset(
                    _place(value[1], value[2])
                    for values in found
                    for value in values
                    if value[0] in _KINDS and value[1].skeleton is not None
                )
        self._asked.clear()


def _place(module, node):
    """What a definition is known by, in whatever tree of its file."""
    named = node if isinstance(node, (cst.FunctionDef, cst.ClassDef, cst.Lambda)) else None
    return named and (module.path, *(module.skeleton.place(named) or (0, 0)))
