"""Finding code blocks in a page, and the typography that is repaired."""

import inspect

import pytest

from tests.pages import blocks

PAGE = """
## Class `Thing`
``` python
__init__(
    x,
    y=None
)
```
<h3 id="run"><code>run</code></h3>
<pre class="lang-py">
<code>run(
    fn, args=(), kwargs=None
)
</code></pre>
Text with `inline()` code.
```
 thing = Thing(1)
thing.run(fn)
```
```python
>>> 1 + 1
2
```
### stop
```
stop()
```
```
    a = 1
    b = 2
```
"""


def test_blocks_of_a_page():
    found = blocks.of_page("p.md", PAGE)
    assert [(block.id, block.kind) for block in found] == [
        ("p.md#Class()", "signature"),
        ("p.md#run()", "signature"),
        ("p.md#run", "example"),
        ("p.md#run/2", "doctest"),
        ("p.md#stop()", "signature"),
        ("p.md#stop", "example"),
    ]
    assert found[2].code == "thing = Thing(1)\nthing.run(fn)\n"
    assert found[-1].code == "a = 1\nb = 2\n"
    lines = PAGE.split("\n")
    assert [lines[block.line - 1][:3] for block in found] == [
        "```",
        "<pr",
        "```",
        "```",
        "```",
        "```",
    ]


def test_signature():
    def expected(fn, args=(), kwargs=None, *more, **rest):
        pass

    name, printed = blocks.parameters("run(\n  fn, args=(), kwargs=None,\n  *more, **rest)\n")
    assert name == "run"
    assert printed == inspect.signature(expected)


@pytest.mark.parametrize(
    ("printed", "python"),
    [
        ("f()\n  // about g\ng()", "f()\n  # about g\ng()"),
        ("x = strategy.\n  run(\n  fn)", "x = strategy.run(\n  fn)"),
        (
            "with s:\n  def fn(x):\n    # body\n\n  s.run(fn)",
            "with s:\n  def fn(x):\n    pass\n    # body\n\n  s.run(fn)",
        ),
        ("for x in d:\n  # comment", "for x in d:\n  pass\n  # comment"),
    ],
)
def test_repaired(printed, python):
    assert blocks.as_python(printed) == python
    compile(blocks.as_python(printed).replace("  #", "#"), "block", "exec")


@pytest.mark.parametrize(
    "code",
    [
        "def f(x):\n  # comment\n  return x // 2\n",
        "def f(x):\n\n  return [1.,\n          x]\n",
        "# the end.\n  # indented.\n...\nx = 1.\ny = 'http://a'\n",
        "class A:\n  b = {1: 2}\n",
    ],
)
def test_left_alone(code):
    assert blocks.as_python(code) == code
