"""TensorFlow is given no address that nobody answers at: it would wait without end."""

import contextlib
import socket
import threading
from concurrent import futures

import grpc
import pytest
import tensorflow as tf

from tests.cloud import server as servers
from tpudist.cloud import waiting
from tpudist.errors import TPUStateError
from tpudist.system import cluster


@contextlib.contextmanager
def listening(*replies):
    """The address of a server that says something to who connects, in turn; the last stays."""
    with socket.socket() as opened:
        opened.bind(("127.0.0.1", 0))
        opened.listen(16)
        left, kept = list(replies), []

        def answer():
            while True:
                try:
                    connection = opened.accept()[0]
                except OSError:
                    return
                kept.append(connection)
                reply = left.pop(0) if len(left) > 1 else left[0]
                if reply:
                    connection.recv(4096)
                    connection.sendall(reply)

        threading.Thread(target=answer, daemon=True).start()
        yield "127.0.0.1:%d" % opened.getsockname()[1]
        opened.shutdown(socket.SHUT_RDWR)
    for connection in kept:
        connection.close()


def nobody():
    """An address that refuses."""
    with socket.socket() as opened:
        opened.bind(("127.0.0.1", 0))
        return "127.0.0.1:%d" % opened.getsockname()[1]


def refusal(*addresses):
    found, spent = servers.elapsed(lambda: waiting.reach("TPU 't'", addresses, 0.5))
    assert isinstance(found, TPUStateError) and isinstance(found, RuntimeError), found
    assert spent < 5 and found.seen and found.why and found.instead
    assert found.seen.startswith("TPU 't': no TensorFlow server at 127.0.0.1:")
    return found


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    for name in ("grpc_proxy", "https_proxy", "http_proxy", "no_grpc_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="module")
def there():
    """The address of a server of this TensorFlow."""
    server = tf.compat.v1.train.Server({"worker": ["127.0.0.1:0"]}, start=True)
    return server.target.split("://")[1].replace("localhost", "127.0.0.1")


def test_a_server_of_this_tensorflow_answers(there):
    waiting.reach("the TPU", [there], 30)


def test_nothing_listens():
    error = refusal(nobody())
    assert "Connection refused" in error.seen
    assert "TensorFlow would wait for one without end" in error.why
    assert "TPUDIST_TPU_TIMEOUT=120" in error.instead


def test_it_says_nothing():
    with listening(b"") as address:
        assert "no answer" in refusal(address).seen


def test_it_is_no_grpc_server():
    with listening(b"HTTP/1.1 400 Bad Request\r\n\r\n") as address:
        assert "http1.x server" in refusal(address).seen


def test_a_name_that_no_machine_has():
    with pytest.raises(TPUStateError, match="no TensorFlow server at no-machine.invalid:8470: "):
        waiting.reach("TPU 't'", ["no-machine.invalid"], 0.5)


def test_one_of_several_hosts(there):
    silent = nobody()
    error = refusal(there, silent, there)
    assert silent in error.seen and "(1 of 2 hosts are so)" in error.seen


def test_a_server_that_is_starting(monkeypatch, capfd):
    monkeypatch.setattr(waiting, "_ATTEMPT", 0.2)
    address, server = nobody(), grpc.server(futures.ThreadPoolExecutor(1))
    assert server.add_insecure_port(address)
    starting = threading.Timer(2.0, server.start)
    starting.start()
    waiting.reach("TPU 't'", [address], 60)
    starting.join()
    server.stop(None)
    line = capfd.readouterr().err
    assert "tpudist: TPU 't': no TensorFlow server at %s: " % address in line
    assert "; waiting (60 s)" in line


@pytest.mark.parametrize("variable", ["grpc_proxy", "https_proxy", "http_proxy"])
def test_a_proxy_that_does_not_let_it_through(monkeypatch, variable, there):
    with listening(b"HTTP/1.1 403 Forbidden\r\n\r\n") as proxy:
        monkeypatch.setenv(variable, "http://" + proxy)
        error = refusal(there)
        assert "proxy returned response code 403" in error.seen
        assert "without the proxy of %s" % variable in error.instead
        assert "no_proxy=127.0.0.1 in the environment" in error.instead
        monkeypatch.setenv("no_proxy", "example.org, 127.0.0.1")
        waiting.reach("the TPU", [there], 5)


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("10.1.2.3:80", "10.1.2.3:80"),
        ("10.1.2.3", "10.1.2.3:8470"),
        ("[fd00::2]:80", "[fd00::2]:80"),
        ("[fd00::2]", "[fd00::2]:8470"),
        ("fd00::2", "[fd00::2]:8470"),
    ],
)
def test_addresses(address, host):
    assert waiting._host(address) == host


@pytest.mark.parametrize("function", [cluster.connect_to_cluster, cluster.initialize_tpu_system])
def test_resolvers_are_reached_first(monkeypatch, function):
    monkeypatch.delenv("TPUDIST_TPU", raising=False)
    monkeypatch.setenv("TPUDIST_TPU_TIMEOUT", "1")
    address = nobody()
    resolver = cluster.TPUClusterResolver("grpc://" + address)
    found, spent = servers.elapsed(lambda: function(resolver))
    assert isinstance(found, TPUStateError), found
    assert "the TPU at %s: no TensorFlow server at %s" % (address, address) in found.seen
    assert spent < 20
