"""No silence: a member of what cannot be followed to its end is told."""

import pytest

from tests.tools.migrate import harness

#: Where a strategy comes from, in ways that cannot be followed to its end.
SOURCES = [
    "strategy = library.make()",
    "strategy = config.strategy",
    "strategy = getattr(config, 'strategy')",
    "strategy = dict(a=library.make())['a']",
    "strategy = next(library.all())",
    "strategy = copy.copy(library.make())",
    "strategy = Settings(library.make(), 1).first",
    "strategy, other = library.pair()",
    "strategy = vars(config)['strategy']",
    "strategy = [each for each in library.all()][0]",
    "strategy = library.make() if flag else None",
    "strategy = functools.partial(library.make)()",
]


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("member", ["experimental_run_v2", "unwrap", "num_towers"])
def test_what_cannot_be_told_is_told(source, member, tmp_path):
    text = (
        "import collections, copy, functools\nimport tensorflow as tf\nimport library\n"
        "Settings = collections.namedtuple('Settings', 'first second')\n"
        "%s\nstrategy.%s(f)\n" % (source, member)
    )
    harness.put(tmp_path, {"a.py": text})
    assert len(harness.results(tmp_path, "2.2")["a.py"].left) == 1
