"""The public programs of :mod:`compat.programs`: where each is, and how it is run.

Arguments may say ``{out}`` (a fresh folder, kept for all steps of a program), ``{data}`` (the
small data of :mod:`compat.programs_data`) and ``{source}`` (the revision's files). Steps are
separated by ``" ;; "``.
"""

import collections

#: repository, date of the revision, files, arguments of each file, {line: what to write for it},
#: the releases that the program itself refuses, the TPU, the packages of its day that it needs,
#: and the folder that its page puts on PYTHONPATH. Without lines it is unmodified.
Program = collections.namedtuple(
    "Program", "repository date files arguments lines not_for tpu needs path"
)


def _program(
    repository, date, files, arguments="", lines=(), not_for="", tpu="virtual:8", needs="", path=""
):
    return Program(repository, date, files, arguments, dict(lines), not_for, tpu, needs, path)


COLAB = "tools/colab/%s.ipynb"
MODELS = "models/experimental/"
TEMPLATES = "tpu/templates/tpu_%s/trainer.py"
BERT = (
    "--vocab_file={data}/vocabulary.txt --bert_config_file={data}/config.json "
    "--output_dir={out}/model --max_seq_length=64 --train_batch_size=16 "
)
STEPS = "--num_train_steps=4 --num_warmup_steps=1 --iterations_per_loop=2 "
PRETRAIN = (
    "--input_file={data}/bert.tfrecord --output_dir={out}/model "
    "--do_train=True --do_eval=True --use_tpu=True --tpu_name=any --train_batch_size=16 "
    "--eval_batch_size=16 --max_seq_length=64 --max_predictions_per_seq=20 "
    "--save_checkpoints_steps=4 --max_eval_steps=1 " + STEPS
)
COLA = (
    BERT + "--task_name=cola --do_train=true --do_eval=true --do_predict=true "
    "--data_dir={data}/cola --eval_batch_size=16 --predict_batch_size=16 "
    "--num_train_epochs=1 --use_tpu=True --tpu_name=any --save_checkpoints_steps=4 "
    "--iterations_per_loop=2"
)
GROVER = (
    "--config_file={data}/grover.json --input_file={data}/grover.tfrecord "
    "--output_dir={out}/model --max_seq_length=32 --train_batch_size=16 --use_tpu=True "
    "--tpu_name=any --save_checkpoints_steps=4 " + STEPS
)


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
}
STEADY_LINES = {
    "MNIST, TPUEstimator": {
        "Dropout(0.4)": "Dropout(0.0)",
        """.cache().repeat().shuffle(
      buffer_size=50000).batch""": ".cache().repeat().batch",
    },
    "BERT, run_classifier": {"keep_prob=0.9": "keep_prob=1.0"},
}
#: Eight cores are not one: their gradients are summed, or a core's moments are of its images.
SUMMED = ("BERT, run_classifier", "ALBERT, pre-training", "ResNet, 2019-12")


def _official(date, file, arguments, needs=""):
    file = "models/official/" + file
    return _program("tensorflow/tpu", date, file, arguments, needs=needs, path="models")


#: Keras checks what it has downloaded of MNIST by its sum; not of Fashion-MNIST.
_MNIST = {"tf.keras.datasets.mnist": "tf.keras.datasets.fashion_mnist"}


def _template(name, rest="--max-steps 20 --save-checkpoints-steps 10", lines=()):
    return _program(
        "GoogleCloudPlatform/cloudml-samples",
        "2019-06-01",
        TEMPLATES % name,
        "--model-dir {out} --use-tpu --tpu any " + rest,
        lines,
    )


def _colab(date, name, lines=(), not_for="", needs=""):
    return _program("tensorflow/tpu", date, COLAB % name, "", lines, not_for, needs=needs)


#: Python 3.8's setuptools imported the module for everybody; later ones do not.
_DISTUTILS = {"import distutils\n": "import distutils.version\n"}


PROGRAMS = {
    # TPUEstimator and keras_to_tpu_model, 2018: data made by the programs themselves.
    "template, TPUEstimator": _template("estimator"),
    "template, CNN": _template("cnn_estimator"),
    "template, FiLM": _template("film_estimator"),
    "template, GAN": _template("gan_estimator", "--save-checkpoints-steps 10"),
    "template, gradient reversal": _template("grl_estimator"),
    "template, LSTM": _template("lstm_estimator"),
    "template, Keras LSTM": _template("lstm_keras", ""),
    "template, tpu.rewrite": _template("rewrite"),
    "template, triplet loss": _template("triplet_loss_estimator", lines=_MNIST),
    # Notebooks of tensorflow/tpu: Keras fit and loops of one's own.
    "sine, Keras, 2019": _colab("2019-02-01", "regression_sine_data_with_keras"),
    "sine, Keras, 2020": _colab(
        "2020-09-01", "regression_sine_data_with_keras", _DISTUTILS, "1.15"
    ),
    "iris, Keras, 2020": _colab(
        "2020-09-01", "classification_iris_data_with_keras", _DISTUTILS, needs="pandas 1"
    ),
    "fashion MNIST, 2018": _colab("2018-10-15", "fashion_mnist"),
    "fashion MNIST, 2019": _colab("2019-08-01", "fashion_mnist", _DISTUTILS),
    "fashion MNIST, 2020": _colab("2020-09-01", "fashion_mnist", _DISTUTILS),
    "custom training loop, 2019": _colab("2019-08-01", "custom_training", _MNIST),
    "custom training loop, 2020": _colab("2020-09-01", "custom_training", _MNIST),
    "Shakespeare, Keras, 2020": _colab("2020-09-01", "shakespeare_with_tpu_and_keras"),
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
    # BERT and what came of it.
    "BERT, pre-training": _program(
        "google-research/bert",
        "2019-06-01",
        "create_pretraining_data.py ;; run_pretraining.py",
        "--input_file=sample_text.txt --output_file={out}/data --vocab_file={data}/vocabulary.txt "
        "--max_seq_length=64 --dupe_factor=10 ;; "
        + PRETRAIN.replace("{data}/bert.tfrecord", "{out}/data")
        + "--bert_config_file={data}/config.json",
    ),
    "BERT, run_classifier": _program(
        "google-research/bert", "2019-06-01", "run_classifier.py", COLA
    ),
    "BERT, run_squad": _program(
        "google-research/bert",
        "2019-06-01",
        "run_squad.py",
        BERT + "--train_file={data}/squad.json --predict_file={data}/squad.json --do_train=True "
        "--do_predict=True --doc_stride=32 --max_query_length=16 --num_train_epochs=1 "
        "--predict_batch_size=16 --use_tpu=True --tpu_name=any --iterations_per_loop=2",
    ),
    "BERT, optimization_test": _program(
        "google-research/bert", "2019-06-01", "optimization_test.py"
    ),
    "BERT, modeling_test": _program("google-research/bert", "2019-06-01", "modeling_test.py"),
    "adapter-BERT, run_classifier": _program(
        "google-research/adapter-bert", "2019-12-01", "run_classifier.py", COLA
    ),
    "ALBERT, pre-training": _program(
        "google-research/albert",
        "2020-06-01",
        "run_pretraining.py",
        PRETRAIN.replace("bert.tfrecord", "albert.tfrecord")
        + "--albert_config_file={data}/config.json",
    ),
    "ALBERT, modeling_test": _program("google-research/albert", "2020-06-01", "modeling_test.py"),
    "RoBERTa zh, pre-training": _program(
        "brightmart/roberta_zh",
        "2020-01-01",
        "run_pretraining.py",
        PRETRAIN + "--bert_config_file={data}/config.json",
    ),
    "ALBERT zh, pre-training": _program(
        "brightmart/albert_zh",
        "2020-01-01",
        "run_pretraining.py",
        PRETRAIN + "--bert_config_file={data}/config.json",
    ),
    "ELECTRA, pre-training": _program(
        "google-research/electra",
        "2020-06-01",
        "build_pretraining_dataset.py ;; run_pretraining.py",
        "--corpus-dir {data}/text --vocab-file {data}/vocabulary.txt "
        "--output-dir {out}/pretrain_tfrecords "
        "--max-seq-length 64 ;; --data-dir {out} --model-name tiny "
        "--hparams {data}/electra.json",
    ),
    "XLNet, pre-training": _program(
        "zihangdai/xlnet",
        "2019-12-16",
        "data_utils.py ;; train.py",
        "--bsz_per_host=16 --num_core_per_host=8 --seq_len=32 --reuse_len=16 "
        "--input_glob={data}/text/*.txt --save_dir={out}/data --num_passes=1 --bi_data=True "
        "--sp_path={data}/spiece.model --mask_alpha=6 --mask_beta=1 --num_predict=5 ;; "
        "--record_info_dir={out}/data/tfrecords --model_dir={out}/model --train_batch_size=16 "
        "--seq_len=32 --reuse_len=16 --mem_len=16 --perm_size=16 --n_layer=2 --d_model=16 "
        "--d_embed=16 --n_head=2 --d_head=8 --d_inner=32 --untie_r=True --mask_alpha=6 "
        "--mask_beta=1 --num_predict=5 --use_tpu=True --tpu=any --num_core_per_host=8 "
        "--train_steps=4 --iterations=2 --save_steps=4 --warmup_steps=1",
        not_for="2.21",
        needs="NumPy 1.23 or older",
    ),
    "Transformer-XL, enwik8": _program(
        "kimiyoung/transformer-xl",
        "2019-05-01",
        "tf/data_utils.py ;; tf/train.py",
        "--data_dir={data}/enwik8 --dataset=enwik8 --tgt_len=16 --per_host_train_bsz=16 "
        "--per_host_valid_bsz=16 --num_core_per_host=8 --num_passes=1 --use_tpu=True ;; "
        "--data_dir={data}/enwik8/tfrecords --record_info_dir={data}/enwik8/tfrecords "
        "--corpus_info_path={data}/enwik8/corpus-info.json --model_dir={out}/model --n_layer=2 "
        "--d_model=16 --d_embed=16 --n_head=2 --d_head=8 --d_inner=32 --learning_rate=0.00025 "
        "--warmup_steps=1 --train_steps=4 --tgt_len=16 --mem_len=16 --train_batch_size=16 "
        "--use_tpu=True --tpu=any --num_host=1 --num_core_per_host=8 --iterations=2 "
        "--save_steps=4",
        not_for="1.15 2.2 2.15 2.21",
        needs="a TPU: it has a TPUEstimator of its own",
    ),
    "Funnel-Transformer, pre-training": _program(
        "laiguokun/Funnel-Transformer",
        "2020-06-08",
        "tensorflow/create_pretrain_data.py ;; tensorflow/pretrain.py",
        "--seq_len=32 --input_glob={data}/text/*.txt --save_dir={out}/data "
        "--tokenizer_path={data}/funnel.txt ;; --tokenizer_path={data}/funnel.txt "
        "--record_dir={out}/data --model_dir={out}/model --train_batch_size=16 "
        "--block_size=1_1 --d_model=16 --d_embed=16 --n_head=2 --d_head=8 --d_inner=32 "
        "--num_core_per_host=8 --seq_len=32 --num_predict=5 --train_steps=4 --iterations=2 "
        "--save_steps=4 --tpu=any",
    ),
    "Grover, lm/train": _program("rowanz/grover", "2020-06-01", "lm/train.py", GROVER),
    "GPT2-ML, train_tpu": _program("imcaspar/gpt2-ml", "2021-02-01", "train/train_tpu.py", GROVER),
    "GPT2 on TPUs": _program(
        "ConnorJL/GPT2", "2019-12-01", "main.py", "--tpu any --model here:gpt2.json"
    ),
    "UDA, text": _program(
        "google-research/uda",
        "2020-03-01",
        "text/main.py",
        "--use_tpu=True --tpu_name=any --do_train=True --do_eval=False --task_name=IMDB "
        "--sup_train_data_dir={data}/uda/sup --unsup_data_dir={data}/uda/unsup "
        "--bert_config_file={data}/config.json --vocab_file={data}/vocabulary.txt "
        "--model_dir={out} --max_seq_length=64 --num_train_steps=4 --num_warmup_steps=1 "
        "--train_batch_size=8 --eval_batch_size=8 --unsup_ratio=0 --iterations_per_loop=2 "
        "--save_checkpoints_num=1 --learning_rate=2e-05",
        needs="Python 2",
    ),
    "BioBERT, run_re": _program("dmis-lab/biobert", "2020-06-01", "run_re.py", COLA),
    "BioBERT, pre-training": _program(
        "dmis-lab/biobert",
        "2020-06-01",
        "run_pretraining.py",
        PRETRAIN + "--bert_config_file={data}/config.json",
    ),
    "BERT for MS MARCO": _program(
        "nyu-dl/dl4marco-bert",
        "2020-06-01",
        "run_msmarco.py",
        "--data_dir={data}/marco --bert_config_file={data}/config.json --output_dir={out} "
        "--max_seq_length=32 --do_train=True --do_eval=False --train_batch_size=16 "
        "--save_checkpoints_steps=4 --use_tpu=True --tpu_name=any --init_checkpoint= " + STEPS,
    ),
    "CLUE, BERT pre-training": _program(
        "CLUEbenchmark/CLUE",
        "2020-12-01",
        "baselines/models/bert/run_pretraining.py",
        PRETRAIN + "--bert_config_file={data}/config.json",
    ),
    "CLUE, ALBERT pre-training": _program(
        "CLUEbenchmark/CLUE",
        "2020-12-01",
        "baselines/models/albert/run_pretraining.py",
        PRETRAIN + "--bert_config_file={data}/config.json",
    ),
    "Mesh TensorFlow, toy model": _program(
        "tensorflow/mesh",
        "2020-06-01",
        "examples/toy_model_tpu.py",
        "--tpu=any --train_steps=4 --iterations=2 --steps_per_checkpoint=4 --model_dir={out}",
    ),
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
    "compare_gan, tpu_ops_test": _program(
        "google/compare_gan",
        "2019-09-20",
        "compare_gan/tpu/tpu_ops_test.py",
        tpu="virtual:2",
        needs="gin-config 0.4",
    ),
    "compare_gan, arch_ops_tpu_test": _program(
        "google/compare_gan",
        "2019-09-20",
        "compare_gan/architectures/arch_ops_tpu_test.py",
        tpu="virtual:2",
        needs="gin-config 0.4",
    ),
}
