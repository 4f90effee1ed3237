"""What a parameter may be: by annotation, by default, and by every call found."""

import os

import libcst as cst

from tpudist.tools.migrate.resolution import tensorflow_names
from tpudist.tools.migrate.resolution.module import last_word

_UNKNOWN = frozenset([("unknown",)])
_OTHER = frozenset([("other",)])
_ANY = ("", "Any", "object")  # annotations that say nothing; "" is that of a string
_SEQUENCES = ("experimental_run_v2", "run")


def values(evaluator, module, param):
    """The values of a parameter.

    Args:
      evaluator: the `Evaluator`.
      module: the module of the function.
      param: the libcst Param.

    Returns:
      A frozenset of values; unknown if no call of the function is found.
    """
    function = module.around(param, (cst.FunctionDef, cst.Lambda))
    if type(function) is cst.Lambda:
        return _of_lambda(evaluator, module, function, param)
    annotated = (
        frozenset()
        if param.annotation is None
        else (evaluator.of_annotation(module, param.annotation))
    )
    if annotated and ("unknown",) not in annotated and ("other",) not in annotated:
        return annotated
    owner = module.around(function, (cst.FunctionDef, cst.ClassDef))
    method = type(owner) is cst.ClassDef and not any(
        last_word(each.decorator) == "staticmethod" for each in function.decorators
    )
    index = _index(function.params, param)
    if method and index == 0:
        return frozenset([("object", module, owner)])
    found = set()
    if param.default is not None:
        found |= evaluator.values(module, param.default)
    called = list(_arguments(evaluator, module, function, owner, index - method, param))
    for where, argument in called:
        found |= argument if where is None else evaluator.values(where, argument)
    if called:
        return frozenset(found)
    is_other = annotated == _OTHER and last_word(param.annotation.annotation) not in _ANY
    return frozenset(found) | (_OTHER if is_other else _UNKNOWN)


def _index(parameters, param):
    every = list(parameters.posonly_params) + list(parameters.params)
    return next((index for index, each in enumerate(every) if each is param), -9)


def _of_lambda(evaluator, module, function, param):
    argument = module.parent(function)
    call = module.parent(argument)
    if isinstance(argument, cst.Arg) and isinstance(call, cst.Call):
        position = [each is argument for each in call.args].index(True)
        found = set()
        for where, value in _passed(
            evaluator, module, call, position, _index(function.params, param)
        ):
            found |= value if where is None else evaluator.values(where, value)
        if found:
            return frozenset(found)
    return _UNKNOWN


def _arguments(evaluator, module, function, owner, index, param):
    """(module, argument) of each call, or (None, values) where a kind is known."""
    name = function.name.value
    if isinstance(owner, cst.ClassDef) and name == "__init__":
        name = owner.name.value
    names = name, function.name.value
    for where in _callers(evaluator, module, names, (module, function, owner)):
        calls = where.nodes.calls_by_name.get(name, ())
        passed = where.nodes.passed_by_name.get(function.name.value, ())
        if where is not module:
            nodes = [call.func for call in calls]
            nodes += [call.args[position].value for call, position in passed]
            evaluator.called.ask(where, names, nodes)
        for call in calls:
            if _is(evaluator, where, call.func, function, owner):
                argument = _given(call.args, index, param.name.value)
                if argument is not None:
                    yield where, argument
        for call, position in passed:
            if _is(evaluator, where, call.args[position].value, function, owner):
                yield from _passed(evaluator, where, call, position, index)


def _callers(evaluator, module, names, meant):
    """The modules that may call a function of a module: they mention both."""
    codebase, name = evaluator.codebase, names[0]
    paths = _mentioning(codebase, name, module.path)
    for path in sorted(paths):
        if path != module.path and evaluator.called.is_other(path, names, meant):
            continue
        if path != module.path and not codebase.has_word(path, name):
            continue
        found = module if path == module.path else codebase.module(path)
        if found is not None:
            yield found


def _mentioning(codebase, name, home):
    stem = os.path.splitext(os.path.basename(home))[0]
    if stem == "__init__":
        stem = os.path.basename(os.path.dirname(os.path.abspath(home)))
    return set(codebase.mentioning(name, stem)) | set(codebase.reexporting(home, name)) | {home}


def may_call(codebase, path, name, home):
    """Whether a file may call what is named so in the file `home`."""
    return path in _mentioning(codebase, name, home)


def _is(evaluator, module, node, function, owner):
    return any(
        (value[0] == "function" and value[2] is function)
        or (value[0] == "class" and value[2] is owner)
        for value in evaluator.values(module, node)
    )


def _given(arguments, index, name):
    """The argument for a parameter; None if it is not given, or starred."""
    position = 0
    for argument in arguments:
        if argument.star:
            return None
        if argument.keyword is not None:
            if argument.keyword.value == name:
                return argument.value
        elif position == index:
            return argument.value
        else:
            position += 1
    return None


def _passed(evaluator, module, call, position, index):
    """What a function gets that is passed to a method of a strategy or context."""
    for value in evaluator.values(module, call.func):
        key = (value[1], value[2]) if value[0] == "method" else None
        if key not in tensorflow_names.CALLBACKS or position != 0:
            continue
        first = tensorflow_names.CALLBACKS[key]
        if first and index == 0:
            yield None, frozenset([("is", first)])
        elif not first:
            argument = _forwarded(call, value[2], index)
            if argument is not None:
                yield module, argument


def _forwarded(call, method, index):
    """The argument that ``run(fn, args=(a, b))`` or ``call_for_each_tower(fn, a, b)`` passes on."""
    if method in _SEQUENCES:
        found = _given(call.args, 1, "args")
        elements = found.elements if isinstance(found, (cst.Tuple, cst.List)) else ()
        return elements[index].value if 0 <= index < len(elements) else None
    return _given(call.args, index + 1, "")
