"""``tpudist run notebook.ipynb``: IPython runs the code cells in order, as Colab did."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import sys
import tempfile
import types
from typing import Any, Callable, Iterator

from tpudist import console
from tpudist.errors import ScriptError

#: A line that would change the environment in which the notebook runs.
_INSTALLS = re.compile(
    r"\b(pip3?|conda|mamba|apt(-get)?)\s+(-\S+\s+)*(install|uninstall|remove|upgrade)\b"
)


def run(cells: list[str], module: types.ModuleType, path: str) -> None:
    """Runs the texts of cells in the program's ``__main__``; the first error of one is raised."""
    with _shell(module) as shell, _colab():
        for number, cell in enumerate(cells, 1):
            name = "%s, cell %d" % (path, number)
            shell.compile.get_code_name = lambda *unused, name=name: name
            done = shell.run_cell(cell, store_history=True)
            error = done.error_before_exec or done.error_in_exec
            if error is not None:
                raise error


@contextlib.contextmanager
def _shell(module: types.ModuleType) -> Iterator[Any]:
    """Context manager: a shell of IPython whose cells are a module, and which keeps nothing."""
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    with tempfile.TemporaryDirectory() as own:
        shell = InteractiveShell.instance(
            user_module=module,
            user_ns=module.__dict__,
            ipython_dir=own,
            config=Config({"HistoryManager": {"enabled": False}}),
        )
        shell.showtraceback = shell.showsyntaxerror = _shown_by_the_runner
        native = shell.system
        shell.system = lambda command: _left_out("!" + command) or native(command)
        shell.register_magic_function(_version, "line", "tensorflow_version")
        for each in ("pip", "conda"):
            shell.register_magic_function(_magic(each, shell.find_line_magic(each)), "line", each)
        try:
            yield shell
        finally:
            InteractiveShell.clear_instance()


def _shown_by_the_runner(*unused: Any, **unused_options: Any) -> None:
    """Shows nothing: the error is raised, and shown with what is to be said of it."""


def _version(line: str) -> None:
    """Takes ``%tensorflow_version 1.x``, with which notebooks of 2019 chose one of Colab's two."""
    console.note("tpudist run: %%tensorflow_version %s: the cells have that of their era" % line)


def _magic(name: str, native: Callable[[str], Any]) -> Callable[[str], Any]:
    """A line magic that runs no installation."""
    return lambda line: _left_out("%%%s %s" % (name, line)) or native(line)


def _left_out(line: str) -> bool:
    """Whether a line would change the environment; says that it is not run."""
    is_left_out = bool(_INSTALLS.search(line))
    if is_left_out:
        console.note("tpudist run: not run: %s (it would change what is installed here)" % line)
    return is_left_out


class _Colab(types.ModuleType):
    """A module of ``google.colab``, where there is no Colab."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError("module %r has no attribute %r" % (self.__name__, name))
        raise ScriptError(
            "%s.%s" % (self.__name__, name),
            "only Colab has it",
            "a cell without it, or the notebook in Colab",
        )


@contextlib.contextmanager
def _colab() -> Iterator[None]:
    """Context manager: what notebooks import of ``google.colab`` is there."""
    name = "google.colab"
    if importlib.util.find_spec("google") and importlib.util.find_spec(name):
        yield
        return
    members: dict[str, dict[str, Any]] = {
        "": {},
        ".auth": {"authenticate_user": lambda *unused: None},
        ".drive": {"mount": _mount},
        ".files": {"download": lambda path: console.note("tpudist run: %s is written" % path)},
    }
    made = {name + end: _Colab(name + end) for end in members}
    for end, values in members.items():
        vars(made[name + end]).update(values, __path__=[])
        setattr(made[name], end[1:], made[name + end])
    sys.modules.update(made)
    try:
        yield
    finally:
        for each in made:
            sys.modules.pop(each, None)


def _mount(place: str, *unused: Any, **unused_options: Any) -> None:
    """Takes a folder for the mounted drive, where there is one."""
    if not os.path.isdir(place):
        raise ScriptError(
            "google.colab.drive.mount(%r)" % place,
            "there is no Google Drive outside of Colab",
            "the files of the drive in %s" % place,
        )
