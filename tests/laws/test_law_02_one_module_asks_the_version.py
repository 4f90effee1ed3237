"""Law 2: only ``tfcompat/versions.py`` asks which TensorFlow is installed.

An import that is tried asks too. Every flag has a release and a sentence, and is read.
"""

import ast
import functools
import re

import pytest

from tests.laws import source

#: Files that may, and why.
MAY = {
    "tpudist/tfcompat/versions.py": "the one module that asks",
    "tpudist/tools/doctor/releases.py": "compares installed distributions with each other, "
    "by their metadata; no behaviour follows from it",
    "tpudist/tools/doctor/probe.py": "reports what a TensorFlow says of itself, in a process "
    "of its own; it may be one that tpudist cannot run on",
}

VERSION_NAMES = ("__version__", "VERSION", "version", "__git_version__", "GIT_VERSION")


def asks(tree):
    """(line, what) of each question about TensorFlow's version or its members."""
    tensorflow = source.tensorflow_names(tree)
    for node in ast.walk(tree):
        names = source.chain(node)
        if names[:1] and names[0] in tensorflow and names[-1] in VERSION_NAMES:
            yield node.lineno, ".".join(names)
        if any(source.below(name, "packaging") for name in source.imports(node)):
            yield node.lineno, "imports packaging"
        if isinstance(node, ast.Call) and _tests_a_member(node, tensorflow):
            yield node.lineno, "hasattr on TensorFlow"
        if isinstance(node, ast.Compare) and _compares_a_version(node):
            yield node.lineno, "compares versions.TF"
        if isinstance(node, ast.Try) and _tries_tensorflow(node):
            yield node.lineno, "tries an import of TensorFlow's"


def _tests_a_member(call, tensorflow):
    function = source.chain(call.func)
    asking = function == ["hasattr"] or (function == ["getattr"] and len(call.args) == 3)
    names = source.chain(call.args[0]) if call.args else []
    return asking and bool(names) and names[0] in tensorflow


def _tries_tensorflow(node):
    """Whether an import of TensorFlow's modules may fail without stopping anything."""
    return bool(node.handlers) and any(
        source.below(name, "tensorflow")
        for statement in node.body
        for inner in ast.walk(statement)
        for name in source.imports(inner)
    )


def _compares_a_version(compare):
    return any(source.chain(inner)[-2:] == ["versions", "TF"] for inner in ast.walk(compare))


BAD = [
    "try:\n  from tensorflow.python.ops import x\nexcept ImportError:\n  x = None",
    "try:\n  import tensorflow.contrib\nexcept Exception:\n  pass",
    "import tensorflow as tf\nnew = tf.__version__ > '2'",
    "import tensorflow as tf\nprint(tf.VERSION)",
    "import tensorflow as tf\nprint(tf.version.VERSION)",
    "from packaging.version import Version",
    "from packaging import version",
    "import packaging.version",
    "import tensorflow as tf\nhasattr(tf, 'contrib')",
    "import tensorflow as t\nhasattr(t.distribute, 'TPUStrategy')",
    "from tensorflow.python.distribute import values\nhasattr(values, 'PerReplica')",
    "import tensorflow as tf\ngetattr(tf, 'function', None)",
    "import tensorflow as tf\nlib = tf.distribute\nhasattr(lib, 'TPUStrategy')",
    "from tpudist.strategy import versions\nif versions.TF >= old: pass",
    "from tpudist.strategy import versions\nif versions.TF.release < (2,): pass",
]
GOOD = [
    "from tpudist.strategy import versions\nif versions.HAS_RUN: pass",
    "import tensorflow as tf\ngetattr(tf, name)",
    "hasattr(value, 'numpy')",
    "import tensorflow as tf\nx = tf.constant(1)\nhasattr(x, 'op')",
    "import tpudist\nprint(tpudist.__version__)",
]


@pytest.mark.parametrize("code", BAD)
def test_rule_sees(code):
    assert list(asks(ast.parse(code)))


@pytest.mark.parametrize("code", GOOD)
def test_rule_lets_pass(code):
    assert not list(asks(ast.parse(code)))


def test_only_versions_asks():
    paths = [path for path in source.package() if path not in MAY]
    source.hold(source.offences(asks, paths))


@pytest.mark.parametrize("path", sorted(MAY))
def test_exceptions_are_needed(path):
    assert source.offences(asks, [path]), "no longer asks: strike it off the list"


def flags():
    """{flag: the comment above it} of the module that asks."""
    found = re.findall(
        r"((?:^#:.*\n)+)((?:^[A-Z][A-Z0-9_]* = .*\n)+)",
        source.text("tpudist/tfcompat/versions.py"),
        re.MULTILINE,
    )
    return {name: said for said, names in found for name in re.findall(r"^(\w+) =", names, re.M)}


def test_every_flag_says_where_it_starts():
    assert len(flags()) > 40
    assert [
        name for name, said in flags().items() if not re.search(r"\b[12]\.\d+\b|TensorFlow 2", said)
    ] == []


@functools.lru_cache(maxsize=None)
def flags_read():
    """The flags that a file reads."""
    texts = map(source.text, source.files("tpudist", "tests"))
    return {flag for text in texts for flag in re.findall(r"\bversions\.(\w+)", text)}


@pytest.mark.parametrize("flag", sorted(flags()))
def test_every_flag_is_read(flag):
    own = len(re.findall(r"\b%s\b" % flag, source.text("tpudist/tfcompat/versions.py")))
    assert flag in flags_read() or own > 1, "nobody reads it: strike it out"
