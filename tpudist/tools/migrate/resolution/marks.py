"""What a user says of a line: ``# tpudist: strategy``, ``# tpudist: ignore[rule]``.

distribution = library.make()  # tpudist: strategy
session.run(op)  # tpudist: ignore[sessions]
"""

import re

from tpudist.tools.migrate.resolution import tensorflow_names

_MARK = re.compile(r"#\s*tpudist:\s*(\w+)(?:\[([\w, -]+)\])?")
OTHER = "other"


class Marks:
    """The marks of a file.

    Args:
      text: its source.
    """

    def __init__(self, text):
        self._kinds, self._ignored = {}, {}
        if "tpudist:" in text:
            for number, line in enumerate(text.split("\n"), 1):
                self._take(number, _MARK.search(line))

    def _take(self, number, mark):
        if mark is None:
            return
        word, rules = mark.groups()
        if word == "ignore":
            names = (rules or "*").split(",")
            self._ignored[number] = {name.strip() for name in names}
        elif word == OTHER or word in tensorflow_names.DESCRIPTIONS:
            self._kinds[number] = word

    def kind(self, line):
        """The kind that what a line defines is said to be of; None if nothing is said."""
        return self._kinds.get(line)

    def any_kind(self):
        """Whether anything is said of a definition."""
        return bool(self._kinds)

    def any_ignored(self):
        """Whether any line is to be passed over."""
        return bool(self._ignored)

    def ignored(self, line, rule):
        """Whether a rule is to pass over a line."""
        rules = self._ignored.get(line, ())
        return rule in rules or "*" in rules
