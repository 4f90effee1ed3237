"""The API of TensorFlow 2.0: `experimental_run_v2`.

Every name is loaded when it is first asked for; importing this package does
not import TensorFlow. ``from tpudist.v2_0 import tensorflow as tf`` gives a
``tf`` in which the era's names work. To change: names and signatures of the era; a
method is one call into :mod:`tpudist.adapter`.
"""

from tpudist import dropin as _dropin

__getattr__, __dir__ = _dropin.lazy_exports(__name__, "v2_0")
