"""A TPU system that is described, not present: enough to build graphs on."""

from tensorflow.python.client import session

from tpudist.tfcompat.tpu import tpu_strategy, tpu_system_metadata


class DescribedResolver:
    """Answers what TPUStrategy asks a resolver, without any TPU.

    Args:
      cores: number of cores.
      hosts: number of hosts they are on.
      master: where a Session connects to; "" is this process, which to 1.13 means
        one host.
    """

    def __init__(self, cores=8, hosts=1, master=""):
        self._master = master
        per_host = cores // hosts
        devices = [
            session._DeviceAttributes(
                "/job:worker/replica:0/task:%d/device:TPU:%d" % (host, core), "TPU", 1, 1
            )
            for host in range(hosts)
            for core in range(per_host)
        ]
        metadata = getattr(tpu_system_metadata, "TPUSystemMetadata", None) or (
            tpu_system_metadata._TPUSystemMetadata
        )
        self._metadata = metadata(
            num_cores=cores,
            num_hosts=hosts,
            num_of_cores_per_host=per_host,
            topology=None,
            devices=devices,
        )

    def master(self, *unused):
        return self._master

    def get_master(self):
        return self._master

    def get_job_name(self):
        return "worker"

    def cluster_spec(self):
        return None

    def get_tpu_system_metadata(self):
        return self._metadata


def answer_for(monkeypatch, resolver):
    """Old releases ask a module function instead of the resolver.

    And 1.13 starts each system that it has not started in this process.
    """
    if hasattr(tpu_strategy.TPUExtended, "_initialized_devices"):
        monkeypatch.setattr(tpu_strategy.TPUExtended, "_initialized_devices", [resolver.master()])
    if hasattr(tpu_strategy, "get_tpu_system_metadata"):
        monkeypatch.setattr(
            tpu_strategy,
            "get_tpu_system_metadata",
            lambda unused: resolver.get_tpu_system_metadata(),
        )
