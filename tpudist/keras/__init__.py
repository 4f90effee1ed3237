"""Keras' own TPU loops: ``keras_to_tpu_model`` and ``compile(distribute=strategy)``.

`tpu_models` has the model of contrib, `split_models` its copies for the replicas, `whole_batches`
the datasets that Keras' loops read. To change: what Keras of an era did by itself on TPUs.
"""
