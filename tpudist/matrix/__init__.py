"""``tpudist matrix``: a command on several TensorFlow releases, one environment each.

uv makes the environments and provides missing Pythons; they are kept in a
cache and used again until the table's row or the project's metadata changes.
"""

import os
import sys
import time

from tpudist.errors import TpudistError


def run(options):
    """Runs ``tpudist matrix``.

    Args:
      options: parsed ``releases``, ``project``, ``extra``, ``tpu``, ``cache``,
        ``fresh``, ``fail_fast``, ``table``, ``arguments`` (the command), and
        ``list``, ``github``, ``shell``.

    Returns:
      0 if the command passed everywhere, 1 if it failed on a release, 2 if a
      release could not be set up, 130 after Ctrl-C.

    Raises:
      MatrixError: the request cannot be met on any release.
    """
    from tpudist.matrix import ci, report, table

    rows = table.read(options.table)
    if options.list:
        sys.stdout.write(listing(rows))
        return 0
    chosen = table.select(rows, options.releases)
    if options.github or options.shell:
        write = ci.github if options.github else ci.shell
        sys.stdout.write(write(chosen, options))
        return 0
    results = run_all(chosen, options)
    print("\n" + report.table(results), end="", flush=True)
    return report.exit_code(results)


def listing(rows):
    """The table of releases as text.

    Args:
      rows: {release: ``table.Row``}.
    """
    lines = [
        "%-8s Python %-5s %s" % (row.release, row.python, row.requirement) for row in rows.values()
    ]
    return "\n".join(lines) + "\n"


def run_all(rows, options):
    """[report.Result, ...], one per row, whatever happens to any of them.

    Args:
      rows: the releases, a list of ``table.Row``.
      options: see :func:`run`.

    Raises:
      MatrixError: before anything is done, if nothing can be done.
    """
    from tpudist.matrix import cache, environments, recipe, report

    environments.find_uv()
    folder, _ = recipe.split(options.project)
    kept = cache.of_project(cache.folder(options.cache), folder)
    results = []
    for number, row in enumerate(rows, 1):
        print("== %s (%d of %d)" % (row.release, number, len(rows)), flush=True)
        results.append(_run_one(row, os.path.join(kept, row.release), options))
        if _stops(results[-1], options):
            results += [
                report.Result(rest.release, "", "", report.NOT_RUN, None, None, "")
                for rest in rows[number:]
            ]
            break
    return results


def _stops(result, options):
    from tpudist.matrix import report

    stopping = (report.FAILED, report.NOT_SET_UP) if options.fail_fast else ()
    return result.word in stopping + (report.INTERRUPTED,)


def _run_one(row, folder, options):
    """The `Result` of one release."""
    from tpudist.matrix import environments, recipe, report

    tensorflow = python = ""
    try:
        made = recipe.Recipe(row, options.project, ["pytest"] + options.extra, recipe.own())
        environment = environments.prepare(made, folder, options.fresh, _say)
        _, tensorflow, python = environment
        _say("   TensorFlow %s on Python %s" % (tensorflow, python))
        if not options.arguments:
            return report.Result(row.release, tensorflow, python, report.READY, None, None, "")
        outcome = _command(row, environment, options)
    except TpudistError as error:
        print("tpudist: error: %s" % error, file=sys.stderr, flush=True)
        outcome = report.NOT_SET_UP, None, None, error.seen
    except KeyboardInterrupt:
        outcome = report.INTERRUPTED, None, None, ""
    return report.Result(row.release, tensorflow, python, *outcome)


def _command(row, environment, options):
    """(word, exit code, seconds, line) of the command in a ready environment."""
    from tpudist.matrix import report, running

    start = time.time()
    code, text = running.run(options.arguments, running.variables(environment, row, options.tpu))
    seconds = time.time() - start
    if code == 0:
        return report.PASSED, code, seconds, ""
    return report.FAILED, code, seconds, running.first_failing_line(text)


def _say(line):
    print(line, flush=True)
