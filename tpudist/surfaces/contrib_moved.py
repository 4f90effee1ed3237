"""Names of contrib that TensorFlow moved as they were: the same object, or the same arguments.

Found in TensorFlow 1.15, where both names are there; below ``tf.compat.v1``. Names of
contrib that are not here have no successor that takes the same arguments: what to
type instead is in `tpudist.surfaces.gone`.
"""

from __future__ import annotations


def _moved(old: str, new: str, names: str) -> dict[str, str]:
    return {"%s.%s" % (old, name): (new + "." + name).lstrip(".") for name in names.split()}


MOVED = {
    **_moved("contrib.checkpoint", "train", "CheckpointManager"),
    **_moved(
        "contrib.cluster_resolver",
        "distribute.cluster_resolver",
        """ClusterResolver GCEClusterResolver KubernetesClusterResolver SimpleClusterResolver
        SlurmClusterResolver TFConfigClusterResolver""",
    ),
    **_moved("contrib.compiler.xla", "xla.experimental", "compile"),
    **_moved(
        "contrib.data",
        "data.experimental",
        """AUTOTUNE Counter Optional bucket_by_sequence_length choose_from_datasets
        copy_to_device dense_to_sparse_batch enumerate_dataset get_next_as_optional
        get_single_element group_by_reducer group_by_window ignore_errors
        make_batched_features_dataset make_csv_dataset make_saveable_from_iterator
        map_and_batch parallel_interleave parse_example_dataset prefetch_to_device
        rejection_resample sample_from_datasets scan shuffle_and_repeat unbatch unique""",
    ),
    **_moved("contrib.distribute", "distribute", "ReplicaContext"),
    **_moved(
        "contrib.distributions",
        "distributions",
        """Bernoulli Beta Categorical Dirichlet DirichletMultinomial Distribution Exponential
        Gamma Laplace Multinomial Normal RegisterKL ReparameterizationType StudentT Uniform
        kl_divergence""",
    ),
    **_moved("contrib.eager", "train", "Checkpoint"),
    **_moved(
        "contrib.eager", "", "GradientTape custom_gradient enable_eager_execution executing_eagerly"
    ),
    **_moved("contrib.framework", "", "argsort is_tensor sort"),
    **_moved(
        "contrib.framework",
        "train",
        """assert_global_step create_global_step get_global_step get_or_create_global_step""",
    ),
    **_moved(
        "contrib.framework.nest",
        "nest",
        "assert_same_structure flatten is_nested map_structure pack_sequence_as",
    ),
    **_moved("contrib.losses", "losses", "add_loss get_losses get_regularization_losses"),
    **_moved(
        "contrib.rnn",
        "nn.rnn_cell",
        """BasicLSTMCell BasicRNNCell DeviceWrapper DropoutWrapper GRUCell LSTMCell
        LSTMStateTuple MultiRNNCell RNNCell ResidualWrapper""",
    ),
    **_moved("contrib.rnn", "nn", "static_bidirectional_rnn static_rnn static_state_saving_rnn"),
    **_moved(
        "contrib.signal",
        "signal",
        """frame hamming_window hann_window inverse_stft inverse_stft_window_fn
        linear_to_mel_weight_matrix mfccs_from_log_mel_spectrograms overlap_and_add stft""",
    ),
    **_moved("contrib.stateless", "random", "stateless_multinomial stateless_truncated_normal"),
    **_moved("contrib.tpu", "tpu", "core outside_compilation"),
    **_moved("contrib.training", "train", "checkpoints_iterator"),
    **_moved("contrib.util", "", "make_ndarray make_tensor_proto"),
    "contrib.cluster_resolver.UnionClusterResolver": "distribute.cluster_resolver.UnionResolver",
    "contrib.compiler.jit.experimental_jit_scope": "xla.experimental.jit_scope",
    "contrib.eager.connect_to_remote_host": "config.experimental_connect_to_host",
    "contrib.eager.in_eager_mode": "executing_eagerly",
    "contrib.eager.py_func": "py_function",
    "contrib.stateless.stateless_random_normal": "random.stateless_normal",
    "contrib.stateless.stateless_random_uniform": "random.stateless_uniform",
    "contrib.util.constant_value": "get_static_value",
}
