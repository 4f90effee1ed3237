"""Whether anything in a file may be legacy, by its bytes: what has no such word is never parsed."""

import re

from tpudist import surfaces
from tpudist.surfaces.eras import evidence, names
from tpudist.tools.migrate.resolution import contents, gone_words, tensorflow_words

_WORDS = sorted(
    {row.name.rpartition(".")[2] for row in surfaces.ROWS if not row.name.endswith("__init__")}
    - {
        "run",
        "scope",
        "reduce",
        "map",
        "update",
        "device",
        "group",
        "broadcast",
        "extended",
        "initialize",
        "finalize",
        "configure",
        "replicate",
        "rewrite",
        "shard",
        "ReduceOp",
        "build",
        "InputContext",
        "Topology",
    }
    | {
        "contrib",
        "tpudist.",
        "from tpudist",
        "Strategy",
        "get_strategy",
        "experimental_run_steps_on_iterator",
        "experimental_make_numpy_iterator",
        ".make_initializable_iterator",
        ".make_one_shot_iterator",
        "from tensorflow import *",
        '("tensorflow")',
        '("tensorflow.',
        "('tensorflow.",
        '(f"tensorflow.',
        "(f'tensorflow.",
        ', "tensorflow")',
        ", 'tensorflow')",
        "('tensorflow')",
        '["tensorflow"]',
        "['tensorflow']",
    }
)

#: Members that strategies have no longer, and much else has, of what is called like a strategy.
_MEMBER = re.compile(rb"trateg\w*\.(?:broadcast|configure|finalize|group|initialize|map|update)\b")
#: ``tpu.shard``, or an import of it: shards are in many files.
_SHARD = re.compile(rb"shard\b(?:(?<=[.\"']shard)|(?<=[, (]shard)(?=[ \t]*(?:[,)\r\n]|as\b)))")
_RAW = contents.grouped(
    word.encode("ascii")
    for word in _WORDS
    if not any(other in word for other in _WORDS if other != word)
)


def may_matter(raw):
    """Whether a file's bytes have a word without which nothing in it is legacy.

    What has none is never parsed.
    """
    if any(word in raw for part, words in _RAW.items() if part in raw for word in words):
        return True
    if b"shard" in raw and _SHARD.search(raw) is not None:
        return True
    if b"trateg" in raw and b"tensorflow" in raw and _MEMBER.search(raw) is not None:
        return True
    return any(
        names.is_first_generation(each) or gone_words.is_gone(each) or evidence.makes_graphs(each)
        for each in tensorflow_words.names(raw)
    ) or gone_words.may_name(raw)
