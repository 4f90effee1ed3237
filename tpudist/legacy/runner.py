"""``tpudist run``: a script written for another TensorFlow, unmodified."""

from __future__ import annotations

import argparse
import builtins
import contextlib
import functools
import os
import sys
import traceback
import types
from types import CodeType, TracebackType
from typing import Any, Callable, Iterator, List, NamedTuple, Sequence

from tpudist import console, machine, surfaces
from tpudist.errors import ScriptError, TpudistError
from tpudist.legacy import (
    behaviour,
    era_keras,
    hook,
    notices,
    plain_failures,
    quirks,
    start,
    start_messages,
    worker_seeds,
    workers,
)
from tpudist.surfaces.eras import packages, program
from tpudist.system import tasks
from tpudist.virtual import system

#: What to say of an error that ends a script, a list of lines.
_About = Callable[[BaseException], List[str]]

_OURS = [os.path.join(os.path.realpath(machine.PACKAGE), name) for name in ("legacy", "dropin")]


def run(
    script: str,
    argv: Sequence[str] = (),
    era: str | None = None,
    tpu: str | None = None,
    around: contextlib.AbstractContextManager[Any] | None = None,
    keras: str | None = None,
    also: Sequence[str] = (),
    left_out: Sequence[str] = (),
    module: bool = False,
) -> int:
    """Runs a script as ``python script argv...`` would on its era's TensorFlow.

    Its files (see `hook`) import the era's drop-in for ``tensorflow``. Afterwards Python's import,
    ``sys.argv``, ``sys.path``, the user's modules, absl's flags, TPUDIST_TPU and TensorFlow's
    behaviour switches are what they were, however the script ended. A script that starts further
    Pythons starts them without the drop-in.

    Args:
      script: path of the script; with `module` the name of a module.
      argv: its arguments.
      era: "contrib", "2.0" or "2.2" (or as in ``surfaces.ERAS``). None finds it by reading the
        script, and says which names decided; if none does, it is the newest.
      tpu: a TPU's name, such as "virtual:8", that TPUDIST_TPU is set to; None leaves it.
      around: a context manager to enter around the script, or None.
      keras: "era" or "installed", see `era_keras.chosen`; or None.
      also, left_out: as of `Program`.
      module: whether a module is started by its name, as ``python -m`` does.

    Returns:
      The exit code: the script's own, 1 after an uncaught exception, 2 if tpudist cannot run the
      script, 130 after Ctrl-C before it began.
    """
    with contextlib.ExitStack() as undo:
        try:
            kind = start.Notebook if script.endswith(".ipynb") else start.Script
            started = start.Module(script) if module else kind(script)
            system.check(tpu)
            undo.enter_context(machine.restored(start_messages.LEVEL))
            undo.enter_context(era_keras.chosen(keras))
            undo.enter_context(_interpreter(started, argv))
            _check_packages(also)
            code, era, in_graph, about = _prepare(started, era, also, left_out)
            folder = program.own_folder(started.path, started.own)
            inside = patched(Program(era, in_graph, folder, also, left_out), tpu)
            hooked = undo.enter_context(inside)
            undo.enter_context(_absl_flags())
        except TpudistError as error:
            print("tpudist run: %s" % error, file=sys.stderr)
            return 2
        except KeyboardInterrupt:  # before the script, whose own it is later
            print("tpudist: interrupted", file=sys.stderr)
            return 130
        if around is not None:
            undo.enter_context(around)
        main = undo.enter_context(_main_module(started))
        status = _execute(code, main, started, lambda each: about(each) + hooked.about_failure())
        if status == 0 and system.is_cluster(os.environ.get(machine.TPU)):
            workers.leave()
        return status


def of_options(
    options: argparse.Namespace,
    tpu: str | None,
    around: contextlib.AbstractContextManager[Any] | None = None,
) -> int:
    """Runs what the parsed options of ``tpudist run`` name; the rest is as for :func:`run`."""
    return run(
        options.module or options.script,
        options.arguments,
        options.era,
        tpu,
        around,
        options.keras,
        options.also,
        options.left_out,
        module=bool(options.module),
    )


class Program(NamedTuple):
    """A program that is to see the TensorFlow of its era.

    Its files are below a folder; installed packages and modules named in `also` are its own too,
    those in `left_out` are not.
    """

    era: str
    in_graph: bool
    folder: str
    also: Sequence[str] = ()
    left_out: Sequence[str] = ()


@contextlib.contextmanager
def patched(of: Program, tpu: str | None) -> Iterator[hook.Hook]:
    """Context manager: inside, TensorFlow and Python's import are as a program expects them.

    TPUDIST_TPU is set to `tpu`, unless that is None. Yields the import hook.
    """
    with contextlib.ExitStack() as undo:
        undo.enter_context(machine.restored(machine.TPU))
        os.environ.update({} if tpu is None else {machine.TPU: tpu})
        name = os.environ.get(machine.TPU, "")
        if system.is_cluster(name):
            tasks.prepare()
        if system.is_cluster(name) and tasks.is_evaluator():
            os.environ[machine.TPU] = name = system.of_one_host(name)
            console.note("tpudist run: an evaluator, which runs the program alone, on %s" % name)
        if system.is_cluster(name):
            from tpudist.system import cluster

            with workers.in_time():  # TensorFlow cannot start it after the script's first op.
                cluster.join(cluster.described(name))
            undo.enter_context(workers.as_this_worker())
        undo.enter_context(behaviour.of_era(of.era, of.in_graph))
        if system.is_cluster(name):
            undo.enter_context(worker_seeds.alike_on_all())
        if system.kind_of(name) == "CPU" and not system.is_cluster(name):
            from tpudist.tfcompat import devices

            devices.provided("CPU", system.parse(name).cores)  # before TensorFlow starts
        undo.enter_context(quirks.applied())
        undo.enter_context(notices.of_deprecation_left_out())
        yield undo.enter_context(hook.Hook(of.era, of.folder, of.also, of.left_out))


def _prepare(
    script: start.Script | start.Module,
    era: str | None,
    also: Sequence[str],
    left_out: Sequence[str],
) -> tuple[CodeType, str, bool, _About]:
    """(its code, its era, whether it gets a graph, what to say of an error) of a script."""
    chosen, tree = _era(era), program.parse(script.path)
    start_messages.start()  # Raises if there is no TensorFlow.

    code = compile(tree, os.path.abspath(script.path), "exec", dont_inherit=True)
    if chosen is not None:  # then nothing is read before something fails
        return code, chosen, chosen == "contrib", functools.partial(_about, script.path)
    read = program.read(script.path, script.own, also, left_out)
    for line in read.faults:
        console.note("tpudist run: %s" % line)
    console.note(program.describe(read.decision))
    chosen, in_graph = read.decision.era, bool(read.decision.graph)
    lines: list[str] = []
    if chosen == "contrib":
        in_graph, lines = era_keras.needs_a_graph(read.keras)
    lines += era_keras.lines(read.keras)
    for line in lines:
        console.note(line)
    doubt = program.doubt(read.decision)

    def about(error: BaseException) -> list[str]:
        return (lines if era_keras.is_out_of_keras(error) else []) + doubt

    return code, chosen, in_graph, about


def _about(script: str, error: BaseException) -> list[str]:
    """The lines to print after an error of a script whose era was named on the command line."""
    is_keras = era_keras.is_out_of_keras(error)
    return era_keras.lines(program.read(script).keras) if is_keras else []


def _check_packages(also: Sequence[str]) -> None:
    for name in also:
        if packages.find(name)[0] is None:
            raise ScriptError(
                "--also %s" % name,
                "no package of this name can be imported",
                "--also PACKAGE with the name that import statements have",
            )


def _era(era: str | None) -> str | None:
    if era is None or surfaces.era_named(era):
        return era and surfaces.era_named(era)
    raise ScriptError(
        "--era %s" % era,
        "the eras are contrib, 2.0 and 2.2",
        "--era contrib for TensorFlow 1.11 to 1.15, 2.0 for 2.0 and 2.1, 2.2 "
        "for 2.2 and newer, or none to have it found",
    )


def _execute(
    code: CodeType, module: types.ModuleType, started: start.Script | start.Module, about: _About
) -> int:
    try:
        started.run(code, module)
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return int(end.code or 0)
        print(end.code, file=sys.stderr)
        return 1
    except Exception as error:  # noqa: BLE001
        _print_traceback(error)
        plain = plain_failures.explained(error)
        if plain is not None:
            print("tpudist run: %s" % plain, file=sys.stderr)
        for line in about(error):
            print(line, file=sys.stderr)
        return 1
    return 0


def _print_traceback(error: Exception) -> None:
    """Prints a script's error without the frames of the import hook.

    Of an error that says what to type the frames of tpudist and TensorFlow say nothing more.
    """
    folders = list(_OURS)
    is_short = isinstance(error, TpudistError) and not console.is_verbose()
    if is_short:
        tensorflow = os.path.dirname(hook.file_of_tensorflow() or machine.PACKAGE)
        folders = [machine.PACKAGE, os.path.realpath(machine.PACKAGE), tensorflow]
    if "IPython" in sys.modules:  # which runs the cells of a notebook
        folders.append(os.path.dirname(sys.modules["IPython"].__file__ or ""))
    trace = error.__traceback__ = _users_frames(error.__traceback__, folders)
    traceback.print_exception(type(error), error, trace, chain=not is_short)


def _users_frames(trace: TracebackType | None, folders: Sequence[str]) -> TracebackType | None:
    """The traceback without the frames of files below some folders."""
    while trace is not None and _is_below(trace, folders):
        trace = trace.tb_next
    here = trace
    while here is not None:
        while here.tb_next is not None and _is_below(here.tb_next, folders):
            here.tb_next = here.tb_next.tb_next
        here = here.tb_next
    return trace


def _is_below(trace: TracebackType, folders: Sequence[str]) -> bool:
    file = trace.tb_frame.f_code.co_filename
    below = tuple(os.path.join(folder, "") for folder in folders)
    return file.startswith(below) or file.startswith("<frozen importlib")


@contextlib.contextmanager
def _interpreter(script: start.Script | start.Module, argv: Sequence[str]) -> Iterator[None]:
    arguments, path = sys.argv, list(sys.path)
    sys.argv = [script.path] + list(argv)
    sys.path.insert(0, script.folder)
    try:
        yield
    finally:
        sys.argv = arguments
        sys.path[:] = path


@contextlib.contextmanager
def _main_module(started: start.Script | start.Module) -> Iterator[types.ModuleType]:
    module, before = types.ModuleType("__main__"), sys.modules["__main__"]
    module.__dict__.update(started.attributes, __builtins__=builtins)
    sys.modules["__main__"] = module
    try:
        yield module
    finally:
        sys.modules["__main__"] = before


@contextlib.contextmanager
def _absl_flags() -> Iterator[None]:
    """Forgets the flags that a script defines, so that it can run again."""
    from absl import flags

    values = flags.FLAGS
    before, parsed = set(values), values.is_parsed()
    try:
        yield
    finally:
        for name in set(values) - before:
            if not str(values.find_module_defining_flag(name)).startswith("absl."):
                delattr(values, name)
        if not parsed:
            values.unparse_flags()
