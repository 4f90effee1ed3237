"""Which words stand where: what an index says is what looking at every file would say."""

import re

import pytest

from tests.migrate import harness
from tpudist.resolution import codebase, contents

FILES = {
    "a.py": "import tensorflow as tf\ndef train_step(x):\n    return x\n",
    "b.py": "from a import train_step as step\nstep(1)\n",
    "c.py": "# pretrain_stepper\nä = train_stepé = 'train_step2'\n",
    "n.ipynb": '{"cells": [{"cell_type": "code", "source": ["a\\ntrain_step(1)"]}]}',
    "long.py": "x = '%s'\n" % ("train" * 50),
    "empty.py": "",
}
WORDS = ["train_step", "train", "step", "a", "tf", "train_step2", "x", "ste", "é", "as tf", "none"]


@pytest.fixture(params=[500, 2, 1])
def files(request, tmp_path, monkeypatch):
    monkeypatch.setattr(contents, "_TOGETHER", request.param)
    harness.put(tmp_path, FILES)
    return codebase.CodeBase([str(tmp_path)])


@pytest.mark.parametrize("word", WORDS)
def test_the_files_with_a_word(files, word):
    raw = word.encode()
    having = {path for path, text in files.bytes.items() if raw in text}
    if word in ("train", "a"):
        having = {path for path in having if not path.endswith("long.py")}  # an image, or the like
    assert set(files.mentioning(word)) == having
    for path, text in files.bytes.items():
        is_there = re.search(rb"\b%s\b" % re.escape(raw), text) is not None
        assert files.has_word(path, word) == (is_there or path.endswith(".ipynb"))


def test_files_are_read_once_for_all_words(files, monkeypatch):
    read = []
    monkeypatch.setattr(contents.Contents, "_read", lambda self, path: read.append(path) or b"x y")
    for word in "abcdefgh" * 20:
        files.mentioning(word, word + "z")
        files.has_word(files.files[0], word + "q")
    assert sorted(read) == files.files
