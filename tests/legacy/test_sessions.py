"""Sessions that TensorFlow makes itself, under ``tpudist run`` on a virtual TPU."""

import pytest

from tests.legacy.harness import in_a_process
from tpudist.legacy import sessions

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


def test_nothing_is_listed_without_a_virtual_tpu(monkeypatch):
    monkeypatch.delenv("TPUDIST_TPU", raising=False)
    native = tf.compat.v1.Session.list_devices
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        before = [each.name for each in session.list_devices()]
        with sessions.listing_cores():
            assert [each.name for each in session.list_devices()] == before
    assert tf.compat.v1.Session.list_devices is native
