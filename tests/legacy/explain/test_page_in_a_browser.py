"""The page of ``--explain`` in a real browser: Chromium, where one is found."""

import pytest

from tests.helpers import browser
from tpudist.legacy import explain

WIDTH, HEIGHT = 900, 900


def colour(text):
    return tuple(int(text[place : place + 2], 16) for place in (1, 3, 5))


def test_the_picture_shows_segments_and_meetings(steps, tmp_path):
    (step,) = steps
    first = {"batched": 30, "per_replica": []}
    alone = {"op_type": "PrintV2", "place": "train.py:1", "reason": "it has an effect", "count": 10}
    step["segments"] = [first, {"batched": 10, "per_replica": [alone]}, first]
    document, rows = browser.opened(tmp_path, (WIDTH, HEIGHT), explain.page(steps))
    assert document.count("<circle") == 2 and "all-reduce of 1 tensor" in document

    def widths(wanted):
        """The number of pixels of a colour in each row that has some of the picture's bars."""
        counts = [row.count(colour(wanted)) for row in rows]
        return [count for count in counts if count > 50]

    together, per_replica = widths(explain._TOGETHER), widths(explain._PER_REPLICA)
    assert len(together) > 2 * len(per_replica) > 20
    assert max(together) == pytest.approx(3 * max(per_replica), rel=0.05)
    assert min(together) == pytest.approx(max(per_replica), rel=0.05)
