"""What commands say beside their result: on a terminal, elsewhere, quiet, and without colours."""

import io
import time
import types

import pytest

from tpudist import console


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(params=[Terminal, io.StringIO])
def stream(request, monkeypatch):
    """Stands in for standard error: a terminal, and something else."""
    made = request.param()
    monkeypatch.setattr(console, "sys", types.SimpleNamespace(stderr=made))
    monkeypatch.setattr(console, "PATIENCE", 0.0)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    return made


def shown(stream):
    """What was drawn, drawing by drawing; it ends with an empty line."""
    text = stream.getvalue()
    assert "\n" not in text and (not text or text.endswith(" \r"))
    return text.split("\r")[1:]


def test_a_bar_is_for_terminals_and_is_removed(stream):
    assert list(console.bar(range(20), 20)) == list(range(20))
    drawn = shown(stream)
    assert bool(drawn) == stream.isatty()
    assert not drawn or drawn[19] == "[%s] 20/20 files" % ("#" * 30)


def test_seconds_are_for_terminals_and_are_removed(stream, monkeypatch):
    monkeypatch.setattr(console, "_TICK", 0.001)
    with pytest.raises(KeyboardInterrupt), console.working("compiling"):
        end = time.monotonic() + 10
        while stream.isatty() and not stream.getvalue() and time.monotonic() < end:
            time.sleep(0.001)
        raise KeyboardInterrupt
    drawn = shown(stream)
    assert drawn[:1] == ["compiling  0 s"] * stream.isatty()


def test_what_is_quick_shows_nothing(stream, monkeypatch):
    monkeypatch.setattr(console, "PATIENCE", 60.0)
    assert list(console.bar(range(3), 3)) == [0, 1, 2]
    assert stream.getvalue() == ""


def test_a_quiet_command_says_nothing(stream):
    with console.loudness(console.QUIET):
        list(console.bar(range(3), 3))
        console.note("a note")
    assert stream.getvalue() == ""
    console.note("a note")
    assert stream.getvalue() == "a note\n"


def test_colours_are_for_terminals_that_want_them(stream, monkeypatch):
    assert (console.painted("bad", "red", stream) == "bad") != stream.isatty()
    monkeypatch.setenv("NO_COLOR", "1")
    assert console.painted("bad", "red", stream) == "bad"
