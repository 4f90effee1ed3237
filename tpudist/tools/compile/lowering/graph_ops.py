"""The ops of a function graph and of the functions it calls, and who wrote them."""

import functools
import os
import re
import sysconfig
import tempfile
import traceback

import tensorflow as tf

from tpudist import machine
from tpudist.tfcompat import graphs
from tpudist.virtual.variables import creation_lines

#: {type of op: names of its attributes that are functions}, filled when first used.
_calls = {}

#: Attribute of a graph whose ops were made elsewhere.
_PLACES = "_tpudist_places"

#: Files of AutoGraph, whose lines TensorFlow 1.14, and a traceback, take for the user's.
_GENERATED = re.compile(
    re.escape(os.path.join(tempfile.gettempdir(), ""))
    + r"(tmp|__autograph_generated_file)\w{8}\.py$"
)

#: A line of AutoGraph's messages: ``File "f", line 1, in step  *``; until 2.5
#: ``f:1 step  *``.
_TOLD = re.compile(r'^ *(?:File ")?(.+?)(?:", line |:)(\d+),? .*  \*$', re.M)

_LIBRARIES = tuple(
    os.path.join(path, "")
    for path in (
        sysconfig.get_path("stdlib"),
        sysconfig.get_path("purelib"),
        sysconfig.get_path("platlib"),
        os.path.dirname(os.path.dirname(tf.__file__)),
        machine.PACKAGE,
    )
)


def ops(graph, among=None):
    """(path, op) of each op of a graph and of every function it calls.

    Args:
      graph: a ``tf.Graph``.
      among: the ops of `graph` to yield, with what they call; None for all.

    Yields:
      The op's name behind those of the ops that call it, and the op. A
      function that is called twice comes twice, under both paths.
    """
    pending = [("", graph, ())]
    while pending:
        prefix, current, callers = pending.pop()
        listed = current.get_operations() if prefix or among is None else among
        for op in listed:
            yield prefix + op.name, op
            pending += [
                (prefix + op.name + "/", called, callers + (name,))
                for name, called in _called(op, current)
                if name not in callers
            ]


def _called(op, graph):
    """[(name, FuncGraph)] of the functions that an op calls."""
    found = []
    for attribute in _call_attributes(op):
        value = op.get_attr(attribute)
        for function in value if isinstance(value, list) else [value]:
            name = getattr(function, "name", "")
            called = name and graphs.called(graph, name)
            if called is not None:
                found.append((name, called))
    return found


def _call_attributes(op):
    if op.type not in _calls:
        _calls[op.type] = [
            attribute.name
            for attribute in op.op_def.attr
            if attribute.type in ("func", "list(func)")
        ]
    return _calls[op.type]


def location(graph, path, op):
    """ "file:line" of the user's code that made an op, "" if none did.

    The innermost frame outside of Python, its installed packages and tpudist.

    Args:
      graph: the FuncGraph of the step.
      path, op: as :func:`ops` yields them.
    """
    known = getattr(graph, _PLACES, None)
    if known is not None:
        return known.get(path, "")
    return _users(reversed(graphs.frames(op)))


def creation(handle):
    """ "file:line" of the user's code that created a variable, "" if nobody knows.

    Args:
      handle: the resource tensor, eager or of a graph.
    """
    noted = creation_lines.of_handle(handle)
    if noted or graphs.is_eager(handle):
        return _users(noted)
    return _users(reversed(graphs.frames(handle.op)))


def _users(frames):
    for file, line in frames:
        if _is_users(file):
            return "%s:%d" % (os.path.abspath(file), line)
    return ""


def place_of(error):
    """ "file:line" of the user's code that raised, "" if none did.

    Args:
      error: an exception. In its message AutoGraph names the lines of the code
        that it converted, each marked with a star.
    """
    told = _TOLD.findall(str(error))
    places = told or [
        (frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)
    ]
    for file, line in reversed(places):
        if _is_users(file):
            return "%s:%s" % (os.path.abspath(file), line)
    return ""


@functools.lru_cache(maxsize=None)
def _is_users(file):
    path = os.path.abspath(file)
    return not (
        file.startswith("<")
        or path.startswith(_LIBRARIES)
        or machine.is_installed(path)
        or _GENERATED.match(path)
    )


def locate(graph, places):
    """Notes where the ops of an imported graph come from.

    Args:
      graph: a FuncGraph.
      places: {path: location}.
    """
    setattr(graph, _PLACES, places)
