"""Reads and rewrites programs in HLO, the form that XLA compiles.

This package knows neither TensorFlow nor a compiler; it imports protobuf only. A field
that is read for the first time goes into the table of :mod:`messages`.

* :mod:`messages`: HloModuleProto, and the sizes of its arrays.
* :mod:`normal_form`: what a module needs before libtpu compiles it.
* :mod:`optimized`: parameters, collectives and the compiler's estimates in a compiled program.
"""
