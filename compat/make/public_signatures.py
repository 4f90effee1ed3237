"""Prints the parameters of TensorFlow's public names, as the installed release has them.

    python -m compat.make.public_signatures

A JSON object: ``release``; ``first``, the names of TensorFlow 1 (``tf`` of 1.x, ``tf.compat.v1``
of 2.x), and ``second``, those of TensorFlow 2, each {name: parameters or null}; and ``alike``,
the names that are one object or one function in both. A parameter is ``name``,
``name=default``, ``*name``, ``**name`` or ``*``, behind which keywords stand alone. Decorators
of TensorFlow are looked through. The module runs on Python 3.7, for 1.15.
"""

import enum
import inspect
import json
import sys
import warnings

#: Modules that are no public API, that have answers of their own, or (raw_ops) whose functions
#: are the same in both generations and take keywords alone.
SKIPPED = frozenset(
    "compat compiler contrib core estimator include keras python raw_ops tools".split()
)
#: What the name of a module of the API says.
_API = ("_api", "summary", "keras.api", "_tf_keras")


def read():
    """The object that the module prints."""
    import tensorflow as tf

    second = _names(tf) if tf.__version__ >= "2" else {}
    first = _names(tf.compat.v1 if second else tf)
    return {
        "release": tf.__version__,
        "first": {name: parameters(value) for name, value in first.items()},
        "second": {name: parameters(value) for name, value in second.items()},
        "alike": sorted(
            name
            for name, value in second.items()
            if name in first and undecorated(value) is undecorated(first[name])
        ),
    }


def _names(root):
    """{dotted name: object} of the public functions and classes below a module, and of methods."""
    found = {}
    _walk(root, "", found, {id(root)})
    classes = {name: value for name, value in found.items() if inspect.isclass(value)}
    public = set(classes.values())
    for name, value in classes.items():
        for word in dir(value):
            if not word.startswith("_") and _is_its_own(value, word, public):
                found["%s.%s" % (name, word)] = inspect.getattr_static(value, word)
    return found


def _is_its_own(value, word, public):
    """Whether a method is not one of another public class, or of another package's."""
    home = next((each for each in value.__mro__ if word in vars(each)), None)
    if home is None or (home is not value and home in public):
        return False
    member = vars(home)[word]
    called = isinstance(member, (staticmethod, classmethod)) or inspect.isroutine(member)
    return called and home.__module__.startswith(("tensorflow", "keras"))


def _walk(module, above, found, seen):
    for word in dir(module):
        name = (above + "." + word).lstrip(".")
        if word.startswith("_") or name in SKIPPED:
            continue
        try:
            value = getattr(module, word)
            own = getattr(value, "__name__", "")
        except Exception:  # a lazy module that cannot be imported  # noqa: BLE001
            continue
        if inspect.ismodule(value) or hasattr(value, "__path__"):
            if id(value) not in seen and any(each in str(own) for each in _API):
                _walk(value, name, found, seen | {id(value)})
        elif callable(value):
            found[name] = value


def undecorated(value):
    """The function or class inside TensorFlow's decorators."""
    from tensorflow.python.util import tf_decorator

    if isinstance(value, (staticmethod, classmethod)):
        value = value.__func__
    try:
        return tf_decorator.unwrap(value)[1]
    except Exception:  # an object with attributes of its own making  # noqa: BLE001
        return value


def parameters(value):
    """The parameters of a function, method (without its receiver) or class; None of the rest."""
    from tensorflow.python.util import tf_inspect

    bound = inspect.isclass(value) or _is_in_a_class(value)
    if isinstance(value, (staticmethod, classmethod)):
        value = value.__func__
    if inspect.isclass(value):
        if issubclass(value, (enum.Enum, BaseException)):  # nobody makes one
            return None
        if value.__init__ is not object.__init__:
            value = value.__init__
        elif value.__new__ is not object.__new__:
            value = value.__new__
        else:
            return None if inspect.isabstract(value) else []
    try:
        spec = tf_inspect.getfullargspec(value)
    except (TypeError, ValueError):
        return None
    if spec.args[:1] == ["type"]:  # a class that C++ makes
        return None
    names = spec.args[1:] if bound and spec.args[:1] in _RECEIVERS else spec.args
    words = _spelled(names, spec.defaults or ())
    if spec.varargs or spec.kwonlyargs:
        words.append("*" + (spec.varargs or ""))
    for name in spec.kwonlyargs:
        known = (spec.kwonlydefaults or {}).get(name, inspect.Parameter.empty)
        words.append(_spelled([name], () if known is inspect.Parameter.empty else (known,))[0])
    return words + (["**" + spec.varkw] if spec.varkw else [])


_RECEIVERS = (["self"], ["cls"], ["_cls"])


def _is_in_a_class(value):
    if isinstance(value, staticmethod):
        return False
    return isinstance(value, classmethod) or "." in getattr(value, "__qualname__", "")


def _spelled(names, defaults):
    required = len(names) - len(defaults)
    return names[:required] + [
        "%s=%s" % (name, _default(value)) for name, value in zip(names[required:], defaults)
    ]


def _default(value):
    """A default without spaces; ``?`` of what has no spelling that releases share."""
    if isinstance(value, (bool, int, float, str, tuple, list, type(None))) and not isinstance(
        value, enum.Enum
    ):
        return repr(value).replace(" ", "")
    name = getattr(value, "name", None) or getattr(value, "__name__", None)
    return name if isinstance(name, str) else "?"


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.stdout.write("\n" + json.dumps(read()) + "\n")
