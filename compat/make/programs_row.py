"""What is said of a public program of :mod:`compat.make.programs`."""

import collections

#: repository, date of the revision, files, arguments of each file, {line: what to write for it},
#: the releases that the program itself refuses, the TPU, the packages of its day that it needs,
#: the folder that its page puts on PYTHONPATH, and the repository that it says to clone into its
#: folder. Without lines it is unmodified.
Program = collections.namedtuple(
    "Program", "repository date files arguments lines not_for tpu needs path clones"
)


def program(
    repository,
    date,
    files,
    arguments="",
    lines=(),
    not_for="",
    tpu="virtual:8",
    needs="",
    path="",
    clones="",
):
    """A row, with what most programs have."""
    lines = dict(lines)
    return Program(repository, date, files, arguments, lines, not_for, tpu, needs, path, clones)
