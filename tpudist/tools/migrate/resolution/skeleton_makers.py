"""Making libcst nodes that have no layout: a tenth of what their constructors cost.

A maker sets the fields it is named with, in that order, and nothing else: to ask such
a node for its white space, commas or parentheses is an AttributeError.
"""

from __future__ import annotations

import ast
import dataclasses
from typing import TYPE_CHECKING, Any

import libcst as cst

if TYPE_CHECKING:
    from typing import Callable

    Maker = Callable[..., cst.CSTNode]


def _maker(kind: type, fields: str) -> Maker:
    """A function from the values of some fields to a node of a class."""
    names = fields.split()
    lines = ["def make(%s):" % ", ".join(names), "    node = new(kind)"]
    known = [each.name for each in dataclasses.fields(kind)]  # an older libcst has fewer
    lines += ["    put(node, %r, %s)" % (name, name) for name in names if name in known]
    lines.append("    return node")
    space: dict[str, Any] = {"new": object.__new__, "kind": kind, "put": object.__setattr__}
    exec("\n".join(lines), space)
    made: Maker = space["make"]
    return made


module = _maker(cst.Module, "body")
line = _maker(cst.SimpleStatementLine, "body")
suite = _maker(cst.SimpleStatementSuite, "body")
block = _maker(cst.IndentedBlock, "body")

expr = _maker(cst.Expr, "value")
assign = _maker(cst.Assign, "targets value")
assign_target = _maker(cst.AssignTarget, "target")
aug_assign = _maker(cst.AugAssign, "target operator value")
ann_assign = _maker(cst.AnnAssign, "target annotation value")
annotation = _maker(cst.Annotation, "annotation")
returned = _maker(cst.Return, "value")
raised = _maker(cst.Raise, "exc cause")
come_from = _maker(cst.From, "item")
asserted = _maker(cst.Assert, "test msg")
deleted = _maker(cst.Del, "target")
passed = _maker(cst.Pass, "")
broken = _maker(cst.Break, "")
continued = _maker(cst.Continue, "")
global_ = _maker(cst.Global, "names")
nonlocal_ = _maker(cst.Nonlocal, "names")
name_item = _maker(cst.NameItem, "name")
import_ = _maker(cst.Import, "names")
import_from = _maker(cst.ImportFrom, "module names relative")
import_alias = _maker(cst.ImportAlias, "name asname")
as_name = _maker(cst.AsName, "name")

if_ = _maker(cst.If, "test body orelse")
orelse = _maker(cst.Else, "body")
for_ = _maker(cst.For, "target iter body orelse asynchronous")
while_ = _maker(cst.While, "test body orelse")
with_ = _maker(cst.With, "items body asynchronous")
with_item = _maker(cst.WithItem, "item asname")
try_ = _maker(cst.Try, "body handlers orelse finalbody")
handler = _maker(cst.ExceptHandler, "type name body")
finally_ = _maker(cst.Finally, "body")
function = _maker(
    cst.FunctionDef, "decorators name type_parameters params returns body asynchronous"
)
class_ = _maker(cst.ClassDef, "decorators name type_parameters bases keywords body")
decorator = _maker(cst.Decorator, "decorator")
parameters = _maker(cst.Parameters, "posonly_params params star_arg kwonly_params star_kwarg")
param = _maker(cst.Param, "name annotation default star")

name = _maker(cst.Name, "value")
attribute = _maker(cst.Attribute, "value attr")
string = _maker(cst.SimpleString, "value")
ellipsis = _maker(cst.Ellipsis, "")
binary = _maker(cst.BinaryOperation, "left operator right")
boolean = _maker(cst.BooleanOperation, "left operator right")
unary = _maker(cst.UnaryOperation, "operator expression")
comparison = _maker(cst.Comparison, "left comparisons")
comparison_target = _maker(cst.ComparisonTarget, "operator comparator")
call = _maker(cst.Call, "func args")
arg = _maker(cst.Arg, "keyword value star")
if_exp = _maker(cst.IfExp, "body test orelse")
lambda_ = _maker(cst.Lambda, "params body")
tuple_ = _maker(cst.Tuple, "elements")
list_ = _maker(cst.List, "elements")
set_ = _maker(cst.Set, "elements")
dict_ = _maker(cst.Dict, "elements")
element = _maker(cst.Element, "value")
starred_element = _maker(cst.StarredElement, "value")
dict_element = _maker(cst.DictElement, "key value")
starred_dict_element = _maker(cst.StarredDictElement, "value")
generator = _maker(cst.GeneratorExp, "elt for_in")
list_comp = _maker(cst.ListComp, "elt for_in")
set_comp = _maker(cst.SetComp, "elt for_in")
dict_comp = _maker(cst.DictComp, "key value for_in")
comp_for = _maker(cst.CompFor, "target iter ifs inner_for_in asynchronous")
comp_if = _maker(cst.CompIf, "test")
subscript = _maker(cst.Subscript, "value slice")
subscript_element = _maker(cst.SubscriptElement, "slice")
_index = _maker(cst.Index, "value star")
slice_ = _maker(cst.Slice, "lower upper step")
await_ = _maker(cst.Await, "expression")
yield_ = _maker(cst.Yield, "value")
named = _maker(cst.NamedExpr, "target value")

NUMBERS: dict[type, Maker] = {
    int: _maker(cst.Integer, "value"),
    float: _maker(cst.Float, "value"),
    complex: _maker(cst.Imaginary, "value"),
}


def index(value: cst.CSTNode) -> cst.CSTNode:
    """The Index of a value."""
    return _index(value, None)


def asynchronous(node: ast.AST) -> cst.Asynchronous | None:
    """What stands before the statements of coroutines."""
    return cst.Asynchronous() if type(node).__name__.startswith("Async") else None


def _operators(names: str) -> dict[Any, cst.CSTNode]:
    """{operator of ast: of libcst}."""
    pairs = [name.partition("=")[::2] for name in names.split()]
    return {getattr(ast, old): getattr(cst, new or old)() for old, new in pairs}


BINARY = _operators(
    "Add Sub=Subtract Mult=Multiply Div=Divide FloorDiv=FloorDivide Mod=Modulo Pow=Power "
    "LShift=LeftShift RShift=RightShift BitOr BitXor BitAnd MatMult=MatrixMultiply"
)
AUGMENTED = _operators(
    "Add=AddAssign Sub=SubtractAssign Mult=MultiplyAssign Div=DivideAssign "
    "FloorDiv=FloorDivideAssign Mod=ModuloAssign Pow=PowerAssign LShift=LeftShiftAssign "
    "RShift=RightShiftAssign BitOr=BitOrAssign BitXor=BitXorAssign BitAnd=BitAndAssign "
    "MatMult=MatrixMultiplyAssign"
)
BOOLEAN = _operators("And Or")
UNARY = _operators("Invert=BitInvert Not UAdd=Plus USub=Minus")
COMPARED = _operators(
    "Eq=Equal NotEq=NotEqual Lt=LessThan LtE=LessThanEqual Gt=GreaterThan "
    "GtE=GreaterThanEqual Is IsNot In NotIn"
)
