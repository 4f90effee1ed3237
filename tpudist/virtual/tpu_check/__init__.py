"""Reports what a TPU would refuse of a replica function, when the virtual TPU traces it.

Each trace is looked at once (:mod:`causes`), with a table of what TPUs take (:mod:`table`), which
is read from the registry of TensorFlow's own build for TPUs: no TPU, no compiler and no network is
asked. So is each input pipeline of a slice of several hosts. Each cause is one
line on stderr, once in a process (:mod:`reports`). ``TPUDIST_TPU_CHECK`` is ``warn`` (the default),
``error``, which ends the program there, or ``off``.

A false alarm is worse than silence: what the table does not have is not reported. To change: what
TPUs take is written anew by ``python -m compat.make.tpu_ops``; what to type instead is in
:mod:`table`."""
