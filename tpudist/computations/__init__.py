"""The operations below a strategy: ``tf.tpu.replicate``, ``shard``, ``cross_replica_sum``.

Programs of 2018 call them without a strategy, in loops of their own: `virtual_computations`, with
`feeds` between host and core, `cross_shard_optimizer`. To change: what ``tf.tpu`` means on the
virtual TPU.
"""
