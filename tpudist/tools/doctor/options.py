"""What ``tpudist doctor`` takes. No TensorFlow."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse


def add(verb: argparse.ArgumentParser) -> None:
    """Gives the verb's parser its options."""
    verb.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="files and folders: where each name of tf.contrib in them leads here",
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
        "--runtime",
        metavar="VERSION",
        help="the TPU runtime's version, if you know it, to compare with",
    )
    verb.add_argument(
        "--constraints",
        metavar="RELEASE",
        help="print the pins without which a TensorFlow release, such as 1.15, does not work, "
        "and nothing else: a constraints file for pip install -c",
    )
