"""compat/STABLE.md: what is promised is there, and what is there is promised."""

import re

from compat.make import stable
from tests.laws import source
from tpudist import cli


def test_the_page_is_fresh():
    assert stable.PAGE.read_text("utf-8") == stable.page(), "python -m compat.make.stable"


def test_every_variable_that_the_package_reads_is_described():
    text = "".join(map(source.text, source.package()))
    assert set(re.findall(r"\bTPUDIST_[A-Z_]*[A-Z]", text)) == set(stable.VARIABLES) | set(
        stable.OWN_VARIABLES
    )


def test_every_command_has_its_exit_codes():
    assert {name.split()[0] for name in stable.EXIT_CODES} == set(cli.VERBS)
