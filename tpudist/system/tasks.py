"""The workers of a cluster, and which of them this process is, as TF_CONFIG says. No TensorFlow.

Reference: tf.distribute.cluster_resolver.TFConfigClusterResolver.
"""

from __future__ import annotations

import contextlib
import json
import os
from typing import Iterator, NamedTuple

from tpudist.errors import TPUNameError

#: Environment variable that TensorFlow's own resolver reads.
VARIABLE = "TF_CONFIG"

#: The jobs whose tasks are workers; that of the chief comes first.
_JOBS = ("chief", "worker")

_EXAMPLE = (
    'tpudist launch, or %s=\'{"cluster": {"worker": ["a:2222", "b:2222"]}, '
    '"task": {"type": "worker", "index": 0}}\'' % VARIABLE
)


class Task(NamedTuple):
    """A worker of a cluster.

    Args:
      number: which one it is, 0 for the chief.
      workers: how many there are.
      job, task_id: its task in TF_CONFIG.
    """

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
    """The worker that this process is.

    Raises:
      TPUNameError: (a ValueError) TF_CONFIG names no cluster, or not this process' place in it.
    """
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


def addresses() -> list[str]:
    """The address of each worker of TF_CONFIG, the chief's first, such as ``"a:2222"``."""
    cluster = json.loads(os.environ.get(VARIABLE) or "{}").get("cluster", {})
    return [address for job in _JOBS for address in cluster.get(job, ())]


@contextlib.contextmanager
def hidden() -> Iterator[None]:
    """Context manager: in the block there is no TF_CONFIG, as for a program that runs alone."""
    text = os.environ.pop(VARIABLE, None)
    try:
        yield
    finally:
        if text is not None:
            os.environ[VARIABLE] = text


def _refused(seen: str, why: str) -> TPUNameError:
    return TPUNameError(seen, why, _EXAMPLE)
