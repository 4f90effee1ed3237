"""Lowers what an old TensorFlow traced, in another environment.

TensorFlow before 2.5 gives no HLO, but its graphs can be read by a newer one.
The other environment needs a TensorFlow of 2.5 or newer and what comes with
it; tpudist is run from here.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from typing import TYPE_CHECKING

import tpudist
from tpudist.errors import CompileError
from tpudist.tools.compile import program

if TYPE_CHECKING:
    from typing import Any


#: Loads this tpudist alone, not what else is installed beside it.
_START = """
import importlib.util, sys
folder, source, target = sys.argv[1:]
spec = importlib.util.spec_from_file_location(
    "tpudist", folder + "/__init__.py", submodule_search_locations=[folder])
sys.modules["tpudist"] = module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
from tpudist.tools.compile import bridge
bridge.answer(source, target)
"""

#: How much of what the other Python printed is shown if it fails.
_TAIL = 2000


def lower(message: dict[str, Any], python: str | None = None) -> program.Program:
    """The `program.Program` of a step, lowered by another environment.

    Args:
      message: of :func:`tpudist.tools.compile.lowering.exporting.message`.
      python: path of that environment's Python; None for this environment.

    Returns:
      The `program.Program`.

    Raises:
      CompileError: (a RuntimeError) the step cannot be lowered, or there is no
        such Python, or no TensorFlow that can.
    """
    found = _lowered(message) if python is None else _asked(message, python)
    lines = {each["name"]: each["location"] for each in message["inputs"]}
    return found._replace(
        parameters=tuple(
            each._replace(location=lines.get(each.name, "")) for each in found.parameters
        ),
        collectives=program.records(program.Collective, message["collectives"]),
        shardings=program.records(program.Sharding, message["shardings"]),
        tensorflow="%s, traced by %s" % (found.tensorflow, message["tensorflow"]),
    )


def _asked(message: dict[str, Any], python: str) -> program.Program:
    """The program, of the other environment's Python."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = [os.path.join(folder, name) for name in ("step.json", "program.json")]
        with open(source, "w") as file:
            json.dump(message, file)
        said = _run(python, source, target)
        if not os.path.exists(target):
            raise CompileError(
                "--lower-with %s" % python,
                "it could not lower the step: %s" % said[-_TAIL:].strip(),
                "the Python of an environment with TensorFlow 2.5 or newer, numpy and packaging",
            )
        with open(target) as file:
            found = json.load(file)
    if "error" in found:
        seen, why, instead = found["error"]
        raise CompileError(seen, why, instead)
    return program.from_json(found)


def _run(python: str, source: str, target: str) -> str:
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("PYTHONPATH", "PYTHONHOME")
    }
    try:
        done = subprocess.run(
            [python, "-c", _START, os.path.dirname(tpudist.__file__), source, target],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            universal_newlines=True,
        )
    except OSError as error:
        raise CompileError(
            "--lower-with %s" % python, str(error), "the path of a Python, such as .venv/bin/python"
        ) from error
    return done.stdout


def answer(source: str, target: str) -> None:
    """Lowers the step in a file; runs in the other environment.

    Args:
      source: path of a JSON file with the message.
      target: path of the JSON file to write: the program, or the error.
    """
    with open(source) as file:
        message = json.load(file)
    try:
        made = _lowered(message).to_json()
    except CompileError as error:
        made = {"error": [error.seen, error.why, error.instead]}
    with open(target, "w") as file:
        json.dump(made, file)


def _lowered(message: dict[str, Any]) -> program.Program:
    """The program, of this environment's TensorFlow."""
    from tpudist.tfcompat import graphs
    from tpudist.tools.compile.lowering import importing, to_hlo

    to_hlo.require()
    with graphs.eager():
        return to_hlo.lower(importing.step(message))
