"""Sessions are out of scope: a program that builds a graph still builds one.

Its ``tf`` becomes ``tf.compat.v1``, which has Sessions; turning them into eager
code is a rewrite of the program. Said once a file.
"""

STEP = "2.0"
NOTE = "https://www.tensorflow.org/guide/migrate"
USES = [
    ("tf", name) for name in ("Session", "InteractiveSession", "train.MonitoredTrainingSession")
]


def apply(use):
    """Says so, once a file that is of the contrib era.

    Args:
      use: the `Use`.
    """
    plan = use.plan
    if plan.survey.is_contrib(use.module.path) and not plan.session_seen:
        plan.session_seen = True
        use.leave(
            "sessions are out of scope, and kept through tf.compat.v1",
            "unless the program makes its own tf.Graph(), call "
            "tf.disable_v2_behavior() after the import",
        )
