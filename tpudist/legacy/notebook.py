"""``%load_ext tpudist``: the cells of a notebook see the TensorFlow of an era.

    %load_ext tpudist
    %tpudist --era contrib --tpu virtual:8
    import tensorflow as tf

The cells behind the second line run as ``tpudist run --era contrib`` runs a script: their
imports, and those of modules in the notebook's folder, give the era's TensorFlow. ``%tpudist
--off`` undoes it.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shlex
import types
from typing import Any, NoReturn

from tpudist import console, machine, surfaces
from tpudist.errors import ScriptError, TpudistError
from tpudist.legacy import era_keras, runner, start_messages
from tpudist.virtual import system

_ERAS = tuple(map(surfaces.spelled, surfaces.ERAS))

#: {a notebook's shell: its `Cells`}.
_CELLS: dict[int, Cells] = {}


def load_ipython_extension(shell: Any) -> None:
    """Gives a notebook's shell the magic ``%tpudist``; IPython calls it."""
    cells = _CELLS.setdefault(id(shell), Cells(shell))
    shell.register_magic_function(cells.magic, "line", "tpudist")
    if "tensorflow_version" not in shell.magics_manager.magics["line"]:
        shell.register_magic_function(_of_colab, "line", "tensorflow_version")
    shell.set_hook("complete_command", _completed, str_key="%tpudist")


def unload_ipython_extension(shell: Any) -> None:
    """Undoes what ``%tpudist`` did; IPython calls it."""
    _CELLS.pop(id(shell)).close()
    shell.magics_manager.magics["line"].pop("tpudist", None)


def _of_colab(line: str) -> None:
    """Takes ``%tensorflow_version 2.x``, with which notebooks of 2019 chose one of Colab's two."""
    console.note("%%tensorflow_version %s: it is the installed one, see %%tpudist --era" % line)


class Cells:
    """The cells of a notebook: of no era, or of one.

    Args:
      shell: the notebook's ``InteractiveShell``.
    """

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._undo = contextlib.ExitStack()

    def magic(self, line: str) -> None:
        """Changes the TensorFlow of the cells: ``--era contrib --tpu virtual:8``, or ``--off``."""
        from IPython.core.error import UsageError

        try:
            parser = _Parser("%tpudist", add_help=False)
            parser.add_argument("--era", choices=_ERAS)
            parser.add_argument("--tpu")
            parser.add_argument("--keras", choices=("era", "installed"))
            parser.add_argument("--off", action="store_true")
            options = parser.parse_args(shlex.split(line))
            self.close()
            if not options.off:
                self._enter(options)
        except TpudistError as error:
            raise UsageError("tpudist: error: %s" % error) from error

    def close(self) -> None:
        """Makes the cells those of no era."""
        self._undo.close()

    def _enter(self, options: argparse.Namespace) -> None:
        if not options.era:
            raise ScriptError(
                "%tpudist without --era",
                "a notebook does not tell its cells' era before they run",
                "%tpudist --era contrib, 2.0 or 2.2",
            )
        system.check(options.tpu)
        era = surfaces.era_named(options.era)
        assert era
        with contextlib.ExitStack() as undo:
            undo.enter_context(machine.restored(start_messages.LEVEL))
            undo.enter_context(era_keras.chosen(options.keras))
            start_messages.start()
            program = runner.Program(era, era == "contrib", os.getcwd(), ("__main__",))
            undo.enter_context(runner.patched(program, options.tpu))
            self._undo = undo.pop_all()
        for line in era_keras.of_tensorflow("of the cells"):
            console.note("keras: " + line)
        for name, value in self._shell.user_ns.items():
            if isinstance(value, types.ModuleType) and value.__name__ == "tensorflow":
                console.note("%s is TensorFlow of before %%tpudist: import it again" % name)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ScriptError(
            "%%tpudist: %s" % message,
            "it takes --era, --tpu, --keras and --off",
            "%tpudist --era contrib --tpu virtual:8",
        )


def _completed(_: Any, event: Any) -> list[str]:
    """Completes the end of a line of ``%tpudist``; IPython calls it."""
    words = event.line.split()
    last = words[-1] if event.line.endswith(" ") else words[-2]
    return list(_ERAS) if last == "--era" else ["--era", "--tpu", "--keras", "--off"]
