"""The operations below a strategy: ``tf.tpu.replicate``, ``shard``, ``cross_replica_sum``."""
