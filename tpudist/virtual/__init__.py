"""The virtual TPU: N cores of a slice on one real device.

A replica function is traced once (:mod:`program`), cut where replicas meet
(:mod:`segments`), and its segments are called with all replicas' batches joined
(:mod:`joining`). To change: how N replicas are computed; what users see is core's.

    slice           cores and hosts of a described TPU; they exist in name only
    replica         one of N copies of a function; its id is symbolic in a trace
    trace           the graph of a replica function, for all replicas
    merge           where replicas meet (``merge_call``); cross-replica code runs once
    segment         what stands between two merges of a trace
    batched value   how one tensor of a trace is held for all replicas: uniform
                    (the same), batch (stacked or as rows), total (only the sum), each
    joining         calling a segment once for all replicas
    batching rule   what an op becomes when it is joined
    stored once     a variable of which all replicas read one copy
    lockstep        before 2.4 and in graphs: one trace a replica, meeting at merges
"""
