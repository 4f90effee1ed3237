"""More small data for :mod:`compat.make.programs`: what programs of TensorFlow 2 read.

As in :mod:`compat.make.programs_data`, all of it is random. Data sets of tensorflow_datasets are
written where that package looks for them, with the names and features of its own builders.
"""

import json
import os

import numpy as np

from compat.make.programs_data import CONFIG, ELECTRA, LETTERS, write_records, write_text

#: How many examples a split of a data set has.
SPLITS = {
    "mnist": {"train": 2048, "test": 256},
    "cifar10": {"train": 512, "test": 128},
    "glue/sst2": {"train": 64, "validation": 32},
}
#: What ELECTRA's pre-training is told and its fine-tuning does not know.
PRETRAINED = ("num_train_steps", "num_warmup_steps", "num_eval_steps")


def make(folder):
    """Writes all of it below a folder."""
    random = np.random.RandomState(1)
    _classified(folder, random)
    _objects(folder, random)
    _questions(folder, random)
    _positions(folder, random)
    _transformers(os.path.join(folder, "hf"))
    _tables(folder, np.random.RandomState(2))
    _electra(folder)
    for name, splits in SPLITS.items():
        _dataset(os.path.join(folder, "tensorflow_datasets"), name, splits, random)


def _classified(folder, random):
    """Sentences of two classes for BERT and XLNet of the model garden, and what describes them."""
    row = {
        "input_ids": random.randint(5, 100, 64),
        "input_mask": np.ones(64, int),
        "segment_ids": np.zeros(64, int),
        "label_ids": [1],
        "is_real_example": [1],
    }
    rows = [
        dict(row, input_ids=random.randint(5, 100, 64), label_ids=[number % 2])
        for number in range(64)
    ]
    write_records(os.path.join(folder, "classes.tfrecord"), rows)
    masked = [dict(each, input_mask=np.zeros(64, np.float32)) for each in rows]
    write_records(os.path.join(folder, "xlnet-classes.tfrecord"), masked)
    about = dict(num_labels=2, train_data_size=64, eval_data_size=64, max_seq_length=64)
    write_text(folder, "classes.json", json.dumps(dict(about, task_type="bert_classifier")))


def _objects(folder, random):
    """Images with one box each, as detectors read them of COCO."""
    try:
        import tensorflow as tf
    except ImportError:
        return
    corner = np.asarray([0.25], np.float32)
    box = {"image/object/bbox/%smin" % axis: corner for axis in "xy"}
    box.update({"image/object/bbox/%smax" % axis: 3 * corner for axis in "xy"})
    box.update({"image/object/class/label": [1], "image/object/is_crowd": [0]})
    rows = []
    for number in range(32):
        image = random.randint(0, 256, (64, 64, 3)).astype(np.uint8)
        encoded = {"image/encoded": tf.io.encode_jpeg(image).numpy()}
        size = {"image/height": [64], "image/width": [64]}
        source = {"image/source_id": str(number + 1).encode("ascii")}
        rows.append(dict(box, **encoded, **size, **source))
    write_records(os.path.join(folder, "objects.tfrecord"), rows)


def _questions(folder, random):
    """Questions about passages, answered with yes or no: BoolQ's and BioASQ's."""
    lines, paragraphs = [], []
    for number in range(32):
        words = ["".join(random.choice(list(LETTERS), 4)) for _ in range(24)]
        row = {"question": " ".join(words[:6]), "passage": " ".join(words[6:])}
        lines.append(json.dumps(dict(row, answer=number % 2 == 0)))
        answer = dict(answers=["yes", "no"][number % 2], is_impossible=number % 2 == 1)
        asked = dict(answer, id=str(number), question=row["question"])
        paragraphs.append(dict(context=row["passage"], qas=[asked]))
    write_text(folder, "boolq.jsonl", "\n".join(lines) + "\n")
    yesno = dict(version="1.1", data=[dict(title="t", paragraphs=paragraphs)])
    write_text(folder, "yesno.json", json.dumps(yesno))


def _tables(folder, random):
    """Tables of GLUE's, CLUE's and BLUE's tasks, and exams with four answers to a question."""

    def sentence(words=6):
        return " ".join("".join(random.choice(list(LETTERS), 4)) for _ in range(words))

    kinds = ["CPR:3", "CPR:4", "CPR:9", "false"]
    for part in ("train", "dev", "test"):
        table = ["%s\t%d" % (sentence(), i % 2) for i in range(64)]
        head = "sentence\tlabel\n"
        if part == "test":
            table, head = ["%d\t%s" % (i, sentence()) for i in range(32)], "index\tsentence\n"
        for place in ("SST-2", "electra/finetuning_data/sst"):
            write_text(folder, "%s/%s.tsv" % (place, part), head + "\n".join(table) + "\n")
        news = [dict(id=i, sentence=sentence(), label=str(100 + i % 5)) for i in range(64)]
        write_text(folder, "tnews/%s.json" % part, "\n".join(map(json.dumps, news)) + "\n")
        pairs = ["%d\t%s\t%s\t%.1f" % (i, sentence(), sentence(), i % 6) for i in range(64)]
        write_text(folder, "biosses/%s.tsv" % part, "\n".join(["head"] + pairs) + "\n")
        table = ["%d\t%s\t%s" % (i, sentence(), kinds[i % 4]) for i in range(64)]
        write_text(folder, "chemprot/%s.tsv" % part, "\n".join(["head"] + table) + "\n")
        aspects = [",".join("%d_%d" % (a, (a + i) % 2) for a in range(10)) for i in range(64)]
        table = ["%s\t%s" % (labels, sentence()) for labels in aspects]
        write_text(folder, "hoc/%s.tsv" % part, "\n".join(["head"] + table) + "\n")
        for level in ("middle", "high"):
            exam = dict(
                id=level,
                article=sentence(20),
                questions=[sentence(3) + " _" for _ in range(16)],
                options=[[sentence(2) for _ in range(4)] for _ in range(16)],
                answers=["ABCD"[number % 4] for number in range(16)],
            )
            write_text(folder, "RACE/%s/%s/all.txt" % (part, level), json.dumps(exam) + "\n")


def _electra(folder):
    """What ELECTRA's fine-tuning is told: the pre-training's words, as far as it knows them."""
    told = {name: value for name, value in ELECTRA.items() if name not in PRETRAINED}
    told.update(task_names=["sst"], num_train_epochs=1.0, init_checkpoint=None)
    told.update(vocab_file=os.path.join(folder, "vocabulary.txt"), predict_batch_size=16)
    write_text(folder, "electra/tuned.json", json.dumps(told))


def _positions(folder, random):
    """Positions of Go on a board of 19 lines, what was played, and who won."""
    try:
        import tensorflow as tf
    except ImportError:
        return
    with tf.io.TFRecordWriter(os.path.join(folder, "go.tfrecord"), "ZLIB") as writer:
        for number in range(128):
            played = np.zeros(362, np.float32)
            played[random.randint(362)] = 1.0
            planes = random.randint(0, 2, (19, 19, 17)).astype(np.uint8)
            example = tf.train.Example()
            feature = example.features.feature
            feature["x"].bytes_list.value.append(planes.tobytes())
            feature["pi"].bytes_list.value.append(played.tobytes())
            feature["outcome"].float_list.value.append(1.0 - 2.0 * (number % 2))
            writer.write(example.SerializeToString())


def _transformers(folder):
    """A BERT of Hugging Face's: its shape, its vocabulary, and a checkpoint without values."""
    try:
        import h5py
    except ImportError:
        return
    names = "hidden_size num_hidden_layers num_attention_heads intermediate_size hidden_act"
    config = {name: CONFIG[name] for name in names.split()}
    config.update(vocab_size=512, max_position_embeddings=64, type_vocab_size=2)
    write_text(folder, "config.json", json.dumps(dict(config, model_type="bert")))
    with open(os.path.join(os.path.dirname(folder), "vocabulary.txt"), encoding="utf-8") as file:
        write_text(folder, "vocab.txt", file.read())
    with h5py.File(os.path.join(folder, "tf_model.h5"), "w") as file:
        file.attrs["layer_names"] = np.array([], "S1")


def _dataset(folder, name, splits, random):
    """A data set of tensorflow_datasets, in the newest version that this package knows."""
    try:
        import tensorflow as tf
        import tensorflow_datasets as tfds
    except ImportError:
        return
    builder = tfds.builder(name, data_dir=folder)
    if os.path.exists(builder.data_path):
        return
    os.makedirs(builder.data_path)
    features, infos = builder.info.features, []
    for split, count in splits.items():
        rows = [
            features.serialize_example(features.encode_example(_example(features, random)))
            for _ in range(count)
        ]
        path = "%s-%s.tfrecord-00000-of-00001" % (builder.name, split)
        with tf.io.TFRecordWriter(os.path.join(builder.data_path, path)) as writer:
            for row in rows:
                writer.write(row)
        infos.append(
            tfds.core.SplitInfo(name=split, shard_lengths=[count], num_bytes=sum(map(len, rows)))
        )
    tfds.folder_dataset.write_metadata(
        data_dir=builder.data_path,
        features=features,
        split_infos=infos,
        filename_template="{DATASET}-{SPLIT}.{FILEFORMAT}-{SHARD_X_OF_Y}",
    )
    _without_defaults(os.path.join(builder.data_path, "dataset_info.json"))


def _without_defaults(path):
    """Takes out of a data set's description what older releases of the package do not know."""
    with open(path) as file:
        about = json.load(file)
    del about["fileFormat"]
    for split in about["splits"]:
        del split["filepathTemplate"]
    with open(path, "w") as file:
        json.dump(about, file)


def _example(features, random):
    """A random example: an image, a class, or letters."""
    example = {}
    for key, feature in features.items():
        if hasattr(feature, "num_classes"):
            example[key] = random.randint(feature.num_classes)
        elif feature.shape:
            example[key] = random.randint(0, 256, feature.shape).astype("uint8")
        elif feature.np_dtype not in (object, np.object_):
            example[key] = random.randint(1000)
        else:
            example[key] = "".join(random.choice(list(LETTERS), 8))
    return example
