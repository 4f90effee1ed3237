"""Names of ``tf.contrib`` that training code uses and no package keeps, written again.

Each does what TensorFlow 1.15's did; the tests compare them with it. To change: what such
a name does. Which names there are is in the table (`tpudist.surfaces.contrib_homes`).
"""
