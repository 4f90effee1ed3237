"""The datasets that ``distribute_dataset`` returns.

Reference: https://github.com/tensorflow/docs/blob/r1.11/site/en/api_docs/python/tf/contrib/distribute/TPUStrategy.md
"""

from tpudist.input import per_replica_datasets


class PerDeviceDataset(per_replica_datasets.PerReplicaDataset):
    """A dataset from which every tower takes an element of its own per step (r1.11).

    `make_one_shot_iterator()` and `make_initializable_iterator()` (r1.11)
    return iterators whose `get_next()` is one per-device value per component,
    tower i's being the i-th of the step's elements.
    """
