"""``experimental_make_numpy_dataset`` is ``Dataset.from_tensor_slices``; gone from 2.4."""

import libcst as cst

STEP = "latest"
NOTE = "https://github.com/tensorflow/tensorflow/releases/tag/v2.4.0"
USES = [("strategy", "experimental_make_numpy_dataset")]


def apply(use):
    """Rewrites a call with one argument.

    Args:
      use: the `Use`.
    """
    if use.call is None or len(use.call.args) != 1 or use.has_stars:
        return use.leave(
            "its one argument cannot be read here", "tf.data.Dataset.from_tensor_slices(arrays)"
        )
    func = use.spelled("data.Dataset.from_tensor_slices")
    return use.rewrite(
        use.call,
        lambda call: call.with_changes(
            func=func,
            args=[call.args[0].with_changes(keyword=None, equal=cst.MaybeSentinel.DEFAULT)],
        ),
        "tf.data.Dataset.from_tensor_slices",
    )
