"""What `compat/make/changed_names.py` cannot read from signatures: what names and defaults mean.

Each fact was tried on TensorFlow 1.15 or ``tf.compat.v1`` beside the newest release, or is in the
code of both.
"""

from __future__ import annotations

_BRANCHES = "branches that return a list of one give its element in TensorFlow 1"
_DRAWS = "Keras's initializer draws the same numbers each time it is called; TensorFlow 1's others"
_SUMMARY = "TensorFlow 2 writes at a step to the default writer and returns no summary to merge"
_SHARDS = "rows of several shards are found by 'mod' in TensorFlow 1, by 'div' in TensorFlow 2"
_SEED = "the numbers drawn by one seed are others"

#: {name: (marks, the fact)}. ``always``: the name does something else whatever is passed;
#: ``given:X``: when X is passed; ``left-out:X``: when X is not.
MEANINGS: dict[str, tuple[str, str]] = {
    "case": ("always", _BRANCHES),
    "cond": ("always", _BRANCHES),
    "image.extract_glimpse": (
        "given:centered given:normalized",
        "offsets in pixels or from the corner are counted otherwise",
    ),
    "image.resize": ("always", "TensorFlow 2 takes pixels at their centers"),
    **{
        "initializers." + name: ("always", _DRAWS)
        for name in """glorot_normal glorot_uniform he_normal he_uniform lecun_normal lecun_uniform
        orthogonal random_normal random_uniform truncated_normal variance_scaling""".split()
    },
    "losses.mean_squared_error": ("always", "Keras's gives a loss for each row, not their mean"),
    "metrics.mean_absolute_error": ("always", "Keras's is a plain function without an update op"),
    "metrics.mean_squared_error": ("always", "Keras's is a plain function without an update op"),
    "nn.ctc_beam_search_decoder": ("always", "TensorFlow 1 merges repeated classes unless told"),
    "nn.ctc_loss": ("always", "the blank is the last class in TensorFlow 1, class 0 in 2"),
    "nn.embedding_lookup": ("always", _SHARDS),
    "nn.embedding_lookup_sparse": ("always", _SHARDS),
    "nn.fractional_avg_pool": ("given:seed", "a seed makes TensorFlow 2 deterministic"),
    "nn.fractional_max_pool": ("given:seed", "a seed makes TensorFlow 2 deterministic"),
    "nn.nce_loss": ("always", _SHARDS),
    "nn.sampled_softmax_loss": ("always", _SHARDS),
    "nn.softmax_cross_entropy_with_logits": (
        "always",
        "TensorFlow 2 has gradients of the labels, TensorFlow 1 none",
    ),
    "random_normal_initializer": ("given:seed", _SEED),
    "random_uniform_initializer": ("given:seed", _SEED),
    "strings.split": ("always", "TensorFlow 1 gives a SparseTensor, TensorFlow 2 a RaggedTensor"),
    **{
        "summary." + name: ("always", _SUMMARY)
        for name in "audio histogram image scalar text".split()
    },
    "where": ("given:x given:y", "TensorFlow 2 broadcasts; a vector selects rows in TensorFlow 1"),
    "while_loop": ("always", "one loop variable comes back alone in TensorFlow 1, as passed in 2"),
}

#: {reason: names whose objects differ and which mean the same by the same arguments}.
EQUAL: dict[str, str] = {
    "a Dataset of its own generation, by the same arguments": """
        data.Dataset.apply data.Dataset.batch data.Dataset.cache data.Dataset.concatenate
        data.Dataset.filter data.Dataset.flat_map data.Dataset.from_tensor_slices
        data.Dataset.from_tensors data.Dataset.interleave data.Dataset.list_files data.Dataset.map
        data.Dataset.padded_batch data.Dataset.prefetch data.Dataset.range data.Dataset.repeat
        data.Dataset.shard data.Dataset.shuffle data.Dataset.skip data.Dataset.take
        data.Dataset.unbatch data.Dataset.window data.Dataset.with_options data.Dataset.zip
        data.FixedLengthRecordDataset data.TFRecordDataset data.TextLineDataset
        data.experimental.Counter data.experimental.RandomDataset data.experimental.SqlDataset
        data.experimental.choose_from_datasets data.experimental.make_batched_features_dataset
        data.experimental.make_csv_dataset data.experimental.sample_from_datasets
        """,
    "a strategy of its own generation: the rows of tpudist.surfaces say what its members are": """
        distribute.MirroredStrategy distribute.OneDeviceStrategy
        distribute.OneDeviceStrategy.experimental_distribute_dataset
        distribute.OneDeviceStrategy.experimental_local_results distribute.OneDeviceStrategy.scope
        distribute.ReplicaContext distribute.Strategy distribute.Strategy.experimental_run
        distribute.Strategy.make_dataset_iterator distribute.Strategy.make_input_fn_iterator
        distribute.Strategy.update_config_proto distribute.StrategyExtended
        distribute.experimental.CentralStorageStrategy
        distribute.experimental.CentralStorageStrategy.experimental_distribute_dataset
        distribute.experimental.CentralStorageStrategy.experimental_local_results
        distribute.experimental.MultiWorkerMirroredStrategy
        distribute.experimental.ParameterServerStrategy.experimental_distribute_dataset
        distribute.experimental.ParameterServerStrategy.scope
        """,
    "an initializer's settings, without the dtype of TensorFlow 1": """
        constant_initializer.from_config constant_initializer.get_config
        initializers.constant.from_config initializers.constant.get_config
        initializers.glorot_normal.get_config initializers.glorot_uniform.get_config
        initializers.orthogonal.get_config initializers.random_normal.get_config
        initializers.random_uniform.get_config initializers.truncated_normal.get_config
        initializers.variance_scaling.get_config ones_initializer.from_config
        ones_initializer.get_config random_normal_initializer.from_config
        random_normal_initializer.get_config random_uniform_initializer.from_config
        random_uniform_initializer.get_config zeros_initializer.from_config
        zeros_initializer.get_config
        """,
    "one function under two signatures: what TensorFlow 2 only warns of, or names otherwise": """
        debugging.assert_integer debugging.assert_shapes debugging.assert_type
        executing_eagerly foldl foldr map_fn math.scalar_mul nn.sigmoid_cross_entropy_with_logits
        saved_model.contains_saved_model scalar_mul scan variable_creator_scope
        """,
    "the attributes of what it makes differ, not how it is made": """
        DeviceSpec DeviceSpec.parse_from_string DeviceSpec.to_string Variable.from_proto
        Variable.initialized_value lite.TFLiteConverter.convert lookup.StaticHashTable
        lookup.StaticVocabularyTable
        """,
    "it takes the feature columns of its own generation": """
        feature_column.make_parse_example_spec
        """,
    "nobody calls it: constants, or a base class": """
        VariableAggregation data.Dataset data.Iterator image.ResizeMethod losses.Reduction
        losses.Reduction.all losses.Reduction.validate
        """,
    "1.15 does not have it": """
        data.Iterator.get_next_as_optional
        distribute.OneDeviceStrategy.distribute_datasets_from_function
        distribute.OneDeviceStrategy.run distribute.experimental.CentralStorageStrategy.run
        distribute.experimental.ParameterServerStrategy.distribute_datasets_from_function
        distribute.experimental.ParameterServerStrategy.run distribute.experimental.TPUStrategy.run
        """,
}

#: {name: parameters with another name and the same meaning} that ``tf_upgrade_v2`` does not have.
RENAMED = {
    "OptionalSpec": "value_structure=element_spec",
    "config.experimental.set_virtual_device_configuration": "virtual_devices=logical_devices",
    "device": "device_name_or_function=device_name",
    "random.experimental.create_rng_state": "algorithm=alg",
    "strings.split": "source=input",
    "summary.audio": "tensor=data",
    "summary.histogram": "values=data",
    "summary.image": "tensor=data",
    "summary.scalar": "tensor=data",
    "summary.text": "tensor=data",
}

#: (parameter, default in TensorFlow 1, in TensorFlow 2) that say the same thing.
EQUAL_DEFAULTS = frozenset(
    [
        ("block_length", "1", "None"),
        ("cycle_length", "-1", "None"),
        ("data_format", "'NHWC'", "None"),
        ("data_format", "None", "'NWC'"),
        ("dilations", "[1,1,1,1,1]", "None"),
        ("dilations", "[1,1,1,1]", "None"),
        ("expand_nonconcat_dims", "None", "False"),
        ("experimental_relax_shapes", "False", "None"),
        ("keepdims", "None", "False"),
        ("method", "0", "'bilinear'"),
        ("out_type", "int32", "None"),
        ("output_dtype", "None", "int64"),
        ("reader", "TFRecordDatasetV1", "None"),
        ("reshuffle_each_iteration", "None", "True"),
        ("seed", "None", "0"),
        ("threshold", "None", "0"),
    ]
)
