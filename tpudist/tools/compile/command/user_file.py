"""Executes the user's file, and finds its step and its strategy."""

from __future__ import annotations

import contextlib
import os
import traceback
from typing import TYPE_CHECKING

from tpudist.errors import CompileError, TpudistError
from tpudist.legacy import start

if TYPE_CHECKING:
    from types import CodeType, ModuleType
    from typing import Any, Callable, ContextManager, Iterator


@contextlib.contextmanager
def executed(
    target: str,
    era: str | None = None,
    tpu: str | None = None,
    context: Callable[[], ContextManager[Any]] | None = None,
) -> Iterator[tuple[ModuleType, Callable[..., Any]]]:
    """Executes a file as a module of its era; all that this changes is undone at the end.

    Args:
      target: ``"path/to/train.py:step_fn"``; the function may be one of an
        object of the module (``trainer.step``).
      era: "contrib", "2.0" or "2.2"; None finds it by reading the file.
      tpu: the value of TPUDIST_TPU for the file.
      context: returns a context manager to execute and use the file in; or None.

    Yields:
      ``(module, function)``.

    Raises:
      CompileError: (a RuntimeError) there is no such function in it.
      ScriptError: (a RuntimeError) there is no such file.
    """
    from tpudist.legacy import runner  # It asks TensorFlow for its version.

    script, name = parse_target(target)
    with contextlib.ExitStack() as entered:
        code, _ = entered.enter_context(runner.of_era(script, (), era, tpu))
        if context is not None:
            entered.enter_context(context())
        module = _execute(code, script.path)
        yield module, _function(module, script.path, name)


def parse_target(target: str) -> tuple[start.Script, str]:
    """Returns (the file, the function's name) of ``"path/to/train.py:step_fn"``.

    Raises:
      CompileError: (a RuntimeError) the text names no file and function.
      ScriptError: (a RuntimeError) there is no such file.
    """
    path, separator, name = target.rpartition(":")
    if not separator or not path.endswith(".py"):
        raise CompileError("%r" % target, "it is no file and function", "path/to/train.py:step_fn")
    return start.Script(path), name


def _execute(code: CodeType, path: str) -> ModuleType:
    from tpudist.legacy import runner

    try:
        return runner.load(code, path)
    except TpudistError:
        raise
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        own = [each for each in frames if each.filename == os.path.abspath(path)]
        place = "%s:%d: " % (path, own[-1].lineno or 0) if own else ""
        raise CompileError(
            "%s%s: %s" % (place, type(error).__name__, error),
            "the file is executed as a module, before its step is traced, and that failed",
            "a file that can be imported; TPUDIST_TRACEBACK=1 shows the whole traceback",
        ) from error


def _function(module: ModuleType, path: str, name: str) -> Callable[..., Any]:
    member: Any = module
    for part in name.split("."):
        member = None if member is None else getattr(member, part, None)
    if callable(member):
        return member
    raise CompileError(
        "%s of %s" % (name, path),
        "the file defines no such function, unless inside of another one",
        "one of %s; or tpudist run --compile, which compiles every replica "
        "function that the script runs" % _function_names(module),
    )


def _function_names(module: ModuleType) -> str:
    """Returns the names of the functions that a module defines, for a message."""
    names = sorted(
        name
        for name, each in vars(module).items()
        if callable(each)
        and not isinstance(each, type)
        and getattr(each, "__module__", None) == module.__name__
    )
    return ", ".join(names) or "no functions at all"


def strategy_of(module: ModuleType, name: str | None, replicas: int, logical: int) -> Any:
    """Returns the strategy that the step is compiled for.

    Args:
      module: the user's.
      name: of the strategy in it, or None for its only one.
      replicas, logical: of a new strategy if the module has none.

    Returns:
      A strategy of tpudist on the virtual TPU.

    Raises:
      CompileError: (a RuntimeError) there are several, or none of that name.
    """
    from tpudist.core import base_classes  # It imports TensorFlow.

    kinds = (base_classes.TPUStrategyBase, base_classes.TPUStrategyBaseV1)
    strategies = {each: value for each, value in vars(module).items() if isinstance(value, kinds)}
    names = sorted(strategies)
    if name is not None and name not in strategies:
        raise CompileError(
            "--strategy %s" % name,
            "the file has no TPUStrategy of that name",
            "one of %s" % (", ".join(names) or "none: leave it out"),
        )
    if name is None and len(set(map(id, strategies.values()))) > 1:
        raise CompileError(
            "several strategies: %s" % ", ".join(names),
            "the step is compiled for one",
            "--strategy %s" % names[0],
        )
    if strategies:
        return strategies[name or names[0]]
    return _new_strategy(replicas, logical)


def _new_strategy(replicas: int, logical: int) -> Any:
    from tpudist.v2_2 import tensorflow as tf

    resolver = tf.distribute.cluster_resolver.TPUClusterResolver(
        tpu="virtual:%d" % (replicas * logical)
    )
    topology = tf.tpu.experimental.initialize_tpu_system(resolver)
    cores = topology.device_coordinates.reshape([replicas, logical, -1])
    return tf.distribute.experimental.TPUStrategy(
        resolver, tf.tpu.experimental.DeviceAssignment(topology, cores)
    )
