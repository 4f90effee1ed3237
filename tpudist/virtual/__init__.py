"""The virtual TPU: N cores of a slice on one real device.

A replica function is traced once (:mod:`program`), cut where replicas meet
(:mod:`segments`), and its segments are called with all replicas' batches batched
(:mod:`batching`). To change: how N replicas are computed; what users see belongs to core.

    slice           the described TPU: cores and hosts that exist in name only
    replica         one of N copies of a function; its id is symbolic in a trace
    trace           the graph of a replica function, for all replicas
    merge           where replicas meet (``merge_call``); cross-replica code runs once
    segment         the ops between two merges of a trace
    batched value   how one tensor of a trace is held for all replicas: uniform
                    (the same), batch (stacked or as rows), total (the sum), each (N tensors),
                    lists (one tensor list with the elements of all), optionals (one of all)
    batching         calling a segment once for all replicas
    batching rule   what an op becomes when it is batched
    apart           said of an op that is done once per replica between batched ones
    island          ops that each replica does before the next one does them, because
                    replicas share what they change
    stored once     said of a variable with one copy, which all replicas read
    lockstep        before 2.4 and in graphs: one trace per replica; they meet at merges
"""
