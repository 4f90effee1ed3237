"""Small data for :mod:`compat.make.programs`, in the formats that the programs read.

Everything is random and made here. What needs TensorFlow (records) or sentencepiece is made
with the Python that runs `compat.make.programs`, and left out where it lacks them.
"""

import gzip
import json
import os

import numpy as np

LETTERS = "abcdefghijklmnopqrstuvwxyz"
CONFIG = dict(
    vocab_size=512,
    hidden_size=32,
    embedding_size=16,
    num_hidden_layers=1,
    num_attention_heads=2,
    intermediate_size=64,
    max_position_embeddings=64,
    attention_probs_dropout_prob=0.1,
    hidden_dropout_prob=0.1,
    hidden_act="gelu",
    initializer_range=0.02,
    type_vocab_size=2,
    num_hidden_groups=1,
    net_structure_type=0,
    gap_size=0,
    inner_group_num=1,
    down_scale_factor=1,
    ln_type="postln",
)
GPT2 = dict(
    n_head=2,
    encoder_path="",
    n_vocab=50257,
    embed_dropout=0.1,
    lr=0.00025,
    warmup_steps=1,
    beta1=0.9,
    beta2=0.98,
    epsilon=1e-9,
    opt_name="adam",
    weight_decay=0.01,
    train_batch_size=16,
    attn_dropout=0.1,
    train_steps=4,
    eval_steps=1,
    max_steps=3,
    res_dropout=0.1,
    predict_batch_size=1,
    eval_batch_size=16,
    iterations=2,
    n_embd=16,
    input="openwebtext",
    model="GPT2",
    n_ctx=16,
    n_layer=2,
    scale_by_depth=True,
    scale_by_in=True,
)
XLNET = dict(
    d_head=8,
    d_inner=32,
    d_model=16,
    ff_activation="gelu",
    n_head=2,
    n_layer=2,
    n_token=32000,
    untie_r=True,
)
_OF_BERT = "vocab_size hidden_size num_hidden_layers num_attention_heads intermediate_size"
TAGGER = dict(
    {name: CONFIG[name] for name in _OF_BERT.split() + ["hidden_act", "type_vocab_size"]},
    use_t2t_decoder=True,
    decoder_num_hidden_layers=1,
    decoder_hidden_size=32,
    decoder_num_attention_heads=2,
    decoder_filter_size=64,
)
ELECTRA = dict(
    use_tpu=True,
    num_tpu_cores=8,
    tpu_name="any",
    train_batch_size=16,
    eval_batch_size=16,
    max_seq_length=64,
    num_train_steps=4,
    num_warmup_steps=1,
    iterations_per_loop=2,
    save_checkpoints_steps=4,
    num_eval_steps=1,
    vocab_size=60,
    model_size="small",
    model_hparam_overrides=dict(
        hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64
    ),
)


def make(folder):
    """Writes all of it below a folder; returns the folder for KERAS_HOME."""
    random = np.random.RandomState(0)
    os.makedirs(folder, exist_ok=True)
    _texts(folder, random)
    steady = dict(CONFIG, attention_probs_dropout_prob=0.0, hidden_dropout_prob=0.0)
    for name, value in (("config", CONFIG), ("grover", CONFIG), ("steady", steady)):
        write_text(folder, name + ".json", json.dumps(value))
    write_text(folder, "xlnet.json", json.dumps(XLNET))
    write_text(folder, "tagger.json", json.dumps(TAGGER))
    gpt2 = dict(
        GPT2,
        data_path=os.path.join(folder, "openwebtext"),
        model_path=os.path.join(folder, "gpt2-model"),
        predict_path=os.path.join(folder, "predictions.txt"),
    )
    write_text(folder, "gpt2.json", json.dumps(gpt2))
    vocabulary = os.path.join(folder, "vocabulary.txt")
    write_text(folder, "electra.json", json.dumps(dict(ELECTRA, vocab_file=vocabulary)))
    _records(folder, random)
    _checkpoint(os.path.join(folder, "bert-model", "model.ckpt"), random)
    _sentencepiece(folder)
    home = os.path.join(folder, ".keras")
    _keras(home, random)
    return home


def write_text(folder, name, text):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def _sentence(random, words=9):
    return " ".join(
        "".join(random.choice(list(LETTERS), random.randint(2, 6))) for _ in range(words)
    )


def _texts(folder, random):
    """A vocabulary; documents a sentence a line; CoLA's and SQuAD's files; bytes for enwik8."""
    marks = list(LETTERS + "0123456789,.;:!?-'\"()")
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + marks + ["##" + m for m in marks]
    write_text(folder, "vocabulary.txt", "\n".join(vocabulary) + "\n")
    pieces = "<unk> <s> </s> <cls> <sep> <pad> <mask> <eod> <eop>".split() + vocabulary[5:]
    write_text(folder, "funnel.txt", "\n".join(pieces) + "\n")
    documents = ["\n".join(_sentence(random) for _ in range(12)) for _ in range(40)]
    write_text(folder, "text/one.txt", "\n\n".join(documents) + "\n")
    write_text(folder, "enwik8/train.txt", _codes(random, 4000))
    write_text(folder, "enwik8/valid.txt", _codes(random, 1500))
    write_text(folder, "enwik8/test.txt", _codes(random, 1500))
    rows = ["x\t%d\t\t%s" % (i % 2, _sentence(random)) for i in range(64)]
    tests = ["%d\t%s" % (i, _sentence(random)) for i in range(32)]
    for place, trained in (("cola", rows), ("cola-steady", rows[:1] * len(rows))):
        write_text(folder, place + "/train.tsv", "\n".join(trained) + "\n")
        write_text(folder, place + "/dev.tsv", "\n".join(rows) + "\n")
        write_text(folder, place + "/test.tsv", "index\tsentence\n" + "\n".join(tests) + "\n")
    paragraphs = []
    for i in range(24):
        context = _sentence(random, 14)
        answer = context.split(" ")[i % 7]
        asked = dict(
            id=str(i),
            question=_sentence(random, 4) + "?",
            answers=[dict(text=answer, answer_start=context.index(answer))],
            is_impossible=False,
        )
        paragraphs.append(dict(context=context, qas=[asked]))
    _tasks(folder, random)
    squad = dict(version="1.1", data=[dict(title="t", paragraphs=paragraphs)])
    write_text(folder, "squad.json", json.dumps(squad))


def _tasks(folder, random):
    """Files of BERT-NER, of a language model, of XLNet's tasks and of LaserTagger."""
    kinds = "O B-PER I-PER B-LOC O O".split()
    for part in ("train", "dev", "test"):
        rows = []
        for _ in range(48):
            rows += ["%s X %s" % pair for pair in zip(_sentence(random, 6).split(" "), kinds)]
            rows += [". . O", ""]
        write_text(folder, "ner/%s.txt" % part, "\n".join(rows) + "\n")
        rows = [(_sentence(random, 4), _sentence(random, 4), i % 2) for i in range(65)]
        lines = ["%s\t%s\t%d" % row for row in rows]
        write_text(folder, "lcqmc/%s.txt" % part, "\n".join(lines) + "\n")
        reviews = ['"%d","%s"' % (i % 5 + 1, _sentence(random, 8)) for i in range(64)]
        write_text(folder, "yelp/%s.csv" % part, "\n".join(reviews) + "\n")
    write_text(folder, "lines.txt", "\n".join(_sentence(random, 6) for _ in range(5)) + "\n")
    write_text(folder, "tags.txt", "KEEP\nDELETE\nKEEP|and\nDELETE|.\n")


def _codes(random, count):
    codes = random.randint(97, 123, count)
    return "\n".join(" ".join(str(c) for c in line) for line in codes.reshape(-1, 50)) + "\n"


def _records(folder, random):
    """Records of BERT, ALBERT, Grover, GPT-2, MS MARCO, CIFAR, MNIST and UDA."""
    try:
        import tensorflow  # noqa: F401
    except ImportError:
        return

    def write(path, examples):
        write_records(os.path.join(folder, path), examples)

    def bert():
        return {
            "input_ids": random.randint(5, 100, 64),
            "input_mask": np.ones(64, int),
            "segment_ids": np.repeat([0, 1], 32),
            "masked_lm_positions": np.sort(random.choice(np.arange(1, 63), 20, False)),
            "masked_lm_ids": random.randint(5, 100, 20),
            "masked_lm_weights": np.ones(20, np.float32),
            "next_sentence_labels": random.randint(0, 2, 1),
        }

    def passage():
        return dict(
            query_ids=random.randint(0, 100, 5),
            doc_ids=random.randint(0, 100, 20),
            label=random.randint(0, 2, 1),
        )

    def review():
        return {
            "input_ids": random.randint(5, 100, 64),
            "input_mask": np.ones(64, int),
            "input_type_ids": np.zeros(64, int),
            "label_ids": random.randint(0, 2, 1),
        }

    def digit():
        return {"image_raw": random.bytes(28 * 28), "label": random.randint(0, 10, 1)}

    write("bert.tfrecord", [bert() for _ in range(64)])
    write("albert.tfrecord", [dict(bert(), token_boundary=np.ones(64, int)) for _ in range(64)])
    write("albert-steady.tfrecord", [dict(bert(), token_boundary=np.ones(64, int))] * 64)
    write("grover-steady.tfrecord", [{"input_ids": random.randint(5, 500, 33)}] * 64)
    write("marco-steady/dataset_train.tf", [passage()] * 64)
    write("grover.tfrecord", [{"input_ids": random.randint(5, 500, 33)} for _ in range(64)])
    for number in range(93):
        text = [{"text": random.randint(1, 500, 30)} for _ in range(60)]  # it stitches 42
        write("openwebtext/openwebtext-newspaper_%d.tfrecords" % number, text)
    write("marco/dataset_train.tf", [passage() for _ in range(64)])
    write("tagger.tfrecord", [_tagged(random) for _ in range(64)])
    write("cifar.tfrecord", [{"image": random.bytes(3072), "label": [i % 10]} for i in range(32)])
    for part in ("sup", "unsup"):
        write("uda/%s/tf_examples.tfrecord.0.0" % part, [review() for _ in range(32)])
    for part, count in (("train", 256), ("validation", 128), ("test", 16)):
        write("mnist/%s.tfrecords" % part, [digit() for _ in range(count)])


def _tagged(random):
    """A row of LaserTagger's."""
    return {
        "input_ids": random.randint(5, 100, 64),
        "input_mask": np.ones(64, int),
        "segment_ids": np.zeros(64, int),
        "labels": random.randint(0, 4, 64),
        "labels_mask": np.ones(64, int),
    }


def write_records(path, examples):
    """Examples, {name: bytes or numbers}, as records of TensorFlow's."""
    import tensorflow as tf

    os.makedirs(os.path.dirname(path), exist_ok=True)
    with tf.io.TFRecordWriter(path) as writer:
        for values in examples:
            features = {}
            for name, value in values.items():
                if isinstance(value, bytes):
                    kind = dict(bytes_list=tf.train.BytesList(value=[value]))
                elif np.asarray(value).dtype.kind == "f":
                    kind = dict(float_list=tf.train.FloatList(value=value.tolist()))
                else:
                    numbers = np.asarray(value).tolist()
                    kind = dict(int64_list=tf.train.Int64List(value=numbers))
                features[name] = tf.train.Feature(**kind)
            message = tf.train.Example(features=tf.train.Features(feature=features))
            writer.write(message.SerializeToString())


def _checkpoint(path, random):
    """A first checkpoint of BERT's: the embedding alone, the rest is initialized."""
    try:
        import tensorflow as tf
    except ImportError:
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    shape = (CONFIG["vocab_size"], CONFIG["hidden_size"])
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        variable = tf.compat.v1.get_variable(
            "bert/embeddings/word_embeddings", shape=shape, dtype=tf.float32
        )
        variable.load(0.02 * random.standard_normal(shape), session)
        tf.compat.v1.train.Saver([variable]).save(session, path, write_meta_graph=False)


def _sentencepiece(folder):
    """XLNet's model of pieces, and ALBERT's."""
    try:
        import sentencepiece
    except ImportError:
        return
    for name, symbols, special in (
        ("spiece", "<cls>,<sep>,<pad>,<mask>,<eod>", "<eop>"),
        ("albert", "[CLS],[SEP],[MASK]", "(,)"),
    ):
        sentencepiece.SentencePieceTrainer.train(
            input=os.path.join(folder, "text/one.txt"),
            model_prefix=os.path.join(folder, name),
            vocab_size=200,
            control_symbols=symbols,
            user_defined_symbols=special,
            minloglevel=2,
        )


def _keras(home, random):
    """Fashion MNIST and irises where Keras looks for what it has downloaded."""
    folder = os.path.join(home, "datasets", "fashion-mnist")
    os.makedirs(folder, exist_ok=True)
    for part, count in (("train", 2048), ("t10k", 2048)):
        for kind, values, head in (
            ("images-idx3", random.randint(0, 256, (count, 28, 28)), 16),
            ("labels-idx1", random.randint(0, 10, count), 8),
        ):
            with gzip.open(
                os.path.join(folder, "%s-%s-ubyte.gz" % (part, kind)), "wb", compresslevel=1
            ) as file:
                file.write(b"\0" * head + values.astype("uint8").tobytes())
    for name, count in (("training", 120), ("test", 30)):
        rows = ["%d,4,setosa,versicolor,virginica" % count]
        rows += [
            "%.1f,%.1f,%.1f,%.1f,%d" % (tuple(random.uniform(1, 7, 4)) + (i % 3,))
            for i in range(count)
        ]
        write_text(home, "datasets/iris_%s.csv" % name, "\n".join(rows) + "\n")
