"""The skeletons of expressions, parameters and arguments, see `skeletons`."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any

import libcst as cst

from tpudist.tools.migrate.resolution import skeleton_makers as make

if TYPE_CHECKING:
    from tpudist.tools.migrate.resolution.skeletons import Skeleton

_ONE_STRING = re.compile(
    r"""[A-Za-z]*(?:\"{3}(?:[^\\"]|\\.|"(?!""))*\"{3}|'{3}(?:[^\\']|\\.|'(?!''))*'{3}"""
    r"""|"(?:[^\\"\n]|\\.)*"|'(?:[^\\'\n]|\\.)*')\Z""",
    re.S,
)


class UnreadableError(Exception):
    """Something that is only read by libcst."""


def dotted(name: str) -> cst.CSTNode:
    """The Name or Attribute of a dotted name."""
    first, *rest = name.split(".")
    made = make.name(first)
    for each in rest:
        made = make.attribute(made, make.name(each))
    return made


def alias(node: ast.alias) -> cst.CSTNode:
    """An ImportAlias."""
    asname = make.as_name(make.name(node.asname)) if node.asname else None
    return make.import_alias(dotted(node.name), asname)


def parameters(skeleton: Skeleton, node: ast.arguments) -> cst.CSTNode:
    """The Parameters of a function."""
    every = node.posonlyargs + node.args
    defaults = [None] * (len(every) - len(node.defaults)) + list(node.defaults)
    made = [_parameter(skeleton, *each) for each in zip(every, defaults)]
    star: Any = cst.MaybeSentinel.DEFAULT
    if node.vararg is not None:
        star = _parameter(skeleton, node.vararg, None, "*")
    elif node.kwonlyargs:
        star = cst.ParamStar()
    first = len(node.posonlyargs)
    return make.parameters(
        made[:first], made[first:], star,
        [_parameter(skeleton, *each) for each in zip(node.kwonlyargs, node.kw_defaults)],
        None if node.kwarg is None else _parameter(skeleton, node.kwarg, None, "**"),
    )  # fmt: skip


def _parameter(
    skeleton: Skeleton, node: ast.arg, default: ast.expr | None, star: str = ""
) -> cst.CSTNode:
    annotation = _maybe(skeleton, node.annotation)
    if annotation is not None:
        annotation = make.annotation(annotation)
    name = skeleton.kept(make.name(node.arg), node)
    return skeleton.kept(make.param(name, annotation, _maybe(skeleton, default), star), node)


def _maybe(skeleton: Skeleton, node: ast.expr | None) -> cst.CSTNode | None:
    return None if node is None else skeleton.value(node)


def argument(skeleton: Skeleton, node: ast.expr) -> cst.CSTNode:
    """The Arg of a positional argument."""
    if isinstance(node, ast.Starred):
        return make.arg(None, skeleton.value(node.value), "*")
    return make.arg(None, skeleton.value(node), "")


def keyword(skeleton: Skeleton, node: ast.keyword) -> cst.CSTNode:
    """The Arg of a keyword."""
    if node.arg is None:
        return make.arg(None, skeleton.value(node.value), "**")
    return make.arg(make.name(node.arg), skeleton.value(node.value), "")


def element(skeleton: Skeleton, node: ast.expr) -> cst.CSTNode:
    """An element of a tuple, list or set."""
    if isinstance(node, ast.Starred):
        return make.starred_element(skeleton.value(node.value))
    return make.element(skeleton.value(node))


def _name(skeleton: Skeleton, node: Any) -> cst.CSTNode:
    return make.name(node.id)


def _attribute(skeleton: Skeleton, node: Any) -> cst.CSTNode:
    return make.attribute(skeleton.value(node.value), make.name(node.attr))


def _constant(skeleton: Skeleton, node: Any) -> cst.CSTNode:
    value = node.value
    if value is None or value is True or value is False:
        return make.name(str(value))
    if value is ...:
        return make.ellipsis()
    source = skeleton.source(node)
    if not isinstance(value, (str, bytes)):
        return make.NUMBERS[type(value)](source)
    return make.string(source) if _ONE_STRING.match(source) else skeleton.read(node)


def _formatted(skeleton: Skeleton, node: Any) -> cst.CSTNode:
    return skeleton.read(node)


def _binary(skeleton: Skeleton, node: Any) -> cst.CSTNode:
    operator = make.BINARY[type(node.op)]
    return make.binary(skeleton.value(node.left), operator, skeleton.value(node.right))


def _boolean(skeleton: Skeleton, node: Any) -> cst.CSTNode:
    first, *rest = [skeleton.value(each) for each in node.values]
    for each in rest:
        first = skeleton.kept(make.boolean(first, make.BOOLEAN[type(node.op)], each), node)
    return first


def _unary(skeleton: Skeleton, node: Any) -> cst.CSTNode:
    return make.unary(make.UNARY[type(node.op)], skeleton.value(node.operand))


def _compare(skeleton: Skeleton, node: Any) -> cst.CSTNode:
    left = skeleton.value(node.left)
    return make.comparison(left, [
        make.comparison_target(make.COMPARED[type(op)], skeleton.value(each))
        for op, each in zip(node.ops, node.comparators)
    ])  # fmt: skip


def _call(skeleton: Skeleton, node: Any) -> cst.CSTNode:
    function = skeleton.value(node.func)
    if not node.keywords:
        return make.call(function, [argument(skeleton, each) for each in node.args])
    placed = [(each.lineno, each.col_offset, argument(skeleton, each)) for each in node.args]
    placed += [(each.lineno, each.col_offset, keyword(skeleton, each)) for each in node.keywords]
    placed.sort(key=lambda each: each[:2])
    return make.call(function, [each for _, _, each in placed])


def _conditional(skeleton: Skeleton, node: Any) -> cst.CSTNode:
    body, test, orelse = [skeleton.value(each) for each in (node.body, node.test, node.orelse)]
    return make.if_exp(body, test, orelse)


def _lambda(skeleton: Skeleton, node: Any) -> cst.CSTNode:
    return make.lambda_(parameters(skeleton, node.args), skeleton.value(node.body))


def _tuple(skeleton: Skeleton, node: Any) -> cst.CSTNode:
    return make.tuple_([element(skeleton, each) for each in node.elts])


def _list(skeleton: Skeleton, node: Any) -> cst.CSTNode:
    return make.list_([element(skeleton, each) for each in node.elts])


def _set(skeleton: Skeleton, node: Any) -> cst.CSTNode:
    return make.set_([element(skeleton, each) for each in node.elts])


def _dict(skeleton: Skeleton, node: Any) -> cst.CSTNode:
    return make.dict_([
        make.starred_dict_element(skeleton.value(value))
        if key is None
        else make.dict_element(skeleton.value(key), skeleton.value(value))
        for key, value in zip(node.keys, node.values)
    ])  # fmt: skip


def _generators(skeleton: Skeleton, nodes: list[ast.comprehension]) -> cst.CSTNode:
    made = None
    for node in reversed(nodes):
        conditions = [make.comp_if(skeleton.value(each)) for each in node.ifs]
        target, iterated = skeleton.value(node.target), skeleton.value(node.iter)
        asynchronous = cst.Asynchronous() if node.is_async else None
        made = make.comp_for(target, iterated, conditions, made, asynchronous)
    return made


def _comprehension(kind: Any) -> Any:
    def made(skeleton: Skeleton, node: Any) -> cst.CSTNode:
        return kind(skeleton.value(node.elt), _generators(skeleton, node.generators))

    return made


def _dict_comprehension(skeleton: Skeleton, node: Any) -> cst.CSTNode:
    key, value = skeleton.value(node.key), skeleton.value(node.value)
    return make.dict_comp(key, value, _generators(skeleton, node.generators))


def _subscript(skeleton: Skeleton, node: Any) -> cst.CSTNode:
    value, index = skeleton.value(node.value), node.slice
    several = (
        isinstance(index, ast.Tuple)
        and index.elts
        and not skeleton.source(index).startswith("(")
        or isinstance(index, ast.Tuple)
        and index.elts
        and (index.elts[0].lineno, index.elts[0].col_offset) == (index.lineno, index.col_offset)
    )
    each = [_index(skeleton, one) for one in (index.elts if several else [index])]
    return make.subscript(value, each)


def _index(skeleton: Skeleton, node: Any) -> cst.CSTNode:
    if isinstance(node, ast.Starred):
        raise UnreadableError()
    if isinstance(node, ast.Slice):
        parts = [_maybe(skeleton, each) for each in (node.lower, node.upper, node.step)]
        return make.subscript_element(make.slice_(*parts))
    return make.subscript_element(make.index(skeleton.value(node)))


def _await(skeleton: Skeleton, node: Any) -> cst.CSTNode:
    return make.await_(skeleton.value(node.value))


def _yield(skeleton: Skeleton, node: Any) -> cst.CSTNode:
    return make.yield_(_maybe(skeleton, node.value))


def _yield_from(skeleton: Skeleton, node: Any) -> cst.CSTNode:
    return make.yield_(make.come_from(skeleton.value(node.value)))


def _named(skeleton: Skeleton, node: Any) -> cst.CSTNode:
    return make.named(skeleton.value(node.target), skeleton.value(node.value))


def _starred(skeleton: Skeleton, node: Any) -> cst.CSTNode:
    raise UnreadableError()


VALUES: dict[Any, Any] = {
    ast.Attribute: _attribute, ast.Await: _await, ast.BinOp: _binary, ast.BoolOp: _boolean,
    ast.Call: _call, ast.Compare: _compare, ast.Constant: _constant, ast.Dict: _dict,
    ast.DictComp: _dict_comprehension, ast.GeneratorExp: _comprehension(make.generator),
    ast.IfExp: _conditional, ast.JoinedStr: _formatted, ast.Lambda: _lambda, ast.List: _list,
    ast.ListComp: _comprehension(make.list_comp), ast.Name: _name,
    getattr(ast, "NamedExpr", None): _named,  # Python 3.8
    ast.Set: _set, ast.SetComp: _comprehension(make.set_comp), ast.Starred: _starred,
    ast.Subscript: _subscript, ast.Tuple: _tuple, ast.UnaryOp: _unary, ast.Yield: _yield,
    ast.YieldFrom: _yield_from,
}  # fmt: skip
