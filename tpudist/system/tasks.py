"""The workers of a cluster, and which of them this process is, as TF_CONFIG says. No TensorFlow.

Reference: tf.distribute.cluster_resolver.TFConfigClusterResolver.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from typing import Iterator, NamedTuple

from tpudist import machine
from tpudist.errors import TPUNameError

#: Environment variable that TensorFlow's own resolver reads.
VARIABLE = "TF_CONFIG"

#: The jobs whose tasks are workers; that of the chief comes first.
_JOBS = ("chief", "worker")

#: Slurm's variables: the number of a task, the nodes of its step, and the tasks of each node.
_SLURM = ("SLURM_PROCID", "SLURM_STEP_NODELIST", "SLURM_STEP_TASKS_PER_NODE")

#: The port of the first task of a node of Slurm.
_PORT = 2222

_EXAMPLE = (
    'tpudist launch, or %s=\'{"cluster": {"worker": ["a:2222", "b:2222"]}, '
    '"task": {"type": "worker", "index": 0}}\'' % VARIABLE
)


class Task(NamedTuple):
    """A worker of a cluster: its number, 0 for the chief, of so many, and its task in TF_CONFIG."""

    number: int
    workers: int
    job: str = "worker"
    task_id: int = 0

    @property
    def name(self) -> str:
        """The name with which those of its devices begin."""
        return "/job:%s/replica:0/task:%d" % (self.job, self.task_id)

    @property
    def is_chief(self) -> bool:
        """Whether this worker is the chief, whose files are kept."""
        return not self.number


def own() -> Task:
    """The worker that this process is, as TF_CONFIG says; it is an error if that says none."""
    text = os.environ.get(VARIABLE, "")
    try:
        config = json.loads(text or "{}")
        cluster, task = config["cluster"], config["task"]
        counts = {job: len(cluster[job]) for job in cluster}
        job, index = task["type"], int(task["index"])
    except (ValueError, KeyError, TypeError) as error:
        raise _refused(
            "%s=%s" % (VARIABLE, text) if text else "no " + VARIABLE,
            "it has the addresses of a cluster's workers and the task of this one: %r" % error,
        ) from error
    if job == "evaluator":
        raise TPUNameError(
            "a task of 'evaluator' in %s" % VARIABLE,
            "it is none of the workers that train together",
            "tpudist run --tpu cluster:virtual:8, which runs it alone",
        )
    others = sorted(set(counts) - set(_JOBS))
    if others or index not in range(counts.get(job, 0)):
        raise _refused(
            "%s=%s" % (VARIABLE, text),
            "tasks of %r do not train with the others" % others[0]
            if others
            else "the cluster has no task %d of %r" % (index, job),
        )
    before = counts.get("chief", 0) if job == "worker" else 0
    return Task(before + index, sum(counts.values()), job, index)


def prepare() -> None:
    """Sets TF_CONFIG as TensorFlow's strategies take it.

    A "master", as TensorFlow 1 has it, becomes the "chief"; for an evaluator there is always one,
    as Estimators ask for. In a step of Slurm (``srun``) the cluster is that of its tasks, if there
    is no TF_CONFIG; a TPUNameError (a ValueError) if its variables cannot be read.
    """
    text = os.environ.get(VARIABLE) or _of_slurm()
    with contextlib.suppress(ValueError, KeyError, TypeError):  # then `own` says what is wrong
        config = json.loads(text)
        cluster, task = config["cluster"], config["task"]
        cluster.pop("evaluator", None)
        if "chief" not in cluster and "master" in cluster:
            cluster["chief"] = cluster.pop("master")
            task["type"] = {"master": "chief"}.get(task["type"], task["type"])
        if "chief" not in cluster and task["type"] == "evaluator":
            cluster["chief"] = [cluster["worker"].pop(0)]
        text = json.dumps({**config, "cluster": {job: of for job, of in cluster.items() if of}})
    if text:
        os.environ[VARIABLE] = text


def is_evaluator() -> bool:
    """Whether this process is to evaluate what the workers of TF_CONFIG train."""
    with contextlib.suppress(ValueError, KeyError, TypeError):
        return bool(json.loads(os.environ[VARIABLE])["task"]["type"] == "evaluator")
    return False


def _of_slurm() -> str:
    """TF_CONFIG of a task of Slurm; the tasks of a node have the ports from 2222 on.

    TensorFlow's ``SlurmClusterResolver`` sorts the nodes by name, so that of ten nodes without
    leading zeros a task has the address of another one.
    """
    rank, nodes, counts = (os.environ.get(name, "") for name in _SLURM)
    if not rank:
        return ""
    try:
        hosts = [
            "%s:%d" % (node, _PORT + i)
            for node, count in zip(_expanded(nodes), _tasks(counts))
            for i in range(count)
        ]
        hosts[int(rank)]
    except (ValueError, IndexError) as error:
        raise _refused(
            ", ".join("%s=%s" % (name, os.environ.get(name)) for name in _SLURM),
            "they are the number of a task, and the nodes and tasks of its step: %s" % error,
        ) from error
    task = {"type": "worker", "index": int(rank)}
    return json.dumps({"cluster": {"worker": hosts}, "task": task})


def _expanded(nodes: str) -> list[str]:
    """``"a[08-10,12],b"``: its five names, in order."""
    names = []
    for start, ranges, end in re.findall(r"([^,\[]+)(?:\[([^\]]+)\]([^,]*))?", nodes):
        if not ranges:
            names.append(start)
        for each in ranges.split(",") if ranges else ():
            first, _, last = each.partition("-")
            numbers = range(int(first), int(last or first) + 1)
            names += ["%s%0*d%s" % (start, len(first), number, end) for number in numbers]
    return names


def _tasks(counts: str) -> list[int]:
    """``"2(x3),1"``: three times two, and one."""
    found = re.findall(r"(\d+)(?:\(x(\d+)\))?", counts)
    return [int(count) for count, times in found for _ in range(int(times or 1))]


def addresses() -> list[str]:
    """The address of each worker of TF_CONFIG, the chief's first, such as ``"a:2222"``."""
    cluster = json.loads(os.environ.get(VARIABLE) or "{}").get("cluster", {})
    return [address for job in _JOBS for address in cluster.get(job, ())]


@contextlib.contextmanager
def hidden() -> Iterator[None]:
    """Context manager: in the block there is no TF_CONFIG, as for a program that runs alone."""
    with machine.restored(VARIABLE):
        os.environ.pop(VARIABLE, None)
        yield


def _refused(seen: str, why: str) -> TPUNameError:
    return TPUNameError(seen, why, _EXAMPLE)
