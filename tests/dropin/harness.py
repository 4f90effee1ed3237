"""A drop-in namespace by its era."""

import importlib


def drop_in(era):
    """The module that a user of the era imports as ``tf``."""
    return importlib.import_module("tpudist.%s.tensorflow" % era)
