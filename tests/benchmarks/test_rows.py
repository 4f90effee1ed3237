"""How the figures are computed and printed; nothing is measured here."""

import pytest

from tests.benchmarks import processes, rows, run


@pytest.mark.parametrize(
    ("measured", "unit", "bound", "printed"),
    [
        (1.0, "", 1.0, "| x | 1.00 | 1.00 |"),
        (1.234, "", None, "| x | 1.23 | - |"),
        (0.151, " s", 0.15, "| x | 0.15 s (above) | 0.15 s |"),
        (0.1499, " s", 0.15, "| x | 0.15 s | 0.15 s |"),
        (7.0, "", 6, "| x | 7.00 (above) | 6.00 |"),
    ],
)
def test_line(measured, unit, bound, printed):
    assert run.line(rows.Figure("x", measured, unit, bound)) == printed


def test_engines_are_compared_turn_by_turn(monkeypatch):
    turns = []

    class Fake:
        def __init__(self, engine, **options):
            self.engine = engine
            self.seconds = {"plain": 2.0, "virtual": 3.0, "mirrored": 4.0, "mirrored_one": 6.0}[
                engine
            ]

        def __enter__(self):
            return self

        def __exit__(self, *unused):
            turns.append("end")

        def first(self):
            return {"seconds": 100.0}

        def steps(self, count):
            # The machine gets slower from turn to turn; the ratios stay.
            slower = 1.5 ** (len(turns) // 4)
            turns.append((self.engine, count))
            return {"seconds": self.seconds * slower}

    monkeypatch.setattr(rows.processes, "Engine", Fake)
    figures = rows.step_time(rows.FULL._replace(rounds=3, steps=7, warmup=1))
    assert [round(figure.measured, 6) for figure in figures] == [1.5, 0.75, 0.5, 2, 3]
    assert (
        turns[4:8]
        == turns[8:12]
        == [(name, 7) for name in ("plain", "virtual", "mirrored", "mirrored_one")]
    )
    assert turns[-4:] == ["end"] * 4


def test_the_row_of_a_gpu_is_of_machines_with_one(monkeypatch):
    monkeypatch.setattr(rows.processes, "has_a_gpu", lambda: False)
    assert rows.step_time_on_a_gpu(rows.QUICK) == []
    devices = []

    class Fake:
        def __init__(self, engine, device, **options):
            devices.append((engine, device))
            self.seconds = {"plain": 2.0, "virtual": 3.0}[engine]

        def __enter__(self):
            return self

        def __exit__(self, *unused):
            pass

        def first(self):
            pass

        def steps(self, count):
            return {"seconds": self.seconds}

    monkeypatch.setattr(rows.processes, "has_a_gpu", lambda: True)
    monkeypatch.setattr(rows.processes, "Engine", Fake)
    (figure,) = rows.step_time_on_a_gpu(rows.QUICK)
    assert figure.measured == 1.5 and devices == [("plain", "GPU:0"), ("virtual", "GPU:0")]


@pytest.mark.slow
def test_a_process_that_fails_is_named():
    with pytest.raises(RuntimeError, match=r"(?s)loops ended with 1.*'nonsense'"):
        processes.answer("loops", "nonsense", 1, 1)
    with pytest.raises(RuntimeError, match=r"(?s)nonsense.*ended with 1"):
        with processes.Engine("plain", cores=1, model="nonsense", batch=1):
            pass


def test_start_up_is_that_of_whole_processes(monkeypatch):
    monkeypatch.setattr(rows, "_seconds", lambda arguments: len(arguments) / 100)
    found = rows.start_up(rows.QUICK)
    assert [(figure.measured, figure.bound) for figure in found] == [
        (0.02, 0.15),
        (0.03, 0.15),
        (0.02, None),
    ]
