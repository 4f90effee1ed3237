"""Records the replica functions that a program runs, to compile them."""

import collections
import functools

from tpudist.errors import CompileError
from tpudist.tfcompat import functions, graphs
from tpudist.tools.compile.lowering import graph_ops, stand_in_results, tracing
from tpudist.virtual.replicas import replicate
from tpudist.virtual.variables import storage

#: A replica function: its name and place, and its `program.Program` or the
#: `TpudistError` that says why there is none.
Recorded = collections.namedtuple("Recorded", "name location program error")

#: AutoGraph's name in the code that it writes, and the functions that it puts
#: around a converted one.
_AUTOGRAPH = "ag__"
_FACTORY = "outer_factory.inner_factory."

_Noted = collections.namedtuple("_Noted", "name location step error variables")


class Recorder:
    """Context manager: notes every replica function that runs inside.

    After its replicas have been traced (once for each shape of its arguments),
    the function is traced again for the compiler. :meth:`programs` lowers it;
    by then its variables have their values.

    Args:
      check: called with the strategy of each function; what it raises ends the script.
      noted: None; or called with ([(file, line)] of the stack, what tells functions
        apart) for each function, and none runs: they return zeros.
    """

    def __init__(self, check=lambda strategy: None, noted=None):
        self._noted = collections.OrderedDict()
        self._check, self._tell = check, noted

    def __enter__(self):
        if self._tell is None:
            replicate.observers.append(self._observe)
        else:
            replicate.substitutes.append(self._substitute)
        return self

    def __exit__(self, *exception):
        for each in (replicate.observers, replicate.substitutes):
            each[:] = [entry for entry in each if getattr(entry, "__self__", None) is not self]

    def programs(self, lower):
        """A list of `Recorded`, one per function and shapes of its arguments.

        Args:
          lower: gives the `program.Program` of a `tracing.Step`.
        """
        return [_lowered(noted, lower) for noted in self._noted.values()]

    def _observe(self, extended, fn, args, kwargs):
        with graphs.collections_kept():
            self._note(extended, fn, args, kwargs)

    def _substitute(self, extended, fn, args, kwargs):
        """Notes a function and gives zeros for what it returns and hands out."""
        key, traced = self._note(extended, fn, args, kwargs)
        self._tell(graphs.stack(), key)
        if traced is None:
            raise self._noted[key].error
        for value, receive in traced.handed_out:
            receive(stand_in_results.of_replicas(extended, value))
        return stand_in_results.of_replicas(extended, traced.results)

    def _note(self, extended, fn, args, kwargs):
        """Traces a function; returns (what it is noted under, its `tracing.Traced` or None)."""
        strategy = extended._container_strategy()
        self._check(strategy)
        name, location = _of(fn)
        try:
            traced = tracing.trace_with_results(strategy, fn, args, kwargs)
        except Exception as error:  # the user's code ends in any way it likes
            key = (name, location, str(error))
            self._noted[key] = _Noted(name, location, None, _as_ours(error), ())
            return key, None
        step = traced.step
        shapes = tuple(
            (entry[1].dtype, str(entry[1].shape)) for entry in step.inputs if entry[2] is None
        )
        used = [storage.of_handle(entry[2]) for entry in step.inputs]
        key = (name, location, id(strategy), shapes)
        self._noted[key] = _Noted(
            name, location or _first_line(step.graph), step, None, used + list(step.graph.variables)
        )
        return key, traced


def _as_ours(error):
    if isinstance(error, CompileError):
        return error
    return CompileError(
        "%s: %s" % (type(error).__name__, error),
        "the function failed when it was traced once for all replicas, as on a TPU",
        "write it so that it runs with a replica id that is a tensor",
    )


def _lowered(noted, lower):
    if noted.error is not None:
        return Recorded(noted.name, noted.location, None, noted.error)
    try:
        found = lower(noted.step)
    except CompileError as error:
        return Recorded(noted.name, noted.location, None, error)
    return Recorded(noted.name, noted.location, found, None)


def _of(fn):
    """(name, "file:line") of a function, seen through its wrappers.

    The place is "" for a function inside one that AutoGraph converted: its code
    is in a file of AutoGraph's.
    """
    while True:
        if functions.is_function(fn):
            fn = fn.python_function
        elif isinstance(fn, functools.partial):
            fn = fn.func
        elif hasattr(fn, "__wrapped__"):
            fn = fn.__wrapped__
        else:
            break
    code = getattr(fn, "__code__", None)
    name = getattr(fn, "__qualname__", type(fn).__name__)
    name = name.replace("<locals>.", "").replace(_FACTORY, "")
    if code is None or _AUTOGRAPH in code.co_freevars + code.co_names:
        return name.replace("tf__", ""), ""
    return name, "%s:%d" % (code.co_filename, code.co_firstlineno)


def _first_line(graph):
    """The user's line that the first op of a graph comes from."""
    lines = (graph_ops.location(graph, op.name, op) for op in graph.get_operations())
    return next(filter(None, lines), "")
