"""Chooses what a strategy runs on: TensorFlow's TPU or the virtual one; each a `Backend`."""
