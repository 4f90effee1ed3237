"""When a TPU and its servers are asked again, and when that is given up, by a turned clock."""

import types

import pytest

from tpudist.cloud import deadlines, failures, nodes, waiting
from tpudist.errors import TPUAccessError, TPUStateError

ASKED = failures.Asked("t", "z", "p")
PASSES, STAYS = TPUAccessError("passes", "why", "what"), TPUAccessError("stays", "why", "what")


@pytest.fixture
def clock(monkeypatch):
    """Time passes in `sleep` alone; `slept` has how long each took."""
    turned = types.SimpleNamespace(now=100.0, slept=[])

    def sleep(seconds):
        turned.slept.append(seconds)
        turned.now += seconds

    monkeypatch.setattr(
        waiting, "time", types.SimpleNamespace(monotonic=lambda: turned.now, sleep=sleep)
    )
    monkeypatch.setattr(deadlines, "call", lambda function, limit: function())
    monkeypatch.setattr(
        failures, "explain", lambda error, asked: failures.Failure(error, error is PASSES)
    )
    monkeypatch.setenv("TPUDIST_TPU_TIMEOUT", "30")
    return turned


def asking(*outcomes):
    """A function that returns, or raises, these in turn; the last stays."""
    left = list(outcomes)

    def ask():
        outcome = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    return ask


def test_what_passes_is_asked_again_after_twice_the_time(clock):
    assert waiting.answered(asking(PASSES, PASSES, PASSES, 7), ASKED) == 7
    assert clock.slept == [0.25, 0.5, 1.0]


def test_it_is_given_up_where_the_next_question_would_come_too_late(clock):
    with pytest.raises(TPUAccessError, match="passes"):
        waiting.answered(asking(PASSES), ASKED, 1.0)
    assert clock.slept == [0.25, 0.5]


def test_what_stays_is_not_asked_again(clock):
    with pytest.raises(TPUAccessError, match="stays"):
        waiting.answered(asking(PASSES, STAYS, 7), ASKED)
    assert clock.slept == [0.25]


def test_no_answer_after_a_failure_is_that_failure(clock):
    with pytest.raises(TPUAccessError, match="passes"):
        waiting.answered(asking(PASSES, deadlines.TooLate()), ASKED)


def test_a_look_is_what_the_api_describes(clock):
    seen = nodes.parse({"state": "READY", "ipAddress": "10.1.2.3"}, *ASKED)
    assert (seen.place, seen.state) == ("TPU 't' (zone z, project p)", "READY")
    assert seen.addresses == ("10.1.2.3:8470",)


def node(state, health="HEALTHY"):
    return nodes.Node("t", "z", "p", state, health, "", (), "v3-8", "2.8", ())


@pytest.fixture
def states(monkeypatch):
    """What the API says of the TPU, in turn."""

    def say(*outcomes):
        ask = asking(*outcomes)
        monkeypatch.setattr(waiting, "answered", lambda fetch, asked, limit: ask())

    return say


def test_a_tpu_that_is_being_made_is_waited_for_and_each_look_is_reported(clock, states, capsys):
    states(node("CREATING"), node("CREATING"), node("READY", "TIMEOUT"), node("READY"))
    assert waiting.healthy(None, ASKED).state == "READY"
    assert clock.slept == [3.0] * 3  # a tenth of what there is
    where = "tpudist: TPU 't' (zone z, project p) is "
    assert capsys.readouterr().err.splitlines() == [
        where + "CREATING HEALTHY; waiting (0 s of 30 s)",
        where + "READY TIMEOUT; waiting (6 s of 30 s)",
        where + "ready after 9 s",
    ]


def test_with_much_time_the_looks_are_five_seconds_apart_and_all_are_reported(
    clock, states, capsys, monkeypatch
):
    monkeypatch.setenv("TPUDIST_TPU_TIMEOUT", "600")
    states(node("CREATING"), node("CREATING"), node("READY"))
    waiting.healthy(None, ASKED)
    assert clock.slept == [5.0, 5.0] and capsys.readouterr().err.count("waiting (") == 2


def test_a_tpu_that_can_be_used_is_not_waited_for(clock, states, capsys):
    states(node("READY"))
    waiting.healthy(None, ASKED)
    assert clock.slept == [] and capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("state", "waits", "slept"),
    [("CREATING", False, 0), ("STOPPED", True, 0), ("CREATING", True, 10)],
)
def test_a_tpu_that_cannot_be_used_is_an_error(clock, states, state, waits, slept):
    states(node(state))
    with pytest.raises(TPUStateError, match=state) as caught:
        waiting.healthy(None, ASKED, waits)
    assert len(clock.slept) == slept
    assert ("30 s" in str(caught.value)) == bool(slept)


def test_no_answer_at_the_end_of_the_wait_is_the_state_seen_before(clock, states):
    states(*[node("CREATING")] * 10, PASSES)
    with pytest.raises(TPUStateError, match="CREATING"):
        waiting.healthy(None, ASKED)
    states(node("CREATING"), STAYS)
    with pytest.raises(TPUAccessError, match="stays"):
        waiting.healthy(None, ASKED)


@pytest.fixture
def silent(clock, monkeypatch):
    """The hosts that do not answer, in turn; an attempt takes a second. It has what was asked."""
    asked = []

    def play(*outcomes):
        ask = asking(*outcomes)

        def attempt(hosts, limit):
            asked.append((hosts, limit))
            clock.now += 1.0
            return dict.fromkeys(ask(), "refused")

        monkeypatch.setattr(waiting, "_silent", attempt)
        return asked

    return play


def test_only_hosts_that_were_silent_are_asked_again(silent, clock, capsys):
    asked = silent(["b:1", "c:1"], ["c:1"], [])
    waiting.reach("TPU 't'", ["a:1", "b:1", "c:1", "a:1"], 60)
    assert [hosts for hosts, _ in asked] == [["a:1", "b:1", "c:1"], ["b:1", "c:1"], ["c:1"]]
    assert [limit for _, limit in asked] == [3.0] * 3 and clock.slept == [0.5] * 2
    assert capsys.readouterr().err == ""  # within the time of one attempt


def test_a_long_wait_is_reported_once_and_given_up_in_time(silent, clock, capsys):
    asked = silent(["b:1"])
    with pytest.raises(TPUStateError, match="refused") as caught:
        waiting.reach("TPU 't'", ["a:1", "b:1"], 6)
    assert "at b:1: refused (1 of 2 hosts are so); tpudist waited 6 s" in caught.value.seen
    assert [round(limit, 2) for _, limit in asked] == [3.0, 3.0, 2.4, 1.2, 0.1]
    assert capsys.readouterr().err.count("waiting (6 s)") == 1


def test_one_host_is_not_counted(silent):
    silent(["a:1"])
    with pytest.raises(TPUStateError) as caught:
        waiting.reach("TPU 't'", ["a:1"], 1)
    assert "hosts" not in caught.value.seen
