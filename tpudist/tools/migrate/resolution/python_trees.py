"""Python's own syntax trees of sources that are parsed again: the first ones are kept.

The files of a code base are read once for what is known of all of them, and then one by
one, most of them in part. A tree is some thirty times as large as its source, so that few
are kept: of what is read whole again, of what hands on names to others, and the last.
"""

from __future__ import annotations

import ast
import warnings

#: Characters of all sources whose trees are kept, when one more is: of a file that is read whole
#: again, and of one that hands on names, which few do in the largest code base.
WHOLE, HANDING = 400000, 1200000
_trees: dict[str, ast.Module] = {}
_last: dict[str, ast.Module] = {}
_size = [0]


def parse(text: str, keep: int = 0) -> ast.Module:
    """The tree of a source; nobody changes it.

    Args:
      text: the source.
      keep: `WHOLE` or `HANDING` if it will be asked for again.

    Raises:
      SyntaxError, ValueError, RecursionError: as of ``ast.parse``.
    """
    found = _trees.get(text) or _last.get(text)
    if found is None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = ast.parse(text)
        _last.clear()
        _last[text] = found
    if text not in _trees and _size[0] + len(text) <= keep:
        _trees[text] = found
        _size[0] += len(text)
    return found


def forget() -> None:
    """Lets go of all trees."""
    _trees.clear()
    _last.clear()
    _size[0] = 0
