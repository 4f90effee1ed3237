"""What calls of Python's own functions return."""

import libcst as cst

from tpudist.tools.migrate.resolution import containers, members, tensorflow_names
from tpudist.tools.migrate.resolution.fixed_point import UNKNOWN

_OTHER = frozenset([("other",)])
#: Functions whose result holds nothing that they were given.
_MADE = frozenset(
    """abs all any ascii bin bool bytearray bytes callable chr complex dir divmod float format
    hasattr hash help hex id input int isinstance issubclass len memoryview object oct open ord
    pow print range repr round slice str sum""".split()
)
_EXCEPTIONS = ("Error", "Exception", "Warning", "Exit", "Interrupt", "StopIteration")


def builtin_name(module, node):
    """The name of the builtin that a Name is, "" of anything else."""
    if type(node) is not cst.Name:
        return ""
    found = module.scope(node)[node.value]
    is_builtin = found and all(type(each).__name__ == "BuiltinAssignment" for each in found)
    return node.value if is_builtin else ""


def result(evaluator, module, call, name):
    """The values of a call of a builtin.

    Args:
      evaluator: the `Evaluator`.
      module: the `Module` of the call.
      call: the libcst Call.
      name: the builtin's name.

    Returns:
      A frozenset of values; unknown if it may be something that was passed in.
    """
    if name in _MADE or name.endswith(_EXCEPTIONS):
        return _OTHER
    if name == "type":
        is_asked = len(call.args) == 1 and not call.args[0].star
        return (
            members.class_of(evaluator.values(module, call.args[0].value)) if is_asked else _OTHER
        )
    if name == "getattr":
        return _attribute(evaluator, module, call.args)
    if name == "next" and call.args and not call.args[0].star:
        return containers.elements(evaluator, module, call.args[0].value)
    if name == "super":
        return _super(evaluator, module, call)
    return UNKNOWN


def _super(evaluator, module, call):
    """What ``super()`` gives in a method: an object of each class above."""
    owner, found = module.around(call, cst.ClassDef), set()
    for base in owner.bases if owner is not None else ():
        for value in evaluator.values(module, base.value):
            found |= members.result(evaluator, value)
    return found or (_OTHER if owner is not None and not owner.bases else UNKNOWN)


def imported(call):
    """The values of ``pytest.importorskip("tensorflow.a")``."""
    name = call.args[0].value if call.args else None
    text = str(name.evaluated_value) if type(name) is cst.SimpleString else ""
    below = tensorflow_names.below_tensorflow(text)
    return UNKNOWN if below is None else frozenset([("tf", below)])


def members_asked_for(module):
    """(node, dotted name) of each member of something else that a call names in a string.

    ``operator.methodcaller("name")``, ``attrgetter("a.name")``, ``mock.patch.object(x, "name")``.
    """
    for function, index in (("methodcaller", 0), ("attrgetter", 0), ("object", 1)):
        for call in module.nodes.calls_by_name.get(function, ()):
            node = call.args[index].value if len(call.args) > index else None
            value = node.evaluated_value if type(node) is cst.SimpleString else None
            if isinstance(value, str):
                yield node, value


def named_member(call):
    """(what is asked, the member's name) of ``getattr(x, "name")`` and its kin; else None."""
    if len(call.args) < 2 or any(each.star or each.keyword for each in call.args[:2]):
        return None
    owner, name = call.args[0].value, call.args[1].value
    if not isinstance(name, cst.SimpleString):
        return None
    return owner, str(name.evaluated_value)


def asks_for_a_member(call):
    """Whether a call is ``getattr(x, name)`` of a name that is no literal."""
    return len(call.args) > 1 and not any(each.star or each.keyword for each in call.args[:2])


def owner_of_members(node):
    """What ``vars(x)`` and ``x.__dict__`` are of; None of anything else."""
    if type(node) is cst.Attribute and node.attr.value == "__dict__":
        return node.value
    is_vars = type(node) is cst.Call and type(node.func) is cst.Name and node.func.value == "vars"
    return node.args[0].value if is_vars and len(node.args) == 1 else None


def index_of(node):
    """What stands in the brackets of a Subscript; None if it is no single index."""
    index = node.slice[0].slice if len(node.slice) == 1 else None
    return index.value if isinstance(index, cst.Index) else None


def _attribute(evaluator, module, arguments):
    named = named_member(cst.Call(cst.Name("getattr"), arguments))
    if named is None:
        return UNKNOWN
    owner, name = named
    found = set()
    for value in evaluator.values(module, owner):
        found |= members.attribute(evaluator, value, name)
    if len(arguments) > 2:
        found |= evaluator.values(module, arguments[2].value)
    return found
