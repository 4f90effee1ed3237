"""The calls that run replica functions are read from source, and counted as they run."""

import textwrap

import pytest

from tpudist.tools.compile.command import run_command


def calls(tmp_path, source, **beside):
    for name, text in dict(beside, script=source).items():
        (tmp_path / (name + ".py")).write_text(textwrap.dedent(text))
    return run_command.Calls(str(tmp_path / "script.py"))


def unfinished(found):
    return [(call.first, call.functions) for call in found.unfinished()]


@pytest.mark.parametrize(
    "source, expected",
    [
        ("strategy.run(step)", [(1, 1)]),
        ("self.distribution.run(lambda: 1)", [(1, 1)]),
        ("s.experimental_run_v2(fn=step)", [(1, 1)]),
        ("a.call_for_each_tower(step, x)\nb.call_for_each_replica(step)", [(1, 1), (2, 1)]),
        ("self.s.run(self.step, args=(x,))", [(1, 1)]),
        ("model.fit(x)\nmodel.evaluate(x)", [(1, 1), (2, 1)]),
        ("model.fit(x, validation_data=y)", [(1, 2)]),
        ("tf.estimator.train_and_evaluate(estimator, a, b)", [(1, 2)]),
        ("def both(fn):\n  strategy.run(fn)", [(2, 0)]),
        ("def outer(fn):\n  return lambda x: strategy.run(fn, (x,))", [(2, 0)]),
        ("def outer(x):\n  def step(): pass\n  strategy.run(step, (x,))", [(3, 1)]),
        ("for name, fn in steps:\n  strategy.run(fn)\n  strategy.run(step)", [(2, 0), (3, 1)]),
        ("[tf.function(lambda: strategy.run(fn))() for fn in steps]", [(1, 0)]),
        ("session.run(train)\nsubprocess.run(command)\napp.run(main)\nsess.run([a])", []),
        ("runner.run('fast')\nrun(step)\nstrategy.reduce(SUM, x)", []),
    ],
)
def test_calls_that_run_replica_functions_are_found(tmp_path, source, expected):
    assert unfinished(calls(tmp_path, source)) == expected


def test_modules_beside_the_script_are_read(tmp_path):
    found = calls(tmp_path, "import steps", steps="strategy.run(step)", other="strategy.run(a)")
    assert [call.path for call in found.unfinished()] == [str(tmp_path / "steps.py")]


def test_a_call_is_done_when_its_function_has_run(tmp_path):
    found = calls(
        tmp_path,
        """
        strategy.run(
            step,
            args=(1,))
        strategy.run(other)
        """,
    )
    path = str(tmp_path / "script.py")
    assert not found.done() and len(found.unreached()) == 2
    found.note([("elsewhere.py", 5), (path, 1), (path, 4)], "step")
    assert unfinished(found) == [(5, 1)] and not found.done()
    found.note([(path, 5)], "other")
    assert found.done() and not found.unreached()


def test_fit_with_validation_runs_two_functions(tmp_path):
    found, path = calls(tmp_path, "model.fit(x, validation_split=.1)"), tmp_path / "script.py"
    for function, done in (("train", False), ("train", False), ("test", True)):
        found.note([(str(path), 1)], function)
        assert found.done() == done


def test_a_call_of_a_parameter_is_never_done(tmp_path):
    found = calls(tmp_path, "def both(fn):\n  strategy.run(fn)")
    found.note([(str(tmp_path / "script.py"), 2)], "train")
    assert not found.done() and not found.unreached()


def test_a_program_without_calls_is_never_done(tmp_path):
    assert not calls(tmp_path, "print(1)").done()
