"""Reads and rewrites programs in HLO, the form that XLA compiles.

This package knows neither TensorFlow nor a compiler; it imports protobuf only. A field
that is read for the first time goes into the table of :mod:`messages`.
"""
