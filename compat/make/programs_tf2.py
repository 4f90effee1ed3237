"""The public programs of :mod:`compat.make.programs_list` of TensorFlow 2: strategies and loops."""

from compat.make.programs_row import program as _program

GARDEN = "official/"
#: Fewer steps and epochs, and smaller convolutions.
_FEW = {
    "60000 // batch_size": "2000 // batch_size",
    "10000 // batch_size": "200 // batch_size",
    "epochs=5": "epochs=2",
    "range(5)": "range(2)",
    "Conv2D(256, ": "Conv2D(16, ",
}


def _garden(date, file, arguments, needs=""):
    return _program(
        "tensorflow/models", date, GARDEN + file, arguments, not_for="1.15", needs=needs
    )


def _guide(date, name, lines=(), not_for="1.15", needs=""):
    path = "site/en/%s.ipynb" % name
    return _program("tensorflow/docs", date, path, "", lines, not_for, needs=needs)


#: Flags of the model garden have a string for a list, which newer absl-py refuses.
_ADDONS = "absl-py 1, gin-config 0.5, tensorflow_addons and tensorflow_hub"
_PRUNING = "absl-py 1 and tensorflow_model_optimization"
BERT = (
    "--mode=train_and_eval --input_meta_data_path={data}/classes.json "
    "--train_data_path={data}/classes.tfrecord --eval_data_path={data}/classes.tfrecord "
    "--bert_config_file={data}/config.json --model_dir={out} --train_batch_size=16 "
    "--eval_batch_size=16 --num_train_epochs=1 --steps_per_loop=2 --distribution_strategy=tpu "
    "--tpu=any "
)
RESNET = (
    "--distribution_strategy=tpu --tpu=any --use_synthetic_data --batch_size=16 --train_steps=2 "
    "--steps_per_loop=2 --skip_eval --train_epochs=1 --model_dir={out} --log_steps=1 "
)
#: Python 3.9 and newer spell `Optional` otherwise than the program expects of its arguments.
_PARSED = "data_args, training_args = parser.parse_args_into_dataclasses()"
PROGRAMS2 = {
    # The model garden: Keras' fit and custom training loops.
    "garden, BERT loop, 2020-05": _garden(
        "2020-05-15", "nlp/bert/run_classifier.py", BERT, _ADDONS
    ),
    "garden, BERT fit, 2020-12": _garden(
        "2020-12-01", "nlp/bert/run_classifier.py", BERT + "--use_keras_compile_fit=true", _ADDONS
    ),
    "garden, BERT pre-training, 2020-05": _garden(
        "2020-05-15",
        "nlp/bert/run_pretraining.py",
        "--input_files={data}/bert.tfrecord --model_dir={out} "
        "--bert_config_file={data}/config.json --train_batch_size=16 --max_seq_length=64 "
        "--max_predictions_per_seq=20 --num_train_epochs=1 --num_steps_per_epoch=4 "
        "--steps_per_loop=2 --warmup_steps=1 --distribution_strategy=tpu --tpu=any",
        _ADDONS,
    ),
    "garden, MNIST fit, 2020-05": _garden(
        "2020-05-15",
        "vision/image_classification/mnist_main.py",
        "--distribution_strategy=tpu --tpu=any --data_dir={data}/tensorflow_datasets "
        "--model_dir={out} --batch_size=128 --train_epochs=1",
        _PRUNING,
    ),
    "garden, ResNet loop, 2020-01": _garden(
        "2020-01-15", "vision/image_classification/resnet_ctl_imagenet_main.py", RESNET, _PRUNING
    ),
    "garden, ResNet loop, 2020-12": _garden(
        "2020-12-01",
        "vision/image_classification/resnet/resnet_ctl_imagenet_main.py",
        RESNET,
        _PRUNING,
    ),
    "garden, ResNet fit, 2020-01": _garden(
        "2020-01-15", "vision/image_classification/resnet_imagenet_main.py", RESNET, _PRUNING
    ),
    "garden, XLNet loop, 2020-05": _garden(
        "2020-05-15",
        "nlp/xlnet/run_classifier.py",
        "--strategy_type=tpu --tpu=any --model_dir={out} --train_batch_size=16 "
        "--test_batch_size=16 --seq_len=64 --train_tfrecord_path={data}/xlnet-classes.tfrecord "
        "--test_tfrecord_path={data}/xlnet-classes.tfrecord --test_data_size=32 --train_steps=4 "
        "--iterations=2 --save_steps=4 --n_layer=2 --d_model=16 --d_embed=16 --n_head=2 "
        "--d_head=8 --d_inner=32 --n_token=512 --untie_r --learning_rate=0.001",
        _ADDONS,
    ),
    # Notebooks of TensorFlow's guide.
    "docs, guide of TPUs, 2020-03": _guide("2020-03-15", "guide/tpu", {"epochs=5": "epochs=2"}),
    "docs, guide of TPUs, 2020-09": _guide("2020-09-15", "guide/tpu", _FEW, "1.15 2.2"),
    "docs, guide of TPUs, 2021-06": _guide("2021-06-15", "guide/tpu", _FEW, "1.15 2.2"),
    "docs, custom loop, 2019-10": _guide("2019-10-15", "tutorials/distribute/custom_training"),
    "docs, Keras under a strategy, 2020-09": _guide("2020-09-15", "tutorials/distribute/keras"),
    "docs, distributed input, 2020-09": _guide(
        "2020-09-15", "tutorials/distribute/input", not_for="1.15 2.2"
    ),
    "docs, saving under a strategy, 2020-09": _guide(
        "2020-09-15",
        "tutorials/distribute/save_and_load",
        {
            '"/tmp/': 'os.environ["HOME"] + "/',
            "import tensorflow_datasets": "import os, tensorflow_datasets",
        },
        not_for="1.15 2.2",
        needs="tensorflow_hub",
    ),
    # tensorflow/tpu.
    "autoencoder, Keras, 2020": _program(
        "tensorflow/tpu",
        "2020-12-01",
        "tools/colab/autoencoder_embeddings.ipynb",
        "",
        {
            "tf.keras.datasets.mnist": "tf.keras.datasets.fashion_mnist",
            "reshape(60000,": "reshape(2048,",
            "reshape(10000,": "reshape(2048,",
            "steps_per_epoch=468": "steps_per_epoch=16",
        },
        not_for="1.15",
    ),
    "MNIST with summaries, 2020-09": _program(
        "tensorflow/tpu",
        "2020-09-01",
        "models/experimental/mnist_keras/mnist_tf2_with_summary.py",
        "--tpu=any --model_dir={out}",
        {"tf.keras.datasets.mnist": "tf.keras.datasets.fashion_mnist", "EPOCHS = 15": "EPOCHS = 2"},
        not_for="1.15",
    ),
    # Others.
    "SEED RL, normalizer_test": _program(
        "google-research/seed_rl",
        "2020-09-01",
        "tests/normalizer_test.py",
        not_for="1.15",
        tpu="virtual:2",
    ),
    "Transformers, run_tf_ner, 2020-05": _program(
        "huggingface/transformers",
        "2020-05-27",
        "examples/token-classification/run_tf_ner.py",
        "--data_dir {data}/ner --model_name_or_path {data}/hf --output_dir {out} "
        "--max_seq_length 32 --do_train --do_eval --do_predict --overwrite_output_dir "
        "--max_steps 4 --per_device_train_batch_size 2 --per_device_eval_batch_size 2 "
        "--tpu_name any --logging_steps 1 --overwrite_cache",
        not_for="1.15",
        needs="Python 3.8 or older, which its arguments are parsed by",
        path="src",
    ),
    "Transformers, run_tf_glue, 2020-05": _program(
        "huggingface/transformers",
        "2020-05-27",
        "examples/text-classification/run_tf_glue.py",
        "--task_name sst-2 --model_name_or_path {data}/hf --output_dir {out}/model "
        "--max_seq_length 32 --do_train --do_eval --num_train_epochs 1 "
        "--per_device_train_batch_size 2 --per_device_eval_batch_size 2 --tpu_name any "
        "--logging_steps 1",
        {_PARSED: _PARSED + "\n    training_args.logging_dir = training_args.output_dir"},
        not_for="1.15",
        path="src",
    ),
    "Sonnet 2, conformance, distribute_test": _program(
        "google-deepmind/sonnet",
        "2020-12-01",
        "sonnet/src/conformance/distribute_test.py",
        not_for="1.15",
    ),
    "TF-GAN, tpu_gan_estimator_test": _program(
        "tensorflow/gan", "2020-06-01", "tensorflow_gan/python/estimator/tpu_gan_estimator_test.py"
    ),
    "TAPAS, pre-training model": _program(
        "google-research/tapas",
        "2020-10-01",
        "tapas/models/tapas_pretraining_model_test.py",
        not_for="1.15",
    ),
    "SimCLR, tf2": _program(
        "google-research/simclr",
        "2021-06-01",
        "tf2/run.py",
        "--mode=train_then_eval --dataset=cifar10 --eval_split=test --image_size=32 "
        "--resnet_depth=18 --train_batch_size=64 --eval_batch_size=64 --train_steps=2 "
        "--checkpoint_steps=2 --eval_steps=1 --use_blur=False --color_jitter_strength=0.5 "
        "--use_tpu=True --tpu_name=any --model_dir={out}/model",
        not_for="1.15 2.2",
    ),
    "Uncertainty Baselines, CIFAR": _program(
        "google/uncertainty-baselines",
        "2020-10-01",
        "baselines/cifar/deterministic.py",
        "--tpu=any --per_core_batch_size=8 --train_epochs=1 --corruptions_interval=-1 "
        "--checkpoint_interval=1 --output_dir={out}",
        {"depth=28": "depth=10", "width_multiplier=10": "width_multiplier=1"},
        not_for="1.15",
        needs="uncertainty_metrics 0.0.81 and edward2",
    ),
    "EfficientDet, Keras fit": _program(
        "google/automl",
        "2020-10-01",
        "efficientdet/keras/train.py",
        "--strategy=tpu --tpu=any --model_dir={out} --model_name=efficientdet-d0 --batch_size=8 "
        "--training_file_pattern={data}/objects.tfrecord --num_examples_per_epoch=16 "
        "--validation_file_pattern={data}/objects.tfrecord --eval_samples=8 --num_epochs=1 "
        "--hparams=image_size=128,num_classes=2,mixed_precision=false",
        not_for="1.15 2.2",
        needs="tensorflow_addons and pycocotools",
        path="efficientdet",
    ),
}
