"""The options of ``tpudist doctor``. No TensorFlow, no numpy."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tpudist.errors import ArgumentError

if TYPE_CHECKING:
    _Verbs = argparse._SubParsersAction[argparse.ArgumentParser]


#: {option of the doctor: what it is of the TPU that is asked}.
_OF_A_NAMED_TPU = {
    "configure": "sets the runtime",
    "zone": "is the place",
    "project": "is the owner",
}


def add(verbs: _Verbs) -> argparse.ArgumentParser:
    """Adds the verb and its options."""
    verb = verbs.add_parser(
        "doctor",
        help="what is installed, what does not fit, what to type",
        description="Reports TensorFlow, Keras, TPU and their mismatches. Exit code 1 "
        "if there are problems. Asks no network but for the TPU that --tpu names.",
    )
    verb.add_argument("--json", action="store_true", help="one JSON object, for programs")
    verb.add_argument(
        "--tpu",
        metavar="NAME",
        help="ask Google Cloud for this TPU's state, health, type and runtime, for "
        "TPUDIST_TPU_TIMEOUT seconds (30) at most",
    )
    verb.add_argument(
        "--configure",
        action="store_true",
        help="set that TPU's runtime to the TensorFlow installed here; restarts its servers",
    )
    verb.add_argument("--zone", help="where it is; by default the zone of this machine")
    verb.add_argument("--project", help="whose it is; by default the project of this machine")
    verb.add_argument(
        "--constraints",
        metavar="RELEASE",
        help="print the pins without which a TensorFlow release, such as 1.15 or tpu-2.20, does "
        "not work, and nothing else: a constraints file for pip install -c",
    )
    return verb


def run(options: argparse.Namespace) -> int:
    """``tpudist doctor``: reports what is installed and what to type.

    Args:
      options: parsed ``json`` and ``configure`` (bool), and ``tpu``, ``zone``,
        ``project`` and ``constraints`` (each a text or None).

    Returns:
      0 if nothing is wrong, 1 if there are problems.
    """
    from tpudist.tools import doctor as doctors

    if options.constraints:
        from tpudist.toolbox import table

        print(table.constraints(options.constraints), end="")
        return 0
    for name, what in _OF_A_NAMED_TPU.items():
        if getattr(options, name) and not options.tpu:
            raise ArgumentError(
                "--%s without --tpu" % name,
                "it %s of the TPU that --tpu names" % what,
                "tpudist doctor --tpu NAME --" + name,
            )
    if options.tpu == "":
        raise ArgumentError("--tpu ''", "no TPU has an empty name", "tpudist doctor, or --tpu NAME")
    look = [options.tpu] if options.tpu else []
    for name in ("zone", "project"):
        look += ["--%s=%s" % (name, getattr(options, name))] * bool(getattr(options, name))
    look += ["--configure"] * options.configure
    return doctors.run(options.json, look=look)
