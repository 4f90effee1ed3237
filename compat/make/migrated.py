"""Writes MIGRATED.md: what ``tpudist migrate`` makes of public repositories.

python -m compat.make.migrated FOLDER REPOSITORY REVISION TO [...]

FOLDER is a checkout; nothing of it is written. Each row is a run of its own, with a
report; rows of other repositories stay as they are.
"""

from __future__ import annotations

import json
import pathlib
import re
import resource
import subprocess
import sys

_ROW = re.compile(r"^\| \S+/\S+ \| \w+ \| (?:latest|\d\.\d+) \|")
PAGE = pathlib.Path(__file__).resolve().parent.parent / "MIGRATED.md"
_HEAD = """# Repositories

What `tpudist migrate --to TO --report json` makes of public repositories, counted by
`python -m compat.make.migrated FOLDER REPOSITORY REVISION TO`. A file that is not one of
TensorFlow 1 or of an old strategy is only looked at. CPU time is of the whole command.

| repository | revision | to | files | change | uses rewritten | left | files refused | CPU |
|---|---|---|---|---|---|---|---|---|
"""


def row(folder: str, repository: str, revision: str, to: str) -> str:
    """One line of the table.

    Raises:
      RuntimeError: the run printed no report.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-m", "tpudist", "migrate", folder, "--to", to, "--report", "json"],
        capture_output=True,
        check=False,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        found = json.loads(done.stdout)
    except ValueError:
        raise RuntimeError("%s: %s" % (folder, done.stderr.decode()[-500:])) from None
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    files = found["files"]
    cells = [repository, revision, to, found["files_looked_at"]]
    cells += [sum(each["changes"] for each in files)]
    cells += [sum(len(each[key]) for each in files) for key in ("rewritten", "left")]
    cells += [sum(bool(each["refused"]) for each in files), "%.1f s" % seconds]
    return "| %s |" % " | ".join(map(str, cells))


def rows() -> dict[str, str]:
    """{"repository | revision | to": line} of the page."""
    lines = [line for line in _parts()[0].splitlines() if _ROW.match(line)]
    return {_key(line): line for line in lines}


def _key(line: str) -> str:
    return " | ".join(cell.strip() for cell in line.split("|")[1:4])


def main(arguments: list[str]) -> int:
    """Adds rows; returns 0."""
    found = rows()
    for index in range(0, len(arguments), 4):
        line = row(*arguments[index : index + 4])
        found[_key(line)] = line
        table, tail = _parts()
        above = table.partition("# Repositories\n")[0] if "# Repositories\n" in table else ""
        PAGE.write_text(
            above + _HEAD + "\n".join(found[key] for key in sorted(found)) + "\n" + tail, "utf-8"
        )
    return 0


def _parts() -> tuple[str, str]:
    """(the table, what stands below it)."""
    text = PAGE.read_text("utf-8") if PAGE.exists() else ""
    end = max((each.end() for each in re.finditer(_ROW.pattern + r".*\n", text, re.M)), default=0)
    return text[:end], text[end:]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
