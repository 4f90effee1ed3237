"""Stand-ins for the classes of ``tf.estimator``, which TensorFlow has not from 2.16 on.

They run in one process, on ``tf.compat.v1.train``'s Sessions. Older releases never load them:
:mod:`tpudist.estimator.lookup` decides.
"""
