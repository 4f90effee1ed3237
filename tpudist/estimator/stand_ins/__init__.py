"""Stand in for the classes of ``tf.estimator`` on TensorFlow 2.16 and newer, which lack them.

They run in one process, with the Sessions of ``tf.compat.v1.train``. On older releases
:mod:`tpudist.estimator.lookup` returns TensorFlow's classes, and nothing loads these.
"""
