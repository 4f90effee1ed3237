"""Law 11: packages stand one above the other, none is a quarter of the house.

No import cycle between packages, no import that runs back up, no package above
a quarter of the lines, where each tool is a package: above tools/ stands only the command line,
which finds them by its list of verbs, and no tool imports another, so that one can be deleted.
Modules of a folder have names that differ by more than a letter.
"""

import ast
import collections
import itertools
import os

import pytest

from tests.laws import source

#: From the ground up: a package or module imports only what stands before it.
FLOORS = (
    "errors",
    "files",
    "machine",
    "console",
    "surfaces",
    "cloud",
    "toolbox",
    "tfcompat",
    "virtual",
    "system",
    "strategy",
    "input",
    "keras",
    "backends",
    "adapter",
    "computations",
    "dropin",
    "common",
    "estimator",
    "contrib",
    "v2_0",
    "v2_2",
    "legacy",
    "run",
    "tools.launch",
    "tools.matrix",
    "tools.doctor",
    "tools.selftest",
    "tools.pins",
    "tools.migrate",
    "tools.compile",
    "guides",
    "completion",
    "cli",
    "__main__",
)

DOORS = {"__init__", "tools.__init__"}

LARGEST = 0.25

#: Its ``__init__`` has all that the rest of the virtual TPU may name.
VECTORIZE = "tpudist.virtual.vectorize"


def room(path):
    """The package, the module of the top level, or the tool that a file belongs to."""
    return _room(path[: -len(".py")].split("/"))


def _room(parts):
    return ".".join(parts[1:3]) if parts[1] == "tools" else parts[1]


def arrows(tree, path):
    """(line, room) of each import of another room, wherever in the file it stands."""
    for node in ast.walk(tree):
        for name in source.imports(node, path):
            parts = name.split(".")
            if parts[0] == "tpudist" and len(parts) > 1 and _room(parts) in FLOORS:
                if _room(parts) != room(path):
                    yield node.lineno, _room(parts)


def runs_up(tree, path):
    """(line, room) of each import of a room that stands above."""
    own = FLOORS.index(room(path))
    return [(line, other) for line, other in arrows(tree, path) if FLOORS.index(other) > own]


def rooms():
    """Each room once; the ``__init__`` of the package and of its tools are doors, no rooms."""
    return {room(path) for path in source.package()} - DOORS


def lines():
    """{room: number of lines}; what stands behind a door of its own is a room of its own."""
    counted = collections.Counter()
    for path in source.package():
        inside = path.startswith(VECTORIZE.replace(".", "/"))
        counted[VECTORIZE if inside else room(path)] += source.text(path).count("\n")
    return counted


@pytest.mark.parametrize(
    "code",
    [
        "from tpudist.adapter import cross_replica",
        "import tpudist.adapter",
        "from tpudist import adapter",
        "def late():\n    from tpudist.adapter import cross_replica",
        "from ..adapter import cross_replica",
        "from tpudist.tools import compile",
        "from tpudist.tools.compile import step",
    ],
)
def test_rule_sees_what_runs_up(code):
    assert runs_up(ast.parse(code), "tpudist/virtual/engine.py")


@pytest.mark.parametrize("code", ["from tpudist.virtual import x", "from tpudist import errors"])
def test_rule_lets_pass_what_runs_down(code):
    assert not runs_up(ast.parse(code), "tpudist/adapter/__init__.py")


def test_no_tool_imports_another():
    offences = [
        "%s:%d imports %s" % (path, line, other)
        for path in source.package()
        for line, other in arrows(source.tree(path), path)
        if other.startswith("tools.")
    ]
    assert not offences, "\n".join(offences)


def test_every_room_has_its_floor():
    assert sorted(rooms()) == sorted(FLOORS)


def test_nothing_runs_back_up():
    found = [path for path in source.package() if room(path) not in DOORS]
    source.hold(
        [
            "%s:%d imports %s, which stands above" % (path, line, other)
            for path in found
            for line, other in runs_up(source.tree(path), path)
        ]
    )


def inside_vectorize(tree, path):
    """(line, name) of each import of a module of ``virtual/vectorize`` past its door."""
    for node in ast.walk(tree):
        for name in source.imports(node, path):
            if name.startswith(VECTORIZE + ".") and name[len(VECTORIZE) + 1 :] in _vectorize():
                yield node.lineno, name


def _vectorize():
    folder = os.path.join(source.ROOT, *VECTORIZE.split("."))
    return {name.partition(".")[0] for name in os.listdir(folder)}


@pytest.mark.parametrize(
    "code",
    [
        "from tpudist.virtual.vectorize import batching",
        "from tpudist.virtual.vectorize.batching import batch_segment",
    ],
)
def test_rule_sees_who_passes_the_door(code):
    assert list(inside_vectorize(ast.parse(code), "tpudist/virtual/replicas/program.py"))


def test_vectorize_is_entered_by_its_door():
    """Who reads virtual for what it means reads no more of it."""
    outside = [
        path for path in source.package() if not path.startswith("tpudist/virtual/vectorize/")
    ]
    source.hold(
        [
            "%s:%d imports %s" % (path, line, name)
            for path in outside
            for line, name in inside_vectorize(source.tree(path), path)
        ]
    )


def test_no_room_is_a_quarter_of_the_house():
    counted = lines()
    whole = sum(counted.values())
    assert {name: size for name, size in counted.items() if size > LARGEST * whole} == {}


def test_every_package_says_what_it_is_for():
    short = {}
    for name in rooms():
        path = "tpudist/%s/__init__.py" % name.replace(".", "/")
        if os.path.exists(os.path.join(source.ROOT, path)):
            said = ast.get_docstring(source.tree(path)) or ""
            if len(said.split()) < 20 or "To change:" not in said:
                short[name] = said
    assert short == {}


def alike(one, other):
    """Whether two names differ by one letter, or by an ending."""
    if one == other or {one, other} & {"__init__", "__main__"}:
        return False
    if abs(len(one) - len(other)) > 1:
        return False
    if len(one) == len(other):
        return sum(a != b for a, b in zip(one, other)) == 1
    long, short = sorted((one, other), key=len, reverse=True)
    return any(long[:i] + long[i + 1 :] == short for i in range(len(long)))


@pytest.mark.parametrize(
    ("one", "other", "like"),
    [
        ("natives", "native", True),
        ("steps", "stops", True),
        ("a", "ab", True),
        ("steps", "outputs", False),
        ("merge", "merge", False),
    ],
)
def test_rule_tells_names_apart(one, other, like):
    assert alike(one, other) == like


def test_modules_of_a_folder_have_names_of_their_own():
    names = collections.defaultdict(set)
    for path in source.package():
        names[os.path.dirname(path)].add(os.path.basename(path)[: -len(".py")])
    assert [
        (name, one, other)
        for name, modules in names.items()
        for one, other in itertools.combinations(sorted(modules), 2)
        if alike(one, other)
    ] == []
