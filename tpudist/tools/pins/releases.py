"""TensorFlow releases as pin files name them: ``"2.15"``, and their order."""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Iterable


from tpudist import machine

#: What stands for a run without TensorFlow.
NONE = "none"

#: Minor releases of a major version, as many as keep the order; 1.15 was the last of 1.
_MINORS = {0: 13, 1: 16}


def current() -> str:
    """The minor release of this process; asks the metadata if it imported none."""
    if "tensorflow" in sys.modules:
        from tpudist.tfcompat import versions

        return _minor(str(versions.TF))
    return _installed()


@functools.lru_cache(maxsize=1)
def _installed() -> str:
    from tpudist.tools.doctor import environment

    installed, _ = environment.installed()
    return next(
        (_minor(installed[name]) for name in machine.TENSORFLOWS if name in installed), NONE
    )


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])


def order(release: str) -> int:
    """A number by which releases sort; neighbours are 1 apart.

    Args:
      release: such as ``"2.15"``, or `NONE`.
    """
    major, _, minor = release.partition(".")
    if not (major.isdigit() and minor.isdigit()):
        return -1
    return sum(_MINORS.get(each, 100) for each in range(int(major))) + int(minor)


def nearest(recorded: Iterable[str], wanted: str) -> str:
    """The recorded release that is nearest to the wanted one, the older of two.

    Args:
      recorded: releases, at least one.
      wanted: a release.
    """
    return min(recorded, key=lambda each: (abs(order(each) - order(wanted)), order(each)))
