"""Runs the programs of one surface and prints each value as a line of JSON.

Run as a process (``python -m tpudist.tools.selftest.worker ERA TPU``). A line has ``kind``:

    programs names: of all that are to be run
    system   the TPU: name, replicas, hosts, versions
    value    program, value, dtype, shape, values (flat)
    failed   program, error
    skipped  program, why
"""

from __future__ import annotations

import contextlib
import importlib
import json
import platform
import sys
from typing import TYPE_CHECKING, Any, Iterator

import numpy as np

import tpudist
from tpudist.system import cluster, named_tpus
from tpudist.tfcompat import versions
from tpudist.tools.selftest import MARK
from tpudist.tools.selftest.programs import ROWS, NotTried, Program, World

if TYPE_CHECKING:
    import types


def say(kind: str, **fields: Any) -> None:
    """Prints a line."""
    print(MARK + json.dumps(dict(fields, kind=kind), sort_keys=True))
    sys.stdout.flush()


def main(era: str, tpu: str) -> None:
    """Runs the programs of a surface on a TPU."""
    if era != "contrib" and not versions.HAS_FUNCTION:
        say("skipped", program="all", why="this TensorFlow has no tf.function")
        return
    programs = programs_of(era)
    say("programs", names=list(programs))
    with _world(era, tpu) as world:
        say(
            "system",
            tpu=tpu,
            virtual=world.resolver.system is not None,
            replicas=int(world.strategy.num_replicas_in_sync),
            hosts=int(world.strategy.extended.num_hosts),
            tpudist=tpudist.__version__,
            tensorflow=str(versions.TF),
            python=platform.python_version(),
            numpy=np.__version__,
            machine="%s %s" % (platform.system(), platform.machine()),
        )
        for name, program in programs.items():
            _run(name, program, world)


def programs_of(era: str) -> dict[str, Program]:
    """{name: program} of a surface."""
    if era == "contrib":
        from tpudist.tools.selftest.programs import sessions

        return sessions.PROGRAMS
    from tpudist.tools.selftest.programs import functions, logical

    if era == "v2_0":
        return functions.programs("experimental_run_v2")
    return dict(functions.programs("run"), **logical.PROGRAMS)


def _run(name: str, program: Program, world: World) -> None:
    try:
        if ROWS % world.strategy.num_replicas_in_sync:
            raise NotTried("%d rows are not shared evenly by its replicas" % ROWS)
        values = program(world)
    except NotTried as reason:
        say("skipped", program=name, why=str(reason))
    except Exception as error:  # one program's failure is a result  # noqa: BLE001
        line = (str(error).strip().splitlines() or [""])[0]
        say("failed", program=name, error=("%s: %s" % (type(error).__name__, line))[:500])
    else:
        for value, each in values.items():
            array = np.asarray(each)
            content = {"dtype": str(array.dtype), "shape": list(array.shape)}
            say("value", program=name, value=value, values=array.flatten().tolist(), **content)


@contextlib.contextmanager
def _world(era: str, tpu: str) -> Iterator[World]:
    """The TPU started, and stopped again if it is a real one."""
    namespace = importlib.import_module("tpudist.%s" % era).tensorflow
    resolver = cluster.TPUClusterResolver(tpu)
    if era == "contrib":
        namespace.disable_v2_behavior()
        with _session(namespace, resolver) as world:
            yield world
        return
    namespace.compat.v1.enable_v2_behavior()
    cluster.connect_to_cluster(resolver)
    topology = cluster.initialize_tpu_system(resolver)
    try:
        strategy = namespace.distribute.experimental.TPUStrategy(resolver)
        yield World(resolver, strategy, topology, None)
    finally:
        cluster.shutdown_tpu_system(resolver)


@contextlib.contextmanager
def _session(namespace: types.ModuleType, resolver: cluster.TPUClusterResolver) -> Iterator[World]:
    """A strategy of contrib's in a graph, and its Session on the TPU."""
    if resolver.system is None:
        named_tpus.ready(resolver)
    strategy = namespace.contrib.distribute.TPUStrategy(resolver, steps_per_run=5)
    config = namespace.ConfigProto(allow_soft_placement=True)
    spec: Any = resolver.cluster_spec()
    if spec:
        config.cluster_def.CopyFrom(spec.as_cluster_def())
    with namespace.Session(resolver.master(), config=config) as session:
        for op in strategy.initialize():  # none on a virtual TPU
            session.run(op)
        try:
            yield World(resolver, strategy, None, session)
        finally:
            for op in strategy.finalize():
                session.run(op)


if __name__ == "__main__":
    main(*sys.argv[1:])
