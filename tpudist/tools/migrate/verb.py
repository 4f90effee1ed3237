"""The options of ``tpudist migrate``. No TensorFlow, no numpy."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tpudist.tools.migrate import options as declared

if TYPE_CHECKING:
    _Verbs = argparse._SubParsersAction[argparse.ArgumentParser]


def add(verbs: _Verbs) -> argparse.ArgumentParser:
    """Adds the verb and its options."""
    verb = verbs.add_parser(
        "migrate",
        help="rewrite a code base for the names of a later era",
        allow_abbrev=False,
        description="Rewrites code of one era for the next: names are resolved, not guessed. "
        "Writes nothing without --write. Exit code 1 if a use is left (or, with --check, a file "
        "would change), 2 if a file was refused.",
    )
    declared.add(verb)
    return verb


def run(options: argparse.Namespace) -> int:
    """Runs the verb; see ``tpudist.tools.migrate.run``."""
    from tpudist.tools import migrate

    return migrate.run(options)
