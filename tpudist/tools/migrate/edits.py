"""Making calls: arguments in new places, with the layout of the old ones."""

import functools

import libcst as cst

from tpudist.tools.migrate.resolution import syntax_trees

_EQUAL = cst.AssignEqual(
    whitespace_before=cst.SimpleWhitespace(""), whitespace_after=cst.SimpleWhitespace("")
)


class Spelled:
    """An edit of an expression that can be done to its source, if nothing inside it changes.

    Args:
      edit: a function from the updated node to what it becomes.
      text: a function from its source, which has no comments, to that of what it
        becomes; None if that takes the node.
    """

    def __init__(self, edit, text):
        self._edit, self.text = edit, text

    def __call__(self, updated):
        return self._edit(updated)


class SpelledCall(Spelled):
    """An edit of a call that can be done to the sources of its parts, if they stand as usual.

    Args:
      edit: as of `Spelled`.
      text: a function from the source of what is called, and a list of (keyword, star, source
        of the value) of its arguments, to the source of what the call becomes; None if that
        takes the node.
    """


@functools.lru_cache(maxsize=None)
def dotted(source):
    """The node of a dotted name, or of another short expression. It is never changed."""
    return cst.parse_expression(source)


@functools.lru_cache(maxsize=1000)
def expression(source):
    """The node of an expression of a file; the same one for the same source, never changed."""
    return cst.parse_expression(source)


@functools.lru_cache(maxsize=1000)
def statement(source):
    """The node of a statement to be written. It is never changed."""
    return cst.parse_statement(source)


def keyword(name, value):
    """The argument ``name=value``; `value` a node, or source."""
    value = dotted(value) if isinstance(value, str) else value
    return cst.Arg(value, keyword=cst.Name(name), equal=_EQUAL)


def keyword_renamed(name):
    """An edit of an argument that gives it another keyword; its value and layout stay."""
    return lambda updated: keyword(name, updated.value).with_changes(comma=updated.comma)


def with_arguments(call, arguments):
    """A call with other arguments, laid out as its old ones as far as they go.

    Args:
      call: the updated Call.
      arguments: its new Args; those taken over keep their comma and white space.
    """
    nothing = cst.SimpleWhitespace("")
    arguments = [
        argument.with_changes(comma=_comma(argument), whitespace_after_arg=nothing)
        for argument in arguments
    ]
    if arguments:
        arguments[-1] = _as_last(arguments[-1], call.args[-1] if call.args else None)
    return call.with_changes(args=arguments)


def _as_last(argument, old):
    """The argument laid out as the last one; its own comment stays with it."""
    trailing = old is not None and isinstance(old.comma, cst.Comma)
    end = (
        cst.SimpleWhitespace("")
        if old is None
        else (old.comma.whitespace_after if trailing else old.whitespace_after_arg)
    )
    own = argument.comma.whitespace_after
    if comments(own):
        end = own.with_changes(last_line=getattr(end, "last_line", cst.SimpleWhitespace("")))
    if trailing:
        return argument.with_changes(comma=cst.Comma(whitespace_after=end))
    return argument.with_changes(comma=cst.MaybeSentinel.DEFAULT, whitespace_after_arg=end)


def comments(node):
    """The comments in a node and in its layout."""
    found, todo = [], [node]
    while todo:
        node = todo.pop()
        if type(node) is cst.Comment:
            found.append(node)
        todo.extend(reversed(syntax_trees.children(node, layout=True)))
    return found


def _comma(argument):
    if isinstance(argument.comma, cst.Comma):
        return argument.comma
    return cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))


def packed(arguments):
    """The arguments ``args=`` and ``kwargs=`` that carry the given ones.

    Args:
      arguments: updated Args of a call, starred ones among them.

    Returns:
      A list of none, one or two Args.
    """
    values = [each for each in arguments if each.keyword is None and each.star != "**"]
    named = [each for each in arguments if each.keyword is not None or each.star == "**"]
    found = []
    if values:
        found.append(keyword("args", _tuple(values)))
    if named:
        found.append(keyword("kwargs", _dict(named)))
    return found


def call_text(function, arguments):
    """The source of a call, of that of its parts; arguments as of `SpelledCall`."""
    return "%s(%s)" % (function, ", ".join(map(argument_text, arguments)))


def argument_text(argument):
    """The source of an argument."""
    name, star, value = argument
    return "%s=%s" % (name, value) if name else star + value


def packed_text(arguments):
    """As `packed`, of the sources of arguments."""
    values = [each for each in arguments if not each[0] and each[1] != "**"]
    named = [each for each in arguments if each[0] or each[1] == "**"]
    found = []
    if len(values) == 1:
        ((_, star, value),) = values
        found.append(("args", "", ("tuple(%s)" if star else "(%s,)") % value))
    elif values:
        found.append(("args", "", "(%s)" % ", ".join(map(argument_text, values))))
    if len(named) == 1 and named[0][1]:
        found.append(("kwargs", "", named[0][2]))
    elif named:
        parts = [star + value if star else '"%s": %s' % (k, value) for k, star, value in named]
        found.append(("kwargs", "", "{%s}" % ", ".join(parts)))
    return found


def _tuple(arguments):
    if len(arguments) == 1 and arguments[0].star:
        return cst.Call(cst.Name("tuple"), [cst.Arg(arguments[0].value)])
    elements = []
    for index, each in enumerate(arguments):
        last = index == len(arguments) - 1
        comma = cst.MaybeSentinel.DEFAULT if last else _comma(each)
        kind = cst.StarredElement if each.star else cst.Element
        elements.append(kind(each.value, comma=comma))
    if len(elements) == 1:
        elements[0] = elements[0].with_changes(
            comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(""))
        )
    return cst.Tuple(elements)


def _dict(arguments):
    if len(arguments) == 1 and arguments[0].star:
        return arguments[0].value
    elements = []
    for index, each in enumerate(arguments):
        last = index == len(arguments) - 1
        comma = cst.MaybeSentinel.DEFAULT if last else _comma(each)
        elements.append(
            cst.StarredDictElement(each.value, comma=comma)
            if each.star
            else cst.DictElement(
                cst.SimpleString('"%s"' % each.keyword.value), each.value, comma=comma
            )
        )
    return cst.Dict(elements)
