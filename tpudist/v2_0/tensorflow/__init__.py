"""Drop-in for ``import tensorflow as tf`` in code of the v2_0 era.

Names of the era come from tpudist, all others from the installed TensorFlow
(see `tpudist.dropin`). TensorFlow is imported when the first name is used.
``import tpudist.v2_0.tensorflow.keras as keras`` and
``from tpudist.v2_0.tensorflow.keras import layers`` work, as does
``import *``.
"""

from tpudist import dropin as _dropin

_dropin.become_namespace(__name__, "v2_0")
