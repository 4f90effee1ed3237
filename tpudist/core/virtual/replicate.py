"""``call_for_each_replica`` of the virtual TPU.

In a ``tf.function`` the replica function is traced once, as on a real TPU
(:mod:`program`). In a TF 1 graph, and on releases whose replica contexts need
a static id, it is traced once per replica in lockstep (:mod:`lockstep`):
legacy graph code keeps tensors and ops of the replica function in Python and
fetches them from the Session.
"""

import weakref

import tensorflow as tf

from tpudist.core import functions
from tpudist.core import versions
from tpudist.core.virtual import lockstep
from tpudist.core.virtual import program

_wrappers = weakref.WeakKeyDictionary()
_traces = weakref.WeakKeyDictionary()


def call_for_each_replica(extended, fn, args, kwargs):
    """Runs `fn` once per replica; see ``StrategyExtended``.

    Context: cross-replica; graph, ``tf.function`` or eager. In eager mode the
    replicas run inside one ``tf.function``, because a TPU has no eager mode.

    Returns:
      What `fn` returned, with a distributed value for each leaf.
    """
    if functions.is_function(fn):
        return _wrapper(extended, fn)(*args, **kwargs)
    if tf.executing_eagerly():
        return _wrapper(extended, _traced(fn))(*args, **kwargs)
    if versions.TRACE_ONCE and functions.in_function():
        return program.run(extended, fn, args, kwargs)
    return lockstep.run(extended, fn, args, kwargs)


def _traced(fn):
    """`fn` as a ``tf.function``, the same one each time."""
    owner, key = getattr(fn, "__self__", None), getattr(fn, "__func__", fn)
    cached = _traces.setdefault(key, weakref.WeakKeyDictionary())
    try:
        return cached.setdefault(owner or key, tf.function(fn))
    except TypeError:
        return tf.function(fn)


def _wrapper(extended, function):
    """`function` with the replicas inside it, so that its trace is cached."""
    cached = _wrappers.setdefault(extended, weakref.WeakKeyDictionary())
    if function not in cached:
        python_function = function.python_function
        weak = weakref.ref(extended)

        def for_each_replica(*args, **kwargs):
            return weak().call_for_each_replica(
                functions.convert(python_function), args, kwargs)
        cached[function] = functions.clone(function, for_each_replica)
    return cached[function]
