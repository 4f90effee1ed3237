"""Cloud TPUs by name: their states, what keeps one from use, what to type. No TensorFlow.

What asks the TPU API is the client that TensorFlow's own resolver uses (see
:mod:`tpudist.tfcompat.tpu_client`); here its answers and failures are read. To change:
a state's row in :mod:`nodes`, or a rule of :mod:`failures`, with a case in
tests/cloud/test_resolver.py.
"""
