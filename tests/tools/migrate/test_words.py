"""Which words stand where: what an index says is what looking at every file would say."""

import pickle
import re
import zlib

import pytest

from tests.tools.migrate import harness
from tpudist.tools.migrate.resolution import codebase, contents

FILES = {
    "a.py": "import tensorflow as tf\ndef train_step(x):\n    return x\n",
    "b.py": "from a import train_step as step\nstep(1)\n",
    "c.py": "# pretrain_stepper\nä = train_stepé = 'train_step2'\n",
    "n.ipynb": '{"cells": [{"cell_type": "code", "source": ["a\\ntrain_step(1)"]}]}',
    "long.py": "x = '%s'\n" % ("train" * 50),
    "empty.py": "",
}
NEWLINE = re.compile(rb"\\n")  # in the strings of a notebook
WORDS = ["train_step", "train", "step", "a", "tf", "train_step2", "x", "ste", "é", "as tf", "none"]


@pytest.fixture(params=[500, 2, 1])
def files(request, tmp_path, monkeypatch):
    monkeypatch.setattr(contents, "_TOGETHER", request.param)
    harness.put(tmp_path, FILES)
    return codebase.CodeBase([str(tmp_path)])


@pytest.mark.parametrize("word", WORDS)
def test_the_files_with_a_word(files, word):
    stands = re.compile(rb"\b%s\b" % re.escape(word.encode()))
    if word in ("é", "as tf"):  # no words, which are looked for in every file
        stands = re.compile(re.escape(word.encode()))
    having = {path for path, text in files.bytes.items() if stands.search(NEWLINE.sub(b" ", text))}
    assert set(files.mentioning(word)) == having
    for path, text in files.bytes.items():
        is_there = re.search(rb"\b%s\b" % re.escape(word.encode()), text) is not None
        assert files.has_word(path, word) == (is_there or path.endswith(".ipynb"))


def test_files_are_read_once_for_all_words(files, monkeypatch):
    read = []
    monkeypatch.setattr(contents.Contents, "_read", lambda self, path: read.append(path) or b"x y")
    for word in "abcdefgh" * 20:
        files.mentioning(word, word + "z")
        files.has_word(files.files[0], word + "q")
    assert sorted(read) == files.files


def test_the_index_goes_to_another_process(files):
    expected = {word: files.mentioning(word) for word in WORDS}
    again = pickle.loads(pickle.dumps(files.words()))
    for word in WORDS[:5]:
        assert sorted(again.files(word.encode())) == expected[word]


def test_words_of_one_number_are_found(tmp_path):
    assert zlib.crc32(b"plumless") == zlib.crc32(b"buckeroo")
    words = contents.Words([("a.py", b"plumless x"), ("b.py", b"buckeroo"), ("c.py", b"x y")])
    assert words.files(b"plumless") == {"a.py", "b.py"}
    assert words.files(b"x") == {"a.py", "c.py"} and words.files(b"z") == set()


def test_where_no_file_can_be_made_the_index_is_in_memory(monkeypatch):
    def fail():
        raise FileNotFoundError("no usable temporary directory")

    monkeypatch.setattr(contents.tempfile, "TemporaryFile", fail)
    assert contents.Words([("a.py", b"x")]).files(b"x") == {"a.py"}
    assert contents.Words([]).files(b"x") == set()
