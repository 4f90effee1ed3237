"""Names that only TensorFlow 2 has below ``tf``: written by compat/second_generation.py.

A script that uses them through ``import tensorflow as tf`` has no use for ``tf.compat.v1``
in its place, which has none of them. Of a module that is here every name counts.
"""

from __future__ import annotations

_NAMES = {
    "": """
        autodiff dtensor eig eigvals get_current_name_scope inside_function security
    """,
    "config.experimental": "enable_op_determinism",
    "data": "IteratorSpec",
    "data.experimental": """
        at load save
    """,
    "data.experimental.service": """
        DispatchServer WorkerServer
    """,
    "errors": "OperatorNotAllowedInGraphError",
    "feature_column": "shared_embeddings",
    "image": """
        resize_with_pad stateless_random_brightness stateless_random_contrast stateless_random_crop
        stateless_random_flip_left_right stateless_random_flip_up_down stateless_random_hue
        stateless_random_jpeg_quality stateless_random_saturation
        stateless_sample_distorted_bounding_box
    """,
    "linalg": """
        banded_triangular_solve eig eigvals
    """,
    "nn": """
        RNNCellDeviceWrapper RNNCellDropoutWrapper RNNCellResidualWrapper gelu isotonic_regression
    """,
    "profiler": "experimental",
    "random": "set_seed",
    "saved_model": "LoadOptions",
    "saved_model.experimental": """
        Fingerprint read_fingerprint
    """,
    "sparse": """
        map_values sampled_addmm
    """,
    "summary": """
        SummaryWriter create_file_writer create_noop_writer experimental flush graph record_if
        should_record_summaries trace_export trace_off trace_on write
    """,
    "train": """
        CheckpointView TrackableView
    """,
    "types.experimental": """
        AtomicFunction Callable ConcreteFunction GenericFunction PolymorphicFunction
        SupportsTracingProtocol TraceType distributed
    """,
}

SECOND_GENERATION = frozenset(
    (group + "." + word).lstrip(".") for group, words in _NAMES.items() for word in words.split()
)
