"""Finds the code blocks of a reference page and makes them Python. No TensorFlow.

The pages print code for readers. What is changed here is typography, never
names or calls: a stray first space, ``//`` comments, a line that ends in a dot,
a body that is only a comment.
"""

import collections
import re
import textwrap

#: A code block of a page.
#:   id: ``page.md#member`` or, of the second and later examples, ``.../2``.
#:   kind: "signature", "doctest" or "example".
#:   code: as printed, without the common indentation.
#:   line: where it starts in the page, from 1.
Block = collections.namedtuple("Block", "id kind code line")

_FENCE = re.compile(r"^``` ?(?:python)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_PRE = re.compile(r"^<pre[^>]*>\n<code>(.*?)</code></pre>$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r'^(?:<h[23] id="(\w+)">|#{2,3} (\w+)).*$', re.MULTILINE)
_SIGNATURE = re.compile(r"^[\w.]+\([^()]*(?:\(\)[^()]*)*\)$")


def of_page(name, text):
    """The blocks of a page.

    Args:
      name: the page's file name, for the ids.
      text: its Markdown.

    Returns:
      A list of `Block`, in the order of the page.
    """
    found = sorted(
        [
            (match.start(), match.group(1))
            for pattern in (_FENCE, _PRE)
            for match in pattern.finditer(text)
        ]
    )
    headings = [
        (match.start(), match.group(1) or match.group(2))
        for match in _HEADING.finditer(text)
        if match.group(2) != "Aliases"
    ]
    seen, blocks = collections.Counter(), []
    for start, code in found:
        member = [title for place, title in headings if place < start][-1:]
        identity = "%s#%s" % (name, "".join(member))
        code = _without_indentation(code)
        kind = _kind(code)
        seen[identity, kind == "signature"] += 1
        number = seen[identity, kind == "signature"]
        identity += "()" if kind == "signature" else ""
        blocks.append(
            Block(
                identity + ("/%d" % number if number > 1 else ""),
                kind,
                code,
                text.count("\n", 0, start) + 1,
            )
        )
    return blocks


def _without_indentation(code):
    code = textwrap.dedent(code.strip("\n"))
    first, _, rest = code.partition("\n")
    return (first.lstrip() + "\n" + rest).strip() + "\n"


def _kind(code):
    if code.startswith(">>>"):
        return "doctest"
    return "signature" if _SIGNATURE.match(code.strip()) else "example"


def as_python(code):
    """An example as Python reads it."""
    code = re.sub(r"^(\s*)//", r"\1#", code, flags=re.MULTILINE)
    code = re.sub(r"^(?!\s*#)(.*\w\.)\n\s+", r"\1", code, flags=re.MULTILINE)
    return _with_bodies(code.split("\n"))


def _with_bodies(lines):
    """Writes ``pass`` where the body of a header is only comments."""
    result = []
    for number, line in enumerate(lines):
        result.append(line)
        if not re.match(r"^\s*(def|for|with|if)\b.*:$", line):
            continue
        indent = len(line) - len(line.lstrip())
        body = [
            later
            for later in lines[number + 1 :]
            if later.strip() and not later.lstrip().startswith("#")
        ]
        if not body or len(body[0]) - len(body[0].lstrip()) <= indent:
            result.append(" " * (indent + 2) + "pass")
    return "\n".join(result)


def parameters(code):
    """What a signature block prints, as Python sees it.

    Args:
      code: ``name(args)``.

    Returns:
      ``(name, inspect.Signature)``.
    """
    import inspect

    name, _, rest = code.strip().partition("(")
    space = {}
    exec("def printed(%s: pass" % rest, space)
    return name, inspect.signature(space["printed"])
