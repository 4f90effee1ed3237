"""Sessions that TensorFlow makes itself, under ``tpudist run`` on a virtual TPU."""

import pytest

from tests.legacy.harness import in_a_process
from tpudist.legacy import quirks

pytestmark = pytest.mark.slow

tf = pytest.importorskip("tensorflow")

SCRIPT = """
    import tensorflow as tf

    class Listed(tf.test.TestCase):

      def testCores(self):
        with self.session() as session:
          print("cores", [d.name.partition("/device:")[2] for d in session.list_devices()
                          if "TPU" in d.name])

    with tf.Session() as session:
      print("own", sum(d.device_type == "TPU" for d in session.list_devices()))
    tf.test.main()
    """


def test_the_session_of_a_test_case_lists_the_cores(script):
    done = in_a_process(script(SCRIPT), (), "contrib", "virtual:2")
    assert done.returncode == 0, done.stderr
    assert "cores ['TPU:0', 'TPU:1', 'TPU_SYSTEM:0']" in done.stdout
    assert "own 2" in done.stdout


def test_nothing_is_listed_without_a_virtual_tpu(script):
    text = """
        import tensorflow as tf
        with tf.Session() as session:
          print("cores", sum("TPU" in d.name for d in session.list_devices()))
        """
    done = in_a_process(script(text), (), "contrib", None)
    assert done.returncode == 0, done.stderr
    assert "cores 0" in done.stdout


def test_all_is_undone_at_the_end():
    native = tf.compat.v1.Session.list_devices
    with quirks.applied():
        assert tf.compat.v1.Session.list_devices is not native
    assert tf.compat.v1.Session.list_devices is native
