"""Compiles a training step with the real TPU compiler, without a TPU.

libtpu, which Cloud TPUs run, compiles for any slice on any x86-64 Linux machine. TensorFlow
lowers one replica's step to HLO, libtpu compiles that in a process of its own, and a report
says how much memory the program takes and where its time goes.

* :mod:`step`: ``tpudist.compile_step``.
* :mod:`command`: ``tpudist run --compile``; :mod:`options` are its options.
* :mod:`lowering`: traces a step and lowers it to HLO, as a `program.Program`.
* :mod:`compiler`: compiles that with libtpu, and builds a `report.Report`.
* :mod:`hlo`: reads and rewrites programs in HLO.
* :mod:`pages`: formats a report for the terminal.

Importing this package imports no TensorFlow. To change: a new line of the report is a field in
:mod:`report`, read off the compiled program in :mod:`hlo`.
"""
