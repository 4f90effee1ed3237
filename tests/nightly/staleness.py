"""Which long proofs do not hold here: never run, failed, or older than what they prove.

    python -m tests.nightly.staleness

prints a line for each, and exits with 1 if there is one; ``python -m tests.release`` asks, too.
"""

import os
import subprocess
import sys

from tests import ROOT
from tests.nightly import jobs, records

#: How a row's result begins that proves nothing.
_NOT_PASSED = ("FAILED", "stopped")


def lines(root=ROOT, every=None):
    """A line for each job and release whose row of ``compat/NIGHTLY.md`` does not hold at HEAD.

    Args:
      root: the checkout.
      every: `jobs.Job` tuples; by default those of all parts.
    """
    rows = records.read(os.path.join(root, "compat", "NIGHTLY.md"))
    known = {records.key(row): row for row in rows}
    told = []
    for job in jobs.jobs(jobs.PARTS, 0) if every is None else every:
        for release in job.releases:
            row = known.get(records.key(records.of_job(job, release)))
            why = _why(root, row, jobs.COVERS[job.part]) if row else "it was never run"
            told += ["%s on %s: %s" % (job.part, release, why)] if why else []
    return told


def _why(root, row, folders):
    """Why a row does not hold, or None if it does."""
    if row.result.startswith(_NOT_PASSED):
        return row.result
    if row.commit.endswith("+"):
        return "it was run with files that %s does not have" % row.commit.rstrip("+")
    asked = ["git", "log", "-1", "--format=%h", row.commit + "..HEAD", "--", *folders]
    done = subprocess.run(
        asked, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    if done.returncode:
        return "commit %s is not known here" % row.commit
    changed = done.stdout.strip()
    return changed and "it was run at %s, and %s changed what it proves" % (row.commit, changed)


def main():
    """Prints the lines; returns 1 if there is one, else 0."""
    told = lines()
    for line in told:
        print(line)
    return int(bool(told))


if __name__ == "__main__":
    sys.exit(main())
