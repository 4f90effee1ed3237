"""Reads and rewrites programs in HLO, the form that XLA compiles, by TensorFlow's classes."""
