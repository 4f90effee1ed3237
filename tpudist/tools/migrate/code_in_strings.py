"""Legacy names in strings and comments that are code, or that name a module or a member of one.

``importlib.import_module("tensorflow.contrib.slim")``, ``mock.patch("a.tf.contrib.slim.conv2d")``,
``exec``'s code, the examples of a docstring and the types of ``# type:`` are no names to Python's
parser. They are told, never rewritten.
"""

from __future__ import annotations

import ast
import re
import sys
import textwrap
from typing import TYPE_CHECKING, Any

from tpudist.surfaces.eras import evidence, names, walks
from tpudist.tools.migrate import modules_by_string, string_rules
from tpudist.tools.migrate.resolution import marks, python_trees

if TYPE_CHECKING:
    from typing import Collection, Iterator

    from tpudist.tools.migrate.string_rules import Rules

#: Without one of these a text has no such string; what begins with a word is found fast.
_WORTH = [
    re.compile(pattern)
    for pattern in (
        r"""tf\.(?<=["'.]tf\.)[\w"']""",
        r"""tensorflow(?:\.(?<=["'.]tensorflow\.)[\w"'%{]|["'](?<=["']tensorflow["']))""",
        r"patch(?<!\wpatch)\s*\(",
        r">>> ",
        r"type:(?<=#type:)",
        r"type:(?<=# type:)",
        *(
            r"""%s(?<!\w%s)\s*\((?:[\s(\\]|#.*\n)*\w{0,2}["']""" % (word, word)
            for word in ("exec", "eval", "compile", "timeit", "Timer")
        ),
    )
]
_IMPORT = re.compile("import tensorflow")
_DOTTED = re.compile(r"^(?:[\w.]*\.)?(?:tf|tensorflow)\.((?:compat\.v1\.)?[\w.%{}()-]+)$")
_IN_TYPE = re.compile(r"\b(?:tf|tensorflow)\.([\w.]+)")
_TYPE = re.compile(r"#\s*type:\s*(?!ignore\b)(.+)$")
_CODE = ("exec", "eval", "compile", "timeit", "Timer")
_IMPORTS = "import tensorflow\nimport tensorflow as tf\n"
_IN_STRING = "a name in a string"


def told(
    text: str, rules: Rules, imports: Collection[int] = ()
) -> list[tuple[int, int, str, str, str]]:
    """The legacy names in the strings and comments of a file.

    Args:
      text: its source.
      rules: which names are told.
      imports: lines on which its import statements begin.

    Returns:
      A list of (line, column, rule, what was seen, what to do), in order.
    """
    if not any(each.search(text) for each in _WORTH) and not _imports_in_string(text, imports):
        return []
    try:
        found = list(_of_tree(python_trees.parse(text), rules)) + list(_of_types(text, rules))
    except (SyntaxError, ValueError, RecursionError):
        return []
    marked = marks.Marks(text)
    return sorted({each for each in found if not marked.ignored(each[0], each[2])})


def _imports_in_string(text: str, imports: Collection[int]) -> bool:
    """Whether what imports TensorFlow may be no statement of the file."""
    for match in _IMPORT.finditer(text):
        line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
        if "'" in line or '"' in line or text.count("\n", 0, match.start()) + 1 not in imports:
            return True
    return False


def _of_tree(tree: ast.Module, rules: Rules) -> Iterator[tuple[int, int, str, str, str]]:
    every = walks.nodes(tree)
    for node in every:
        kind: Any = type(node)
        value = None if kind is ast.Call else walks.text(node)
        if value:
            yield from _of_string(node, value, rules)
        elif kind is ast.Call:
            yield from _of_call(node, rules)
    yield from modules_by_string.told(every, rules)
    yield from modules_by_string.made(every, rules)


def _of_string(node: Any, value: str, rules: Rules) -> Iterator[tuple[int, int, str, str, str]]:
    place = _place(node, value)
    dotted = _DOTTED.match(value)
    if dotted is not None and not value.startswith("tf."):
        below = dotted.group(1).strip(".")
        rule = rules.of(below)
        if rule is not None and (
            below.startswith("contrib")
            or (value.startswith("tensorflow.") and names.is_first_generation(below))
        ):
            yield (*place, rule, '"%s": %s' % (value, _IN_STRING), string_rules.instead(below))
    elif ">>> " in value:
        yield from _of_examples(node, value, rules)
    elif "import tensorflow" in value:
        yield from _of_code(place, value, rules)


def _of_call(node: ast.Call, rules: Rules) -> Iterator[tuple[int, int, str, str, str]]:
    first = walks.text(node.args[0]) if node.args else None
    if not first:
        return
    function = walks.last_word(node.func)
    place = _place(node.args[0], first)
    is_code = function in _CODE and (function != "compile" or isinstance(node.func, ast.Name))
    if is_code and "import tensorflow" not in first:
        yield from _of_code(place, first, rules)
    if function == "patch":
        yield from _of_patch(place, first, rules)
        member = first.rpartition(".")[2]
        if member in rules.members and names.is_of_a_strategy(member, "strategy"):
            seen = '"%s": %s' % (first, _IN_STRING)
            yield (*place, rules.members[member], seen, rules.new_member(member))


def _of_patch(
    place: tuple[int, int], value: str, rules: Rules
) -> Iterator[tuple[int, int, str, str, str]]:
    """A name that ``mock.patch("tensorflow.a.b")`` replaces, and that is gone."""
    dotted = _DOTTED.match(value)
    rule = rules.gone(dotted.group(1)) if dotted else None
    if dotted and rule:
        yield (
            *place,
            rule,
            '"%s": %s' % (value, _IN_STRING),
            string_rules.instead(dotted.group(1)),
        )


def _of_code(
    place: tuple[int, int], code: str, rules: Rules
) -> Iterator[tuple[int, int, str, str, str]]:
    """The legacy names of code in a string, each once."""
    try:
        tree = ast.parse(_IMPORTS + textwrap.dedent(code))
    except (SyntaxError, ValueError, RecursionError):
        return
    told = [each for each in evidence.collect(tree, "") if each.name.startswith("tf.")]
    below = [each.name[3:] for each in told if each.kind != evidence.SECOND_GENERATION]
    found = [("tf." + dotted, rules.of(dotted), string_rules.instead(dotted)) for dotted in below]
    found += [
        ("tf." + dotted, rules.gone(dotted), string_rules.instead(dotted))
        for dotted, _ in evidence.names_below_tensorflow(tree)
        if rules.gone(dotted)
    ]
    for node in walks.nodes(tree):
        if isinstance(node, ast.Attribute) and node.attr in rules.members:
            new = rules.new_member(node.attr)
            found.append((walks.written(node), rules.members[node.attr], new))
    for seen, rule, instead in dict.fromkeys(found):
        if rule is not None:
            yield (*place, rule, "%s: code in a string" % seen, instead)


def _of_examples(node: Any, value: str, rules: Rules) -> Iterator[tuple[int, int, str, str, str]]:
    """The legacy names of the examples of a docstring."""
    import doctest  # a fiftieth of the start

    try:
        examples = doctest.DocTestParser().get_examples(value)
    except ValueError:
        return  # doctest does not run it either
    for example in examples:
        for line, _, rule, seen, instead in _of_code((0, 1), example.source, rules):
            seen = seen.replace("code in a string", "an example in a docstring")
            yield _place(node, value)[0] + example.lineno + line, 1, rule, seen, instead


def _of_types(text: str, rules: Rules) -> Iterator[tuple[int, int, str, str, str]]:
    """The legacy names of ``# type:`` comments."""
    if "# type:" not in text and "#type:" not in text:
        return
    for number, line in enumerate(text.split("\n"), 1):
        comment = _TYPE.search(line)
        for name in _IN_TYPE.findall(comment.group(1)) if comment else ():
            rule = rules.of(name)
            if rule is not None and rule != rules.first:
                seen = "tf.%s: a type in a comment" % name
                yield number, line.index("#") + 1, rule, seen, string_rules.instead(name)


def _place(node: Any, value: str) -> tuple[int, int]:
    """(line, column) where a string begins, both from 1; Python 3.7 says where it ends."""
    above = value.count("\n") if sys.version_info < (3, 8) and node.col_offset < 0 else 0
    return node.lineno - above, max(node.col_offset, 0) + 1
