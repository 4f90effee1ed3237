"""A dictionary whose keys are compared by identity: tensors compare by value.

Tensors of TensorFlow 2 compare element by element and have no hash.
"""

import collections.abc


class IdentityMap(collections.abc.MutableMapping):
    """A dictionary by identity, in the order of insertion; it keeps its keys alive.

    Args:
      pairs: [(key, value)], or a mapping of this class.
    """

    def __init__(self, pairs=()):
        self._pairs = {}
        self.update(pairs)

    @classmethod
    def of(cls, keys):
        """Each key mapped to itself, for use as an ordered set."""
        return cls((key, key) for key in keys)

    def __getitem__(self, key):
        return self._pairs[id(key)][1]

    def __setitem__(self, key, value):
        self._pairs[id(key)] = (key, value)

    def __delitem__(self, key):
        del self._pairs[id(key)]

    def __contains__(self, key):
        return id(key) in self._pairs

    def __iter__(self):
        return (key for key, _ in self._pairs.values())

    def __len__(self):
        return len(self._pairs)
