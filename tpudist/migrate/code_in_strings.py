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
from typing import TYPE_CHECKING, Any, NamedTuple

from tpudist import surfaces
from tpudist.eras import evidence, names, walks
from tpudist.migrate.common_members import OF_OTHERS
from tpudist.resolution import marks, python_trees

if TYPE_CHECKING:
    from typing import Collection, Iterator, Mapping, Sequence

    from tpudist.migrate.rules import Rule

#: Without one of these a text has no such string; what begins with a word is found fast.
_WORTH = [
    re.compile(pattern)
    for pattern in (
        r"""["'][\w.]*\b(?:tf|tensorflow)\.[\w"']""",
        r"""["']tensorflow["']""",
        r"patch(?<!\wpatch)\s*\(",
        r">>> |#\s*type:",
        r"""["'][^"'\n]*\bimport tensorflow""",
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
#: What gives a module whose name it is told.
_GIVES = ("import_module", "__import__", "importorskip")
_IN_STRING = "a name in a string"
_GONE, _KEPT = "gone-names", surfaces.KEPT_IN_V1


class Rules(NamedTuple):
    """Which names are told.

    Args:
      names: {dotted name below ``tf``: the name of its rule}.
      members: the same, of a strategy's.
      every: the rule of all else in contrib, None if it is not told.
      first: the rule of other names of TensorFlow 1, None if they are not told.
    """

    names: Mapping[str, str]
    members: Mapping[str, str]
    every: str | None
    first: str | None

    @classmethod
    def on_the_way(cls, wanted: Sequence[Rule], steps: Sequence[str], first: str | None) -> Rules:
        """The names that some rules change or tell in some steps.

        Args:
          wanted: the rules.
          steps: keys of `tpudist.migrate.use.STEPS`.
          first: the rule of names that TensorFlow 1 alone has, if it is wanted.
        """
        keys = {key: rule.name for rule in wanted[::-1] if rule.step in steps for key in rule.uses}
        members = {name: rule for (kind, name), rule in keys.items() if kind == "strategy"}
        return cls(
            {name: rule for (kind, name), rule in keys.items() if kind == "tf"},
            {name: rule for name, rule in members.items() if name not in OF_OTHERS},
            keys.get(("tf", "contrib.*")),
            first if "2.0" in steps else None,
        )

    def gone(self, dotted: str) -> str | None:
        """The rule of a dotted name below ``tf`` that today's TensorFlow has not; else None."""
        rule = self.names.get(surfaces.gone_today(names.without_compat(dotted)) or "")
        is_kept = dotted.startswith("compat.v1.") and surfaces.gone_today(dotted[10:]) in _KEPT
        return None if is_kept or rule != _GONE else rule

    def of(self, dotted: str) -> str | None:
        """The rule of a dotted name below ``tf``; None if it is no legacy name."""
        plain = names.without_compat(dotted)
        if plain in self.names or plain.partition(".")[0] == "contrib":
            return self.names.get(plain, self.every)
        return self.first if names.is_first_generation(dotted) else None


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
    return any(
        text.count("\n", 0, match.start()) + 1 not in imports for match in _IMPORT.finditer(text)
    )


def _of_tree(tree: ast.Module, rules: Rules) -> Iterator[tuple[int, int, str, str, str]]:
    every = walks.nodes(tree)
    for node in every:
        kind: Any = type(node)
        value = None if kind is ast.Call else _text(node)
        if value:
            yield from _of_string(node, value, rules)
        elif kind is ast.Call:
            yield from _of_call(node, rules)
    yield from _of_modules(every, rules)


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
            yield (*place, rule, '"%s": %s' % (value, _IN_STRING), _instead(below))
    elif ">>> " in value:
        yield from _of_examples(node, value, rules)
    elif "import tensorflow" in value:
        yield from _of_code(place, value, rules)


def _of_call(node: ast.Call, rules: Rules) -> Iterator[tuple[int, int, str, str, str]]:
    first = _text(node.args[0]) if node.args else None
    if not first:
        return
    function = _word(node.func)
    place = _place(node.args[0], first)
    is_code = function in _CODE and (function != "compile" or isinstance(node.func, ast.Name))
    if is_code and "import tensorflow" not in first:
        yield from _of_code(place, first, rules)
    if function == "patch":
        yield from _of_patch(place, first, rules)
        member = first.rpartition(".")[2]
        if member in rules.members and names.eras_of_member(member, "strategy"):
            seen = '"%s": %s' % (first, _IN_STRING)
            yield (*place, rules.members[member], seen, _new_member(member, rules))


def _of_patch(
    place: tuple[int, int], value: str, rules: Rules
) -> Iterator[tuple[int, int, str, str, str]]:
    """A name that ``mock.patch("tensorflow.a.b")`` replaces, and that is gone."""
    dotted = _DOTTED.match(value)
    rule = rules.gone(dotted.group(1)) if dotted else None
    if dotted and rule:
        yield (*place, rule, '"%s": %s' % (value, _IN_STRING), _instead(dotted.group(1)))


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
    found = [("tf." + dotted, rules.of(dotted), _instead(dotted)) for dotted in below]
    found += [
        ("tf." + dotted, rules.gone(dotted), _instead(dotted))
        for dotted, _ in evidence.names_below_tensorflow(tree)
        if rules.gone(dotted)
    ]
    for node in walks.nodes(tree):
        if isinstance(node, ast.Attribute) and node.attr in rules.members:
            new = _new_member(node.attr, rules)
            found.append((_written(node), rules.members[node.attr], new))
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
                yield number, line.index("#") + 1, rule, seen, _instead(name)


def _of_modules(every: list[ast.AST], rules: Rules) -> Iterator[tuple[int, int, str, str, str]]:
    """Modules that a string has imported, and whose names are those of TensorFlow 1."""
    giving = {id(node) for node in every if _gives_tensorflow(node)}
    if not giving or not rules.first:
        return
    given = {
        _written(target)
        for node in every
        if id(getattr(node, "value", None)) in giving
        for target in getattr(node, "targets", None) or [getattr(node, "target", None)]
    } - {""}
    for node in every:
        if isinstance(node, ast.Attribute):
            written = _written(node)
            first = "" if id(_first(node)) in giving else _before(written, given)
            name = written[len(first) + 1 :] if first is not None else ""
            if name and names.is_first_generation(name):
                seen = "%s: tensorflow, imported by a string, has it in compat.v1" % (
                    written.lstrip(".")
                )
                alias = (first or "tf").rpartition(".")[2]
                instead = "import tensorflow.compat.v1 as %s" % alias
                yield node.lineno, node.col_offset + 1, rules.first, seen, instead


def _before(written: str, given: Collection[str]) -> str | None:
    """Which of some names a dotted one begins with."""
    return next((each for each in sorted(given) if written.startswith(each + ".")), None)


def _gives_tensorflow(node: Any) -> bool:
    """Whether an expression is the module of that name, by a string."""
    if isinstance(node, ast.Call) and node.args:
        word = _word(node.func)
        given = node.args[:1] if word in _GIVES else node.args if "lazy" in word.lower() else ()
        return any(_text(each) == "tensorflow" for each in given)
    if isinstance(node, ast.Subscript) and _written(node.value) == "sys.modules":
        index = (
            node.slice
            if isinstance(node.slice, ast.Constant)
            else getattr(node.slice, "value", None)
        )
        return _text(index) == "tensorflow"
    return False


def _new_member(name: str, rules: Rules) -> str:
    """What to type instead of a strategy's member."""
    new = (surfaces.MEMBERS[era].get(("strategy", name)) for era in ("v2_0", "v2_2", "latest"))
    return next(filter(None, new), "see --list-rules, " + rules.members[name])


def _instead(below: str) -> str:
    """What to type instead of a dotted name below ``tf``."""
    plain = names.without_compat(below).strip(".")
    for era in ("v2_0", "v2_2", "latest"):
        if plain in surfaces.NAMES[era]:
            return "tensorflow." + surfaces.NAMES[era][plain]
    gone = surfaces.gone_today(plain)
    if gone:
        return surfaces.instead_of_gone(gone)
    if plain.partition(".")[0] != "contrib":
        return "tensorflow.compat.v1." + plain
    new = surfaces.successor(plain)
    return new.target if new is not None else surfaces.gone_text(plain)


def _place(node: Any, value: str) -> tuple[int, int]:
    """(line, column) where a string begins, both from 1; Python 3.7 says where it ends."""
    above = value.count("\n") if sys.version_info < (3, 8) and node.col_offset < 0 else 0
    return node.lineno - above, max(node.col_offset, 0) + 1


def _text(node: Any) -> str | None:
    value = getattr(node, "value", None) if isinstance(node, ast.Constant) else None
    value = getattr(node, "s", value) if type(node).__name__ == "Str" else value
    return value if isinstance(value, str) else None


def _word(node: Any) -> str:
    return getattr(node, "attr", None) or getattr(node, "id", None) or ""


def _written(node: Any) -> str:
    """ "a.b.c" of a Name or Attribute; ".b.c" if it begins with anything else."""
    words = []
    while isinstance(node, ast.Attribute):
        words.append(node.attr)
        node = node.value
    return ".".join([getattr(node, "id", "")] + words[::-1])


def _first(node: Any) -> Any:
    """What ``a.b.c`` begins with."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node
