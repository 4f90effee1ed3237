"""Imports TensorFlow and prints what it finds as one line of JSON.

Run as a process (``python -m tpudist.tools.doctor.probe``): an import that hangs,
or dies by a signal, must not take the doctor with it. Reports

    version  TensorFlow's version, or null
    path     the file that ``import tensorflow`` runs, or null
    cuda     whether it was built with CUDA, or null
    keras    the package that ``tf.keras`` is: tensorflow, keras, tf_keras, or null
    error    why the import failed, or null
    keras_error   why ``tf.keras`` failed, or null
"""

from __future__ import annotations

import importlib.util
import json
from typing import Any


def main() -> None:
    """Prints the JSON line; never raises."""
    report = dict.fromkeys(("version", "path", "cuda", "keras", "error", "keras_error"))
    try:
        spec = importlib.util.find_spec("tensorflow")
        report["path"] = spec.origin if spec else None
        _look(report)
    except BaseException as error:  # whatever a broken install throws is the answer  # noqa: BLE001
        report["error"] = _line(error)
    print("\n" + json.dumps(report, sort_keys=True))


def _look(report: dict[str, Any]) -> None:
    import tensorflow as tf

    report["version"] = tf.__version__
    report["cuda"] = bool(tf.test.is_built_with_cuda())
    try:
        package = tf.keras.layers.Dense.__module__.split(".")[0]
        report["keras"] = "tensorflow" if package == "tensorflow_core" else package
    except Exception as error:  # a Keras that does not fit fails in many ways  # noqa: BLE001
        report["keras_error"] = _line(error)


def _line(error: BaseException) -> str:
    first = (str(error).strip().splitlines() or [""])[0]
    return "%s: %s" % (type(error).__name__, first)


if __name__ == "__main__":
    main()
