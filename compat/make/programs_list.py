"""The public programs of :mod:`compat.make.programs`: where each is, and how it is run.

Arguments may say ``{out}`` (a fresh folder, kept for all steps of a program), ``{data}`` (the
small data of :mod:`compat.make.programs_data`) and ``{source}`` (the revision's files). Steps are
separated by ``" ;; "``.
"""

from compat.make.programs_row import program as _program
from compat.make.programs_text import TEXT
from compat.make.programs_tf2 import PROGRAMS2

COLAB = "tools/colab/%s.ipynb"
MODELS = "models/experimental/"
TEMPLATES = "tpu/templates/tpu_%s/trainer.py"
MNIST = (
    "--tpu=any --data_dir={data}/mnist --model_dir={out}/model --batch_size=64 "
    "--train_steps=20 --iterations=5 --eval_steps=2"
)
RESNET = (
    "--tpu=any --model_dir={out}/model --resnet_depth=18 --image_size=32 --num_label_classes=10 "
    "--train_batch_size=16 --eval_batch_size=16 --num_train_images=1600 --num_eval_images=32 "
    "--train_steps=4 --steps_per_eval=4 --iterations_per_loop=2 --log_step_count_steps=2 "
    "--precision=float32 --export_dir={out}/export"
)


#: What makes a program deterministic: no dropout, and training rows that are alike or in order.
STEADY = {
    "MNIST, TPUEstimator": {},
    "ResNet, 2019-12": {"--export_dir={out}/export": "--skip_host_call=true"},
    "BERT, run_classifier": {"{data}/config": "{data}/steady", "{data}/cola": "{data}/cola-steady"},
    "ALBERT, pre-training": {"{data}/config": "{data}/steady", "albert.tf": "albert-steady.tf"},
    "Grover, lm/train": {
        "{data}/grover.json": "{data}/steady.json",
        "grover.tf": "grover-steady.tf",
    },
    "BioBERT, run_re": {"{data}/config": "{data}/steady", "{data}/cola": "{data}/cola-steady"},
    "adapter-BERT, run_classifier": {
        "{data}/config": "{data}/steady",
        "{data}/cola": "{data}/cola-steady",
    },
    "BERT for MS MARCO": {
        "{data}/config": "{data}/steady",
        "{data}/marco": "{data}/marco-steady",
        "--output_dir={out} ": "--output_dir={out}/model ",
    },
}
#: Adam scales a gradient to one that is nothing but rounding, where labels are random.
_SGD = {
    "tf.keras.optimizers.Adam()": "tf.keras.optimizers.SGD(0.01)",
    "tf.optimizers.Adam()": "tf.optimizers.SGD(0.01)",
    "optimizer='adam'": "optimizer='sgd'",
}
STEADY_LINES = {
    "garden, MNIST fit, 2020-05": {
        "Dropout(0.4)": "Dropout(0.0)",
        """.cache().repeat().shuffle(
      buffer_size=50000).batch""": ".cache().repeat().batch",
    },
    **dict.fromkeys(
        ("docs, guide of TPUs, 2020-09", "docs, guide of TPUs, 2021-06"),
        dict(_SGD, **{"dataset.shuffle(10000)": "dataset"}),
    ),
    **dict.fromkeys(
        (
            "docs, custom loop, 2019-10",
            "docs, Keras under a strategy, 2020-09",
            "docs, saving under a strategy, 2020-09",
        ),
        dict(_SGD, **{".shuffle(BUFFER_SIZE).batch": ".batch"}),
    ),
    "autoencoder, Keras, 2020": dict(_SGD, **{"batch_size=128": "batch_size=128, shuffle=False"}),
    **dict.fromkeys(
        ("MNIST Keras, 2019-02", "MNIST Keras, 2019-12", "MNIST with summaries, 2020-09"),
        {
            "Dropout(0.25)": "Dropout(0.0)",
            "Dropout(0.5)": "Dropout(0.0)",
            "batch_size=BATCH_SIZE, verbose=1)": "batch_size=BATCH_SIZE, verbose=0)",
        },
    ),
    "MNIST, TPUEstimator": {
        "Dropout(0.4)": "Dropout(0.0)",
        """.cache().repeat().shuffle(
      buffer_size=50000).batch""": ".cache().repeat().batch",
    },
    "BERT, run_classifier": {"keep_prob=0.9": "keep_prob=1.0"},
    "BioBERT, run_re": {"keep_prob=0.9": "keep_prob=1.0"},
    "adapter-BERT, run_classifier": {"keep_prob=0.9": "keep_prob=1.0"},
    "BERT for MS MARCO": {"keep_prob=0.9": "keep_prob=1.0"},
}
#: A softmax takes a key's bias away: its gradient is rounding, which Adafactor scales to one.
NO_GRADIENT = {"Grover, lm/train": "/key_layer/bias"}
#: Eight cores are not one: their gradients are summed, or a core's moments are of its images.
SUMMED = tuple(name for name in STEADY if name != "MNIST, TPUEstimator")


def _official(date, file, arguments, needs=""):
    file = "models/official/" + file
    return _program("tensorflow/tpu", date, file, arguments, needs=needs, path="models")


#: Keras checks what it has downloaded of MNIST by its sum; not of Fashion-MNIST.
_MNIST = {"tf.keras.datasets.mnist": "tf.keras.datasets.fashion_mnist"}


def _template(name, rest="--max-steps 20 --save-checkpoints-steps 10", lines=(), needs=""):
    return _program(
        "GoogleCloudPlatform/cloudml-samples",
        "2019-06-01",
        TEMPLATES % name,
        "--model-dir {out} --use-tpu --tpu any " + rest,
        lines,
        needs=needs,
    )


def _colab(date, name, lines=(), not_for="", needs=""):
    return _program("tensorflow/tpu", date, COLAB % name, "", lines, not_for, needs=needs)


#: Python 3.8's setuptools imported the module for everybody; later ones do not.
_DISTUTILS = {"import distutils\n": "import distutils.version\n"}


#: Fewer images, and epochs: what is made up has 2048 of the 60000.
_FASHION = dict(
    _DISTUTILS,
    **{
        "epochs=17": "epochs=2",
        "steps_per_epoch=60": "steps_per_epoch=16",
        "validation_freq=17": "validation_freq=2",
    },
)
#: Made-up verses, and thousands of times fewer of them: a TPU's day of 512 LSTM cells.
_SHAKESPEARE = dict(
    _DISTUTILS,
    **{
        "'/content/shakespeare.txt'": "os.environ['HOME'] + '/text/one.txt'",
        "batch_size=1024": "batch_size=16",
        "steps_per_epoch=100": "steps_per_epoch=1",
        "PREDICT_LEN = 250": "PREDICT_LEN = 5",
    },
)

_NO_XLA_CPU = "gin-config 0.4 and no device XLA_CPU:0"


PROGRAMS = {
    # TPUEstimator and keras_to_tpu_model, 2018: data made by the programs themselves.
    "template, TPUEstimator": _template("estimator"),
    "template, CNN": _template("cnn_estimator"),
    "template, FiLM": _template("film_estimator"),
    "template, GAN": _template(
        "gan_estimator", "--save-checkpoints-steps 10", needs="tensorflow_gan 2.1 from 2.2 on"
    ),
    "template, gradient reversal": _template("grl_estimator"),
    "template, LSTM": _template("lstm_estimator"),
    "template, Keras LSTM": _template("lstm_keras", ""),
    "template, tpu.rewrite": _template("rewrite"),
    "template, triplet loss": _template("triplet_loss_estimator", lines=_MNIST),
    # Notebooks of tensorflow/tpu: Keras fit and loops of one's own.
    "sine, Keras, 2019": _colab(
        "2019-02-01",
        "regression_sine_data_with_keras",
        {
            "data_size/2": "data_size//2",
            "epochs=10, steps_per_epoch=512": "epochs=1, steps_per_epoch=64",
        },
    ),
    "sine, Keras, 2020": _colab(
        "2020-09-01", "regression_sine_data_with_keras", _DISTUTILS, "1.15"
    ),
    "iris, Keras, 2020": _colab(
        "2020-09-01", "classification_iris_data_with_keras", _DISTUTILS, needs="pandas 1"
    ),
    "fashion MNIST, 2018": _colab(
        "2018-10-15",
        "fashion_mnist",
        {"epochs=10": "epochs=1", "steps_per_epoch=100": "steps_per_epoch=4"},
    ),
    "fashion MNIST, 2019": _colab("2019-08-01", "fashion_mnist", _FASHION),
    "fashion MNIST, 2020": _colab("2020-09-01", "fashion_mnist", _FASHION, "1.15"),
    "custom training loop, 2019": _colab("2019-08-01", "custom_training", _MNIST),
    "custom training loop, 2020": _colab("2020-09-01", "custom_training", _MNIST),
    # It feeds a vector, which Keras of 2.15 takes for no batch: it fails without a strategy too.
    "Shakespeare, Keras, 2020": _colab(
        "2020-09-01",
        "shakespeare_with_tpu_and_keras",
        _SHAKESPEARE,
        "1.15 2.15 2.21",
        "Python 3.7 or older, whose chr takes an array of one number",
    ),
    # Notebooks of TensorFlow's own pages.
    "docs, migrate TPUEstimator": _program(
        "tensorflow/docs",
        "2021-11-15",
        "site/en/guide/migrate/tpu_estimator.ipynb",
        not_for="1.15 2.2",
    ),
    "docs, custom training of r1": _program(
        "tensorflow/docs",
        "2020-09-15",
        "site/en/r1/tutorials/distribute/tpu_custom_training.ipynb",
        lines=_MNIST,
    ),
    "MNIST Keras, 2019-02": _program(
        "tensorflow/tpu",
        "2019-02-01",
        MODELS + "mnist_keras/mnist.py",
        "--fake_data --model_dir={out}",
    ),
    "MNIST Keras, 2019-12": _program(
        "tensorflow/tpu",
        "2019-12-01",
        MODELS + "mnist_keras/mnist.py",
        "--fake_data --model_dir={out}",
    ),
    # TPUEstimator of tensorflow/tpu: records of random images, and black ones.
    "MNIST, TPUEstimator": _official("2019-12-01", "mnist/mnist_tpu.py", MNIST),
    "ResNet, 2019-06": _official("2019-06-01", "resnet/resnet_main.py", RESNET, "PyYAML 5"),
    "ResNet, 2019-12": _official("2019-12-01", "resnet/resnet_main.py", RESNET),
    "CIFAR Keras, 2019-12": _program(
        "tensorflow/tpu",
        "2019-12-01",
        MODELS + "cifar_keras/cifar_keras.py",
        "--tpu=any --train_file={data}/cifar.tfrecord --batch_size=16 --train_steps=2 "
        "--iterations_per_loop=2 --model_dir={out}",
    ),
    **TEXT,
    # Strategies, 2019 to 2021.
    "SEED RL, utils_test": _program(
        "google-research/seed_rl",
        "2020-09-01",
        "tests/utils_test.py",
        not_for="1.15",
        tpu="virtual:2",
        needs="typing_extensions 4.5 beside 2.15",
    ),
    "SEED RL, agents_test": _program(
        "google-research/seed_rl", "2020-09-01", "tests/agents_test.py"
    ),
    "Sonnet 2, replicator_test": _program(
        "google-deepmind/sonnet",
        "2020-04-01",
        "sonnet/src/distribute/replicator_test.py",
        needs="NumPy 1.23 or older",
    ),
    "Sonnet 2, batch_norm_test": _program(
        "google-deepmind/sonnet",
        "2020-04-01",
        "sonnet/src/distribute/batch_norm_test.py",
        needs="NumPy 1.23 or older",
    ),
    "compare_gan, tpu_random_test": _program(
        "google/compare_gan",
        "2019-09-20",
        "compare_gan/tpu/tpu_random_test.py",
        tpu="virtual:2",
        needs="gin-config 0.4",
    ),
    "compare_gan, modular_gan_tpu_test": _program(
        "google/compare_gan",
        "2019-09-20",
        "compare_gan/gans/modular_gan_tpu_test.py",
        tpu="virtual:2",
        needs="gin-config 0.4",
    ),
    # They count the devices of a Session, of which 1.15 and 2.2 have one for XLA on the CPU.
    "compare_gan, tpu_ops_test": _program(
        "google/compare_gan",
        "2019-09-20",
        "compare_gan/tpu/tpu_ops_test.py",
        tpu="virtual:2",
        not_for="1.15 2.2",
        needs=_NO_XLA_CPU,
    ),
    "compare_gan, arch_ops_tpu_test": _program(
        "google/compare_gan",
        "2019-09-20",
        "compare_gan/architectures/arch_ops_tpu_test.py",
        tpu="virtual:2",
        not_for="1.15 2.2",
        needs=_NO_XLA_CPU,
    ),
    "Minigo, train": _program(
        "tensorflow/minigo",
        "2020-03-01",
        "train.py",
        "{data}/go.tfrecord --use_tpu --tpu_name=any --work_dir={out} --train_batch_size=2 "
        "--conv_width=8 --fc_width=8 --trunk_layers=2 --steps_to_train=4 --iterations_per_loop=2 "
        "--summary_steps=2 --shuffle_buffer_size=64 --filter_amount=1.0",
        needs="google-cloud-bigtable and sgf",
    ),
    "AdaNet, tpu_estimator_test": _program(
        "tensorflow/adanet",
        "2020-10-01",
        "adanet/core/tpu_estimator_test.py",
        not_for="2.21",
        needs="tensorflow_estimator, whose last release is 2.15",
    ),
    **PROGRAMS2,
}
