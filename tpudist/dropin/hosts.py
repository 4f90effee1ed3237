"""``tf.config.experimental_connect_to_host``, which code of 2.0 calls by hand."""

from __future__ import annotations

import os

import tensorflow as tf

from tpudist import machine
from tpudist.virtual import system


def connect_to_host(remote_host: str | None = None, job_name: str = "worker") -> None:
    """Connects this process to a TPU's worker; a virtual TPU needs none.

    Args:
      remote_host: address of the worker, usually ``resolver.master()``, which
        is empty for a virtual TPU.
      job_name: the worker's job.

    Reference: tf.config.experimental_connect_to_host (TensorFlow 2.0).
    """
    virtual = system.is_virtual(os.environ.get(machine.TPU))
    if not virtual and remote_host != "":
        tf.config.experimental_connect_to_host(remote_host, job_name)
