"""The contrib era: the API of TensorFlow 1.11, and what 1.13 to 1.15 called it.

Every name is loaded when it is first asked for; importing this package does
not import TensorFlow. ``from tpudist.contrib import tensorflow as tf`` gives a
``tf`` in which the era's names work. To change: names and signatures of the era; a
method is one call into :mod:`tpudist.adapter`.
"""

from tpudist import dropin as _dropin

__getattr__, __dir__ = _dropin.lazy_exports(__name__, "contrib")
