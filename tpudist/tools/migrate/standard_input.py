"""``tpudist migrate -``: one file from standard input to standard output, for editors."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from tpudist.tools.migrate import console, outcomes
from tpudist.tools.migrate.engine import Engine
from tpudist.tools.migrate.program import Program
from tpudist.tools.migrate.resolution.codebase import CodeBase

if TYPE_CHECKING:
    import argparse


def run(options: argparse.Namespace) -> int:
    """Migrates standard input; what is said goes to standard error.

    Args:
      options: parsed; ``stdin_filename`` says where imports are looked up from.

    Returns:
      The exit code of `tpudist.tools.migrate.run`. What is refused is written as it came.
    """
    raw, path = sys.stdin.buffer.read(), os.path.normpath(options.stdin_filename)
    codebase = CodeBase([path], contents={path: raw})
    program = Program(codebase, options.origin)
    if path in program.files:
        result = Engine(codebase, program, options).migrate(path)
    else:
        result = outcomes.Result(path, raw, raw, [], [], "", "")
    if options.diff:
        sys.stdout.write(console.diff(result))
    elif not options.check:
        sys.stdout.buffer.write(raw if result.after is None else result.after)
        sys.stdout.flush()
    for line in console.lines([result], 1, options):
        print(line, file=sys.stderr)
    return outcomes.exit_code([result], options.check)
