"""compat/CLUSTERS.md is what its command writes of the figures that it has kept."""

import json

from compat.make import clusters


def test_the_page_is_written_by_its_command():
    results = json.loads(clusters.RESULTS.read_text("utf-8"))
    assert clusters.PAGE.read_text("utf-8") == clusters.page(results)
