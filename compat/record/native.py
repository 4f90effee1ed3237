"""The strategies that TensorFlow of each era ran itself, on CPUs.

TensorFlow's own TPUStrategy needs a TPU; its MirroredStrategy of the same era
has the same members and the same results, with one real copy per replica.
"""

CORES = 2


def contrib(tf):
    """The MirroredStrategy of TensorFlow 1.12's contrib; it prefetches in no fixed order."""
    return tf.contrib.distribute.MirroredStrategy(
        ["/device:CPU:%d" % i for i in range(CORES)],
        prefetch_on_device=False,
        cross_tower_ops=tf.contrib.distribute.ReductionToOneDeviceCrossTowerOps(),
    )


def mirrored(tf):
    """The MirroredStrategy of TensorFlow 1.14 and newer, on logical CPUs."""
    cpu = tf.config.experimental.list_physical_devices("CPU")[0]
    logical = tf.config.experimental.VirtualDeviceConfiguration
    tf.config.experimental.set_virtual_device_configuration(cpu, [logical()] * CORES)
    return tf.distribute.MirroredStrategy(
        ["/device:CPU:%d" % i for i in range(CORES)],
        cross_device_ops=tf.distribute.ReductionToOneDevice(),
    )
