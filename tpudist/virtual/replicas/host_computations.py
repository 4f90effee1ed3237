"""Keeps TensorFlow from warning of ``tpu.outside_compilation`` in a replica function.

What it builds is done where it stands, with the right numbers: on the virtual TPU host and cores
are one device. TensorFlow logs at each call that it is in no ``TPUReplicateContext``.
"""

from __future__ import annotations

import contextlib
import logging
from typing import Iterator

#: TensorFlow's loggers: absl's from 2.0 on, its own before.
_LOGGERS = ("absl", "tensorflow")

_SAID = "Outside compilation attempted outside TPUReplicateContext scope"


def _is_other(record: logging.LogRecord) -> bool:
    """Whether a record is none of these warnings."""
    return not str(record.msg).startswith(_SAID)


@contextlib.contextmanager
def without_warnings() -> Iterator[None]:
    """Context manager: in it, TensorFlow's warning is not logged; all others are."""
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    added = [logger for logger in loggers if _is_other not in logger.filters]
    for logger in added:
        logger.addFilter(_is_other)
    try:
        yield
    finally:
        for logger in added:
            logger.removeFilter(_is_other)
