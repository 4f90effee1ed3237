"""``WarmStartSettings`` for the releases that have none (2.16 and newer).

Reference: https://github.com/tensorflow/docs/blob/r1.15/site/en/api_docs/python/tf/estimator/WarmStartSettings.md
"""

from __future__ import annotations

import os
import typing
from typing import TYPE_CHECKING

import tensorflow as tf

from tpudist.errors import ArgumentTypeError

if TYPE_CHECKING:
    from typing import Any


class WarmStartSettings(typing.NamedTuple):
    """Where variables start from (r1.15).

    Args:
      ckpt_to_initialize_from: a checkpoint, or a folder with one.
      vars_to_warm_start: a pattern, a list of variables or names; None for none but
        embeddings.
      var_name_to_vocab_info: ``{variable: VocabInfo}``.
      var_name_to_prev_var_name: ``{variable: its name in the checkpoint}``.
    """

    ckpt_to_initialize_from: str
    vars_to_warm_start: Any = ".*"
    var_name_to_vocab_info: Any = None
    var_name_to_prev_var_name: Any = None


def settings(given: Any) -> WarmStartSettings | None:
    """The settings that ``warm_start_from`` means.

    Args:
      given: None, settings, a checkpoint, or the folder of a checkpoint or SavedModel.

    Raises:
      ArgumentTypeError: (a TypeError) it is something else.
    """
    if given is None or isinstance(given, WarmStartSettings):
        return given
    if not isinstance(given, (str, os.PathLike)):
        raise ArgumentTypeError(
            "warm_start_from=%r" % (given,),
            "warm_start_from must be a string or a WarmStartSettings",
            "warm_start_from='path/of/model.ckpt-1000'",
        )
    path = os.fspath(given)
    saved = os.path.join(path, "variables", "variables")
    return WarmStartSettings(saved if tf.io.gfile.exists(saved + ".index") else path)


def warm_start(given: WarmStartSettings) -> None:
    """Makes the variables of the current graph start from a checkpoint.

    Context: a graph, when all variables are there.
    """
    tf.compat.v1.logging.info("Warm-starting with WarmStartSettings: %s", given)
    tf.compat.v1.train.warm_start(*given)
