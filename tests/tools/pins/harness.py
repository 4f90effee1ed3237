"""A user's test module, run by pytest in this process on a TensorFlow release of choice."""

import json
import os

from tpudist.tools.pins import plugin, store


class Module:
    """A test module ``test_x.py`` and its pins.

    Args:
      pytester: pytest's fixture.
      monkeypatch: pytest's fixture.
    """

    def __init__(self, pytester, monkeypatch):
        self._pytester, self._monkeypatch = pytester, monkeypatch
        self.path = pytester.path / "test_x.pins.json"
        monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        monkeypatch.delenv("CI", raising=False)

    def run(self, body, *arguments, release="2.15"):
        """Runs a module; returns pytester's result.

        Args:
          body: the module's text.
          *arguments: of pytest.
          release: the TensorFlow release that the plugin is to see.
        """
        self._monkeypatch.setattr(store, "current_release", lambda: release)
        self._pytester.makepyfile(test_x=body)
        return self._pytester.runpytest_inprocess(
            "-p", "no:cacheprovider", *arguments, plugins=[plugin]
        )

    def check(self, value, *arguments, **options):
        """Runs one test that pins one value.

        Args:
          value: its source, and further arguments of ``pin.check``.
          *arguments: of pytest.
          **options: ``release``.
        """
        body = "nan = float('nan')\ndef test_it(pin):\n    pin.check('it', %s)\n" % value
        return self.run(body, *arguments, **options)

    @property
    def pins(self):
        """{test: {name: {release: record}}} of the pin file."""
        pins = json.loads(self.path.read_text("utf-8"))["pins"]
        return {
            test: {name: entry["on"] for name, entry in entries.items()}
            for test, entries in pins.items()
        }


def quiet():
    """The environment of a pytest in a process of its own: no installed plugins, no options."""
    root = os.path.dirname(
        os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    )
    found = dict(os.environ, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1", PYTHONPATH=root)
    for name in ("CI", "PYTEST_ADDOPTS"):
        found.pop(name, None)
    return found
