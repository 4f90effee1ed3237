"""Reports what a TPU would refuse of a replica function, when the virtual TPU traces it.

Each trace, and each input pipeline of a slice of several hosts, is looked at once (:mod:`causes`),
with a table of what TPUs take (:mod:`table`); ``python -m compat.make.tpu_ops`` reads the
registry of TensorFlow's build for TPUs. Each cause is one line on stderr (:mod:`reports`).
``TPUDIST_TPU_CHECK`` is ``warn`` (the default), ``error``, which ends the program, or ``off``. A
false alarm is worse than silence: what the table does not have is not reported.
"""
