"""Lowers a step that an old TensorFlow traced, in an environment with a newer one.

TensorFlow before 2.5 cannot lower to HLO, but a newer one can read its graphs. The other
environment needs TensorFlow 2.5 or newer and what comes with it; it loads the tpudist of
this environment.
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


#: Loads this tpudist, but not what else is installed beside it.
_START = """
import importlib.util, sys
folder, source, target = sys.argv[1:]
spec = importlib.util.spec_from_file_location(
    "tpudist", folder + "/__init__.py", submodule_search_locations=[folder])
sys.modules["tpudist"] = module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
from tpudist.tools.compile.lowering import other_environment
other_environment.answer(source, target)
"""

#: How many characters of the other Python's output are shown if it fails.
_TAIL = 2000


def lower(message: dict[str, Any], python: str | None = None) -> program.Program:
    """Lowers the step of a message, in another environment.

    Args:
      message: what :func:`tpudist.tools.compile.lowering.step_message.message` returned.
      python: path of that environment's Python; None for this environment.

    Returns:
      The `program.Program`.

    Raises:
      CompileError: (a RuntimeError) the step cannot be lowered, or there is no
        such Python, or its TensorFlow is too old.
    """
    lowered = _lowered_here(message) if python is None else _lowered_by(python, message)
    lines = {each["name"]: each["location"] for each in message["inputs"]}
    return lowered._replace(
        parameters=tuple(
            each._replace(location=lines.get(each.name, "")) for each in lowered.parameters
        ),
        collectives=program.records(program.Collective, message["collectives"]),
        shardings=program.records(program.Sharding, message["shardings"]),
        tensorflow="%s, traced by %s" % (lowered.tensorflow, message["tensorflow"]),
    )


def _lowered_by(python: str, message: dict[str, Any]) -> program.Program:
    """Lowers the step of a message with the Python of another environment."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = [os.path.join(folder, name) for name in ("step.json", "program.json")]
        with open(source, "w") as file:
            json.dump(message, file)
        output = _run(python, source, target)
        if not os.path.exists(target):
            raise CompileError(
                "--lower-with %s" % python,
                "it could not lower the step: %s" % output[-_TAIL:].strip(),
                "the Python of an environment with TensorFlow 2.5 or newer, numpy and packaging",
            )
        with open(target) as file:
            result = json.load(file)
    if "error" in result:
        seen, why, instead = result["error"]
        raise CompileError(seen, why, instead)
    return program.from_json(result)


def _run(python: str, source: str, target: str) -> str:
    """Runs :func:`answer` in the other environment; returns what that printed."""
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
        result = _lowered_here(message).to_json()
    except CompileError as error:
        result = {"error": [error.seen, error.why, error.instead]}
    with open(target, "w") as file:
        json.dump(result, file)


def _lowered_here(message: dict[str, Any]) -> program.Program:
    """Lowers the step of a message with this environment's TensorFlow."""
    from tpudist.tfcompat import graphs
    from tpudist.tools.compile.lowering import step_message, to_hlo

    to_hlo.require()
    with graphs.eager():
        return to_hlo.lower(step_message.step(message))
