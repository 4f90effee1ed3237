"""Keras' own TPU loops: ``keras_to_tpu_model`` and ``compile(distribute=strategy)``."""
