"""``tpudist doctor``: what is installed, what cannot work together, what to type.

TensorFlow is imported only in a separate process, so the doctor reports even
where it is missing, hangs or kills the process. It uses no network but for the TPU that ``--tpu``
names. To change: a check (:mod:`checks`), with a case in tests/tools/doctor/machines.py.
"""

from __future__ import annotations

import argparse
import sys

from tpudist import console
from tpudist.errors import ArgumentError


def add(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> argparse.ArgumentParser:
    """Adds the verb and its options."""
    verb = verbs.add_parser(
        "doctor",
        help="what is installed, what does not fit, what to type",
        description="Reports TensorFlow, Keras, TPU and their mismatches. Exit code 1 "
        "if there are problems. Asks no network but for --tpu.",
    )
    verb.add_argument("--json", action="store_true", help="one JSON object, for programs")
    verb.add_argument(
        "--constraints",
        metavar="RELEASE",
        help="print the pins without which a TensorFlow release, such as 1.15 or tpu-2.20, does "
        "not work, and nothing else: a constraints file for pip install -c",
    )
    text = "ask Google Cloud for the state, the slice and the runtime of a TPU, and nothing else"
    verb.add_argument("--tpu", metavar="NAME", help=text)
    verb.add_argument("--zone", help="of --tpu, where it is not the default one")
    verb.add_argument("--project", help="of --tpu, where it is not the default one")
    text = "with --tpu: set its runtime to the installed TensorFlow's release"
    verb.add_argument("--configure", action="store_true", help=text)
    return verb


def run(options: argparse.Namespace) -> int:
    """Reports what is installed and what to type; 0 if nothing is wrong, 1 if there are problems.

    Keys of the object of ``--json`` only ever get added.
    """
    if options.tpu or options.configure or options.zone or options.project:
        return _of_cloud(options)
    if options.constraints:
        from tpudist.toolbox import table

        print(table.constraints(options.constraints), end="")
        return 0
    from tpudist.tools.doctor import environment, report

    with console.working("looking at TensorFlow"):
        found = environment.detect()
    text, code = report.written(found, options.json)
    sys.stdout.write(text)
    return code


def _of_cloud(options: argparse.Namespace) -> int:
    """Says the state, the slice and the runtime of a TPU, and sets the runtime if asked."""
    if not options.tpu:
        raise ArgumentError(
            "--configure, --zone or --project without --tpu NAME",
            "they are about a TPU of Google Cloud",
            "tpudist doctor --tpu NAME --configure",
        )
    from tpudist.cloud import runtimes  # What follows imports TensorFlow.
    from tpudist.system import cluster, named_tpus

    resolver = cluster.TPUClusterResolver(options.tpu, options.zone, options.project)
    if resolver.system is not None or options.tpu == "local":
        raise ArgumentError(
            "--tpu %s" % options.tpu,
            "Google Cloud has no TPU of that name",
            "tpudist doctor alone, or the name of a TPU of Google Cloud",
        )
    node = named_tpus.described(resolver)
    words = node.place, node.state, node.health or "unknown", node.type, runtimes.of(node)
    print("%s: %s, health %s, %s, runtime %s, at %s" % (*words, ", ".join(node.addresses)))
    if options.configure:
        print("runtime set to TensorFlow %s" % named_tpus.configure(resolver, node))
    return 0
