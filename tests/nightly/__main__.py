"""Runs the long proofs, which CI leaves out, and records what they gave.

    python -m tests.nightly [PART ...] [--seed S] [--releases 1.15,2.4]

runs all parts, or the named ones, prints what they print, and writes a row for each command
and release into ``compat/NIGHTLY.md``. It exits with 1 if any of them failed.
"""

import argparse
import datetime
import os
import random
import shlex
import subprocess
import sys

from tests.examples.running import ROOT
from tests.nightly import jobs, records


def main(argv=None):
    """Returns 0 if all that was run passed, 1 if not."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(jobs.PARTS))
    parser.add_argument("--seed", type=int, help="of what is random; default: drawn, and printed")
    parser.add_argument("--releases", help="only on these, with commas between them")
    args = parser.parse_args(argv)
    unknown = set(args.parts) - set(jobs.PARTS)
    if unknown:
        parser.error("no part %s; there are %s" % (min(unknown), ", ".join(jobs.PARTS)))
    seed = random.randrange(10**6) if args.seed is None else args.seed
    only = args.releases.split(",") if args.releases else None
    chosen = [
        (job, release)
        for job in jobs.jobs(args.parts or jobs.PARTS, seed)
        for release in job.releases
        if only is None or release in only
    ]
    if not chosen:
        parser.error("nothing of these parts runs on %s" % args.releases)
    commit = records.commit(ROOT)  # before a row of this run changes the page
    failed = [each for each in chosen if not _passes(*each, commit)]
    for job, release in failed:
        print("failed: %s on %s: %s" % (job.part, release, _typed(job.command)))
    return int(bool(failed))


def _typed(words):
    return " ".join(map(shlex.quote, words))


def _passes(job, release, commit):
    command = jobs.on_release(job, release)
    print("== %s on %s: %s" % (job.part, release, _typed(command)), flush=True)
    environ = dict(os.environ, **job.environment)
    lines = []
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        universal_newlines=True,
        errors="replace",
    ) as process:
        for line in process.stdout:
            print(line, end="", flush=True)
            lines.append(line)
    row = records.of_job(job, release)._replace(
        result=records.result(lines, process.returncode),
        commit=commit,
        date=datetime.date.today().isoformat(),
    )
    records.write(os.path.join(ROOT, "compat", "NIGHTLY.md"), row)
    return process.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
