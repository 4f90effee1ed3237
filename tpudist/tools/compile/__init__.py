"""``tpudist compile``: the real TPU compiler, without a TPU.

libtpu, which Cloud TPUs run, compiles for any slice on any x86-64 Linux
machine. A replica's step is lowered to HLO by TensorFlow
(:mod:`tpudist.tools.compile.lowering`) as a `program.Program`;
:func:`tpudist.tools.compile.compiler.compile_program` hands it to libtpu in a
process of its own and returns a `report.Report`.

Importing this package imports no TensorFlow. To change: the report
(:mod:`report`); what is read off the compiled program is in :mod:`tpudist.tools.compile.hlo`.
"""
