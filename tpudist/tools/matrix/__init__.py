"""``tpudist matrix``: a command on several TensorFlow releases, one environment each, by uv.

To change: what goes into an environment (:mod:`environments`); releases are in releases.cfg.
"""

from __future__ import annotations

import argparse


def add(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> argparse.ArgumentParser:
    """Adds the verb and its options."""
    verb = verbs.add_parser(
        "matrix",
        help="run a command on several TensorFlow releases",
        allow_abbrev=False,
        usage="tpudist matrix --releases 1.15,2.15 [options] -- pytest tests/",
        description="Makes an environment per release, with your project, tpudist and "
        "pytest in it, and runs the command in each on a virtual TPU; '{release}' in the "
        "command stands for the release. Environments are kept, made anew when the release's "
        "row or your project's metadata changes. Exit code: 1 if the command failed on a release, "
        "2 if a release could not be set up.",
    )
    verb.add_argument("--releases", metavar="LIST", help="such as 1.15,2.2,2.15; or all")
    verb.add_argument("--table", metavar="FILE", help="a table of releases of your own")
    verb.add_argument("--list", action="store_true", help="show the table of releases")
    verb.add_argument(
        "--project",
        default=".",
        metavar="DIR[EXTRAS]",
        help='what is installed (editable), such as ".[test]"; by default "."',
    )
    verb.add_argument(
        "--with",
        dest="extra",
        action="append",
        default=[],
        metavar="REQUIREMENT",
        help="install this too; may be given again",
    )
    verb.add_argument(
        "--cache",
        metavar="DIR",
        help="where environments are kept; by default $TPUDIST_CACHE or the "
        "platform's cache folder",
    )
    verb.add_argument(
        "--fresh",
        action="store_true",
        help="make the environments anew, as after a change of compiled code",
    )
    verb.add_argument(
        "--tpu",
        default="virtual:8",
        metavar="NAME",
        help="TPUDIST_TPU of the command; by default virtual:8",
    )
    verb.add_argument(
        "--fail-fast",
        action="store_true",
        help="stop at the first release that fails; by default all are run",
    )
    return verb


def run(options: argparse.Namespace) -> int:
    """Runs ``tpudist matrix``.

    Returns 0 if the command passed everywhere, 1 if it failed on a release, 2 if one could not be
    set up, 130 after Ctrl-C.
    """
    from tpudist.toolbox import table
    from tpudist.tools.matrix import schedule
    from tpudist.virtual import system

    system.check(options.tpu)
    rows = table.read(options.table)
    if options.list:
        for row in rows.values():
            print("%-8s Python %-5s %s" % (row.release, row.python, row.requirement))
        return 0
    chosen = table.select(rows, options.releases)
    results = schedule.run_all(chosen, options)
    print("\n" + schedule.table(results), end="", flush=True)
    return schedule.exit_code(results)


def split(argv: list[str], verb: argparse.ArgumentParser) -> tuple[list[str], list[str]]:
    """(tpudist's words, those of the command that it runs), which "--" takes apart."""
    if "--" not in argv:
        return argv, []
    index = argv.index("--")
    return argv[:index], argv[index + 1 :]
