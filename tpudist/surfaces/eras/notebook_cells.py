"""Reads the code cells of a Jupyter notebook, and what they are as Python."""

from __future__ import annotations

import json
import re

from tpudist.errors import ScriptError

#: Magics whose cell is Python all the same.
_PYTHON = re.compile(r"\A\s*%%(time|timeit|capture|prun)\b.*")


def read(path: str) -> list[str]:
    """Returns the code cells of a notebook, in order, without magics that change nothing.

    Raises:
      ScriptError: it is no notebook.
    """
    try:
        with open(path, encoding="utf-8") as file:
            cells = json.load(file)["cells"]
        texts = ["".join(each["source"]) for each in cells if each["cell_type"] == "code"]
    except (ValueError, KeyError, TypeError) as error:
        raise ScriptError(
            "%s is no notebook: %s: %s" % (path, type(error).__name__, error),
            "it is read as Jupyter's JSON of version 4",
            "jupyter nbconvert --to notebook, or a file of Python",
        ) from error
    return [_PYTHON.sub("", each) for each in texts]


def python(path: str) -> str:
    """Returns a notebook as one Python module, in which IPython's lines are calls.

    Raises:
      ScriptError: it is no notebook, or there is no IPython.
    """
    try:
        from IPython.core.inputtransformer2 import TransformerManager
    except ImportError as error:
        raise ScriptError(
            "%s is a notebook, and there is no IPython here" % path,
            "IPython runs the cells of a notebook, and its lines with % and !",
            "pip install ipython",
        ) from error
    return "\n".join(map(TransformerManager().transform_cell, read(path)))
