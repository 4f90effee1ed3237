"""What became of the legacy uses of a file."""

from __future__ import annotations

import traceback
import typing
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Iterable


class Use(typing.NamedTuple):
    """One legacy use, rewritten or left.

    Args:
      path, line, column: where it is, both from 1, in the file as it was.
      rule: the rule's name.
      seen: what stands there.
      instead: what was written, or of a use that was left, what to type.
      why: why it was left, where the rule alone does not say it.
    """

    path: str
    line: int
    column: int
    rule: str
    seen: str
    instead: str
    why: str = ""


class Result(typing.NamedTuple):
    """One file.

    Args:
      path: the file.
      before: its bytes; None if it cannot be read, or need not be kept.
      after: what it becomes; the same if nothing changes.
      rewritten, left: the uses.
      refused: why the file is untouched, "" if it is not refused.
      era: the era its names told, "" if none did.
      others: the legacy names that stay because they are something else's, or mean
        the same in the later release; `seen` says why.
    """

    path: str
    before: bytes | None
    after: bytes | None
    rewritten: list[Use]
    left: list[Use]
    refused: str
    era: str
    others: typing.Sequence[Use] = ()


TIME_LIMIT = "time-limit"


def fault() -> str:
    """Why a file is refused of which tpudist failed with the current exception."""
    return "a fault of tpudist: " + traceback.format_exc(limit=-1).strip().splitlines()[-1]


def late(path: str, raw: bytes, seconds: float, era: str) -> Result:
    """The Result of a file that took too long: left as it is."""
    use = Use(
        path, 1, 1, TIME_LIMIT, "reading it took more than %g s of CPU time" % seconds,
        "--time-limit with more seconds; or several smaller files",
    )  # fmt: skip
    return Result(path, raw, raw, [], [use], "", era)


def exit_code(results: Iterable[Result], check: bool) -> int:
    """The exit code of a run.

    Args:
      results: the Results.
      check: whether a file that would change counts as a problem.

    Returns:
      2 if a file was refused; else 1 if a use is left, or with `check` if a
      file would change; else 0.
    """
    if any(result.refused for result in results):
        return 2
    if any(result.left or (check and result.before != result.after) for result in results):
        return 1
    return 0
