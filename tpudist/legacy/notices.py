"""Leaves out TensorFlow's notices that names of the program's era are deprecated.

A program of an era is full of them, and is run as it is because it is old. What else TensorFlow
and absl log is shown once, where both would show it.
"""

from __future__ import annotations

import contextlib
import logging
import re
import sys
import warnings
from typing import Iterator

from tpudist import console

#: What notices of deprecation say: of TensorFlow's logger, and of Keras by Python's warnings. An
#: error of a replica's thread is raised too, if it is not the end of a trial of ours.
_LOGGED = re.compile(
    r"^From \S+: .* is deprecated|The TensorFlow contrib module will not be included|"
    r"^Please fix your imports\.|^Error reported to Coordinator: |"
    r"is (now )?deprecated and will be removed",
    re.DOTALL,
)
#: TensorFlow's files that log them; on 1.13 all that is logged comes from the last.
_FILES = (
    *("deprecation.py", "deprecation_wrapper.py", "module_wrapper.py", "lazy_loader.py"),
    *("__init__.py", "coordinator.py", "tf_logging.py"),
)
_WARNED = r"(?s).*`[\w.]+` (is|argument is|property is|method is) deprecated"


@contextlib.contextmanager
def of_deprecation_left_out() -> Iterator[None]:
    """Context manager: no notices of deprecation, unless the command is verbose."""
    if console.is_verbose():
        yield
        return
    from absl import logging as absl_logging

    filtered = (
        (logging.getLogger("tensorflow"), _is_news),
        (absl_logging.get_absl_handler(), _is_first),
    )
    with contextlib.ExitStack() as undo:
        for each, keeps in filtered:
            each.addFilter(keeps)
            undo.callback(each.removeFilter, keeps)
        if not sys.warnoptions:
            undo.enter_context(warnings.catch_warnings())
            warnings.filterwarnings("ignore", _WARNED)
        yield


def _is_news(record: logging.LogRecord) -> bool:
    return record.filename not in _FILES or not _LOGGED.search(record.getMessage())


def _is_first(record: logging.LogRecord) -> bool:
    """Whether TensorFlow's logger has not shown a record that absl is about to show."""
    from absl import logging as absl_logging

    stream = absl_logging.get_absl_handler().python_handler.stream  # It may be a file.
    is_shown = record.name == "tensorflow" and bool(logging.getLogger("tensorflow").handlers)
    return not is_shown or stream not in (sys.stderr, sys.__stderr__)
