"""Reads and rewrites programs in HLO, the form that XLA compiles.

This package knows neither TensorFlow nor a compiler; it imports protobuf only. A field
that is read for the first time goes into the table of :mod:`messages`.

* :mod:`messages`: HloModuleProto, and the sizes of its arrays.
* :mod:`normal_form`: what a module needs before libtpu compiles it; one program, one text.
* :mod:`optimized`: parameters, collectives and costs of a compiled program, with
  :mod:`work` (FLOPs and bytes of one instruction), :mod:`trip_counts` (how often each
  loop runs) and :mod:`liveness` (which arrays are live at each instruction).
"""
