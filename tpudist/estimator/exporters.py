"""The exporters of an ``EvalSpec``, for the releases that have none (2.16 and newer).

Reference: https://github.com/tensorflow/docs/blob/r1.15/site/en/api_docs/python/tf/estimator/Exporter.md
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import tensorflow as tf

from tpudist.errors import ArgumentError

if TYPE_CHECKING:
    from typing import Any, Callable


class Exporter:
    """The base of what exports models while they are trained (r1.15)."""

    @property
    def name(self) -> str:
        """The folder of its exports below ``export`` (r1.15)."""
        raise NotImplementedError

    def export(
        self,
        estimator: Any,
        export_path: str,
        checkpoint_path: str,
        eval_result: dict[str, Any],
        is_the_final_export: bool,
    ) -> bytes | None:
        """Exports a checkpoint that has been evaluated, or not (r1.15).

        Returns:
          The path of the export, or None.
        """
        raise NotImplementedError


class _SavedModels(Exporter):
    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Callable[[], Any] | None,
        assets_extra: dict[str, str] | None,
        as_text: bool,
        exports_to_keep: int | None,
    ) -> None:
        if exports_to_keep is not None and exports_to_keep <= 0:
            raise ArgumentError(
                "exports_to_keep=%r" % exports_to_keep,
                "it must be positive",
                "exports_to_keep=5, or None for all",
            )
        self._name = name
        self._write = dict(
            serving_input_receiver_fn=serving_input_receiver_fn,
            assets_extra=assets_extra,
            as_text=as_text,
        )
        self._keep = exports_to_keep

    @property
    def name(self) -> str:
        """See the base class."""
        return self._name

    def _export(self, estimator: Any, export_path: str, checkpoint_path: str) -> Any:
        made = estimator.export_saved_model(
            export_path, checkpoint_path=checkpoint_path, **self._write
        )
        if self._keep is not None:
            exports = sorted(each for each in tf.io.gfile.listdir(export_path) if _is_export(each))
            for old in exports[: -self._keep]:
                tf.io.gfile.rmtree(os.path.join(export_path, old))
        return made


def _is_export(name: str) -> bool:
    return len(name.rstrip("/")) == 10 and name.rstrip("/").isdigit()


class FinalExporter(_SavedModels):
    """Exports once, when the training ends (r1.15).

    Args:
      name: folder of the exports.
      serving_input_receiver_fn: returns a ``ServingInputReceiver``.
      assets_extra: ``{path below assets.extra: file}``.
      as_text: whether to write text.
    """

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Callable[[], Any],
        assets_extra: dict[str, str] | None = None,
        as_text: bool = False,
    ) -> None:
        """See the class; reference r1.15."""
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text, None)

    def export(
        self,
        estimator: Any,
        export_path: str,
        checkpoint_path: str,
        eval_result: dict[str, Any],
        is_the_final_export: bool,
    ) -> bytes | None:
        """See the base class."""
        if not is_the_final_export:
            return None
        made: bytes = self._export(estimator, export_path, checkpoint_path)
        return made


class LatestExporter(_SavedModels):
    """Exports every checkpoint that is evaluated (r1.15).

    Args:
      name, serving_input_receiver_fn, assets_extra, as_text: as of `FinalExporter`.
      exports_to_keep: how many; None for all.
    """

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Callable[[], Any],
        assets_extra: dict[str, str] | None = None,
        as_text: bool = False,
        exports_to_keep: int | None = 5,
    ) -> None:
        """See the class; reference r1.15."""
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text, exports_to_keep)

    def export(
        self,
        estimator: Any,
        export_path: str,
        checkpoint_path: str,
        eval_result: dict[str, Any],
        is_the_final_export: bool,
    ) -> bytes | None:
        """See the base class."""
        made: bytes = self._export(estimator, export_path, checkpoint_path)
        return made


def _loss_smaller(best_eval_result: dict[str, Any], current_eval_result: dict[str, Any]) -> bool:
    return bool(best_eval_result["loss"] > current_eval_result["loss"])


class BestExporter(_SavedModels):
    """Exports what is better than all before (r1.15).

    Args:
      name, serving_input_receiver_fn, assets_extra, as_text: as of `FinalExporter`.
      event_file_pattern: files below the model's folder with earlier results; None to
        start anew.
      compare_fn: ``compare_fn(best_eval_result, current_eval_result)``: whether the
        latter is better; by default the smaller loss.
      exports_to_keep: how many; None for all.
    """

    def __init__(
        self,
        name: str = "best_exporter",
        serving_input_receiver_fn: Callable[[], Any] | None = None,
        event_file_pattern: str | None = "eval/*.tfevents.*",
        compare_fn: Callable[..., bool] = _loss_smaller,
        assets_extra: dict[str, str] | None = None,
        as_text: bool = False,
        exports_to_keep: int | None = 5,
    ) -> None:
        """See the class; reference r1.15."""
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text, exports_to_keep)
        self._events = event_file_pattern
        self._is_better = compare_fn
        self._best: dict[str, Any] | None = None
        self._has_exported = False

    def export(
        self,
        estimator: Any,
        export_path: str,
        checkpoint_path: str,
        eval_result: dict[str, Any],
        is_the_final_export: bool,
    ) -> bytes | None:
        """See the base class."""
        if self._best is None and self._events:
            self._best = self._earlier(os.path.join(estimator.model_dir, self._events))
        if self._has_exported and not self._is_better(
            best_eval_result=self._best, current_eval_result=eval_result
        ):
            return None
        self._best, self._has_exported = eval_result, True
        made: bytes = self._export(estimator, export_path, checkpoint_path)
        return made

    def _earlier(self, pattern: str) -> dict[str, Any] | None:
        best: dict[str, Any] | None = None
        for path in tf.io.gfile.glob(pattern):
            for event in tf.compat.v1.train.summary_iterator(path):
                found = {
                    value.tag: value.simple_value
                    for value in event.summary.value
                    if value.HasField("simple_value")
                }
                if found and (best is None or self._is_better(best, found)):
                    best = found
        return best
