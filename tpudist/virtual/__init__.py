"""The virtual TPU: N cores of a slice on one real device.

A replica function is traced once (:mod:`replicas`), cut into segments where replicas meet
(:mod:`trace`), and each segment is called: once for all replicas (:mod:`vectorize`), or once
per replica, which is what it means. :mod:`variables` and :mod:`input` store and feed what the
replicas have of their own; :mod:`extended` is what a strategy sees of all this.

``TPUDIST_VECTORIZE=0`` leaves ``vectorize`` out: slower, with the same numbers. To change: how
N replicas are computed; what users see belongs to core.

    slice             the described TPU: cores and hosts that exist in name only
    replica           one of N copies of a function; its id is symbolic in a trace
    trace             the graph of a replica function, for all replicas
    merge             where replicas meet (``merge_call``); cross-replica code runs once
    segment           the ops between two merges of a trace
    batched value     the values of a tensor of the trace for all replicas: uniform (the same
                      for all), batch (one tensor, stacked or as rows), replica sum, per-replica
                      tensors (N of them), lists, optionals, ragged (unequal numbers of rows)
    batching rule     what an op becomes when its segment is done for all replicas at once
    serialized ops    ops that each replica does before the next one does them, because
                      replicas share what they change
    stored once       said of a variable with one copy, which all replicas read
    per-replica trace before 2.4 and in graphs: one trace per replica; they meet at merges
"""
