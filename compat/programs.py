"""Runs real training programs of public code bases under ``tpudist run``, each release in turn.

    python -m compat.programs --python 1.15=/path/to/python --python 2.15=... [--only NAME]
        [--mirrors FOLDER] [--work FOLDER]

Fetches each repository (``git clone`` from GitHub, or ``FOLDER/owner+name/repo``), takes the
program's revision, and runs the file as it is on a virtual TPU of eight cores. A notebook is
run as the Python of its code cells, without lines for the shell. Data sets that the programs
download are not needed: Fashion MNIST is a small random one of the same shapes, where Keras
looks for its cache. Results go into ``compat/programs.json``, their page is
``compat/PROGRAMS.md``. Nothing of the programs is kept.
"""

import argparse
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
RESULTS = os.path.join(HERE, "programs.json")
PAGE = os.path.join(HERE, "PROGRAMS.md")
LIMIT = 400

#: name: (repository, date of the revision, file, arguments).
COLAB = "tools/colab/%s.ipynb"
MODELS = "models/experimental/"
PROGRAMS = {
    "sine, Keras, 2019": (
        "tensorflow/tpu",
        "2019-02-01",
        COLAB % "regression_sine_data_with_keras",
        "",
    ),
    "sine, Keras, 2020": (
        "tensorflow/tpu",
        "2020-09-01",
        COLAB % "regression_sine_data_with_keras",
        "",
    ),
    "fashion MNIST, 2018": ("tensorflow/tpu", "2018-10-15", COLAB % "fashion_mnist", ""),
    "fashion MNIST, 2019": ("tensorflow/tpu", "2019-08-01", COLAB % "fashion_mnist", ""),
    "fashion MNIST, 2020": ("tensorflow/tpu", "2020-09-01", COLAB % "fashion_mnist", ""),
    "custom training loop, 2019": ("tensorflow/tpu", "2019-08-01", COLAB % "custom_training", ""),
    "custom training loop, 2020": ("tensorflow/tpu", "2020-09-01", COLAB % "custom_training", ""),
    "MNIST Keras, 2019-02": (
        "tensorflow/tpu",
        "2019-02-01",
        MODELS + "mnist_keras/mnist.py",
        "--fake_data --epochs=1 --model_dir={out}",
    ),
    "MNIST Keras, 2019-12": (
        "tensorflow/tpu",
        "2019-12-01",
        MODELS + "mnist_keras/mnist.py",
        "--fake_data --epochs=1 --model_dir={out}",
    ),
    "CIFAR Keras, 2019-12": (
        "tensorflow/tpu",
        "2019-12-01",
        MODELS + "cifar_keras/cifar_keras.py",
        "--tpu=any",
    ),
    "BERT, pre-training data": (
        "google-research/bert",
        "2019-06-01",
        "create_pretraining_data.py",
        "--input_file=sample_text.txt --output_file={out}/data "
        "--vocab_file={vocabulary} --max_seq_length=64",
    ),
    "BERT, pre-training on a TPU": (
        "google-research/bert",
        "2019-06-01",
        "create_pretraining_data.py ;; run_pretraining.py",
        "--input_file=sample_text.txt --output_file={out}/data --vocab_file={vocabulary} "
        "--max_seq_length=64 --dupe_factor=10 ;; "
        "--input_file={out}/data --output_dir={out}/model --bert_config_file={config} "
        "--do_train=True --do_eval=True --use_tpu=True --tpu_name=any --train_batch_size=16 "
        "--eval_batch_size=16 --max_seq_length=64 --num_train_steps=4 --num_warmup_steps=1 "
        "--iterations_per_loop=2 --save_checkpoints_steps=4 --max_eval_steps=1",
    ),
    "BERT, optimization_test": ("google-research/bert", "2019-06-01", "optimization_test.py", ""),
    "BERT, modeling_test": ("google-research/bert", "2019-06-01", "modeling_test.py", ""),
    "BERT, tokenization_test": ("google-research/bert", "2019-06-01", "tokenization_test.py", ""),
    "ALBERT, modeling_test": ("google-research/albert", "2019-12-20", "modeling_test.py", ""),
    "SimCLR, objective and LARS": ("google-research/simclr", "2020-06-01", "lars_optimizer.py", ""),
    "rinokeras, attention": (
        "CannyLab/rinokeras",
        "2019-08-01",
        "rinokeras/testing/common/test_attention.py",
        "",
    ),
}


def fetch(repository, date, path, mirrors, work):
    """(folder with the files of a revision, the revision).

    Of tensorflow/tpu, which is large, only the program's folder or notebook.
    """
    git = os.path.join(mirrors or work, repository.replace("/", "+"), "repo")
    if not os.path.isdir(git):
        url = "https://github.com/%s.git" % repository
        subprocess.run(["git", "clone", "-q", "--bare", url, git], check=True)
    command = ["git", "--git-dir", git]
    revision = subprocess.check_output(
        command + ["rev-list", "-1", "--before=" + date, "HEAD"], universal_newlines=True
    ).strip()
    folder = os.path.join(work, "src", repository.replace("/", "+"), revision[:10])
    part = path if path.endswith(".ipynb") else os.path.dirname(path)
    parts = [part] if repository == "tensorflow/tpu" else []
    if not os.path.exists(os.path.join(folder, path)):
        archive = subprocess.check_output(command + ["archive", revision, "--"] + parts)
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            files.extractall(folder)
    return folder, revision


def script(folder, path, work):
    """The file to run: the program's own, or the code cells of its notebook."""
    if not path.endswith(".ipynb"):
        return os.path.join(folder, path)
    with open(os.path.join(folder, path), encoding="utf-8") as file:
        cells = [cell["source"] for cell in json.load(file)["cells"] if cell["cell_type"] == "code"]
    lines = "\n".join("".join(cell) + "\n" for cell in cells).split("\n")
    kept = [line for line in lines if not line.lstrip().startswith(("!", "%"))]
    place = os.path.join(work, os.path.basename(folder) + "_" + os.path.basename(path)[:-6] + ".py")
    with open(place, "w", encoding="utf-8") as file:
        file.write("\n".join(kept))
    return place


def data(work):
    """A folder for KERAS_HOME with small random MNISTs, and a small vocabulary."""
    import gzip

    import numpy as np

    random = np.random.RandomState(0)
    home = os.path.join(work, ".keras")
    folder = os.path.join(home, "datasets", "fashion-mnist")
    os.makedirs(folder, exist_ok=True)
    arrays = {}
    for part, count in (("train", 60000), ("test", 10000)):
        arrays["x_" + part] = random.randint(0, 256, (count, 28, 28)).astype("uint8")
        arrays["y_" + part] = random.randint(0, 10, count).astype("uint8")
    np.savez(os.path.join(home, "datasets", "mnist.npz"), **arrays)
    for part, spelled in (("train", "train"), ("test", "t10k")):
        for kind, values, head in (
            ("images-idx3", arrays["x_" + part], 16),
            ("labels-idx1", arrays["y_" + part], 8),
        ):
            with gzip.open(os.path.join(folder, "%s-%s-ubyte.gz" % (spelled, kind)), "wb") as file:
                file.write(b"\0" * head + values.tobytes())
    with open(os.path.join(work, "vocabulary.txt"), "w") as file:
        letters = list("abcdefghijklmnopqrstuvwxyz0123456789,.;:!?-'\"()")
        file.write(
            "\n".join(
                ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
                + letters
                + ["##" + letter for letter in letters]
            )
        )
    config = dict(
        vocab_size=512,
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
    )
    with open(os.path.join(work, "config.json"), "w") as file:
        json.dump(config, file)
    return home


def run(python, name, mirrors, work):
    """A result: {"revision", "status", "said"}."""
    repository, date, paths, arguments = PROGRAMS[name]
    steps = list(zip(paths.split(" ;; "), arguments.split(" ;; ")))
    folder, revision = fetch(repository, date, steps[0][0], mirrors, work)
    with tempfile.TemporaryDirectory(dir=work) as out:
        for path, given in steps:
            status, said = execute(python, folder, path, given, out, work)
            if status != "runs":
                break
    return {"revision": revision, "status": status, "said": said}


def execute(python, folder, path, given, out, work):
    """(status, what was said last) of one file."""
    words = given.format(
        out=out,
        vocabulary=os.path.join(work, "vocabulary.txt"),
        config=os.path.join(work, "config.json"),
    ).split()
    environment = dict(
        os.environ,
        KERAS_HOME=os.path.join(work, ".keras"),
        HOME=work,
        TF_CPP_MIN_LOG_LEVEL="3",
        COLAB_TPU_ADDR="10.0.0.2:8470",
        MPLBACKEND="Agg",
        PYTHONPATH=os.pathsep.join(
            [
                os.path.dirname(HERE),
                os.path.dirname(folder),
                folder,
                os.environ.get("PYTHONPATH", ""),
            ]
        ),
    )
    command = [python, "-m", "tpudist", "run", "--tpu", "virtual:8", script(folder, path, work)]
    try:
        done = subprocess.run(
            command + words,
            cwd=folder if path.endswith(".py") else out,
            env=environment,
            timeout=LIMIT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
    except subprocess.TimeoutExpired:
        return "slow", "more than %d s" % LIMIT
    if done.returncode == 0:
        return "runs", ""
    lines = done.stdout.decode("utf-8", "replace").strip().split("\n")
    said = ([line for line in lines if "Error" in line] or lines)[-1][:300]
    lacks = re.search(r"No module named '([\w.]+)'", said)
    if lacks and not lacks.group(1).startswith(("tensorflow", "tpudist")):
        return "lacks " + lacks.group(1), ""
    return "fails", said


def results():
    """What was recorded: {name: {release: result}}."""
    if not os.path.exists(RESULTS):
        return {}
    with open(RESULTS) as file:
        return json.load(file)


def page(found):
    """The text of PROGRAMS.md."""
    releases = ["1.15", "2.2", "2.15", "2.21"]
    rows = [
        "| program | repository, revision | file | " + " | ".join(releases) + " |",
        "|---" * (3 + len(releases)) + "|",
    ]
    notes, counted = [], dict.fromkeys(releases, 0)
    for name, each in found.items():
        repository, _, path, _ = PROGRAMS[name]
        revision = next(iter(each.values()))["revision"][:10]
        cells = []
        for release in releases:
            result = each.get(release)
            cells.append(result["status"] if result else "not run")
            counted[release] += bool(result and result["status"] == "runs")
            if result and result["said"]:
                notes.append("* %s, %s: `%s`" % (name, release, result["said"].replace("`", "'")))
        rows.append(
            "| %s | %s@%s | %s | %s |" % (name, repository, revision, path, " | ".join(cells))
        )
    tally = ", ".join(
        "%d of %d on %s" % (counted[r], sum(r in e for e in found.values()), r) for r in releases
    )
    with open(os.path.join(HERE, "programs_head.md"), encoding="utf-8") as file:
        head = file.read()
    return "%s\nRun to their end: %s.\n\n%s\n\n## What the others said last\n\n%s\n" % (
        head,
        tally,
        "\n".join(rows),
        "\n".join(notes) or "Nothing.",
    )


def main(arguments):
    """Runs what the arguments name, and writes results and page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--python", action="append", default=[], metavar="RELEASE=PATH")
    parser.add_argument("--only", action="append", metavar="NAME")
    parser.add_argument("--mirrors")
    parser.add_argument("--work", default=os.path.join(tempfile.gettempdir(), "programs"))
    options = parser.parse_args(arguments)
    os.makedirs(options.work, exist_ok=True)
    data(options.work)
    for name in options.only or PROGRAMS:
        for release, python in (each.split("=", 1) for each in options.python):
            result = run(python, name, options.mirrors, options.work)
            print("%s on %s: %s %s" % (name, release, result["status"], result["said"]), flush=True)
            found = results()
            found.setdefault(name, {})[release] = result
            ordered = {each: found[each] for each in PROGRAMS if each in found}
            with open(RESULTS, "w") as file:
                json.dump(ordered, file, indent=1)
                file.write("\n")
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(page(results()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
