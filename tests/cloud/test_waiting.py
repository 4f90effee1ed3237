"""TensorFlow is given no address that nobody answers at: it would wait without end."""

import contextlib
import socket
import threading

import pytest
import tensorflow as tf

from tests.cloud import server as servers
from tpudist.cloud import waiting
from tpudist.core.system import cluster
from tpudist.errors import TPUStateError

#: What a gRPC server says first: a frame of no settings.
SETTINGS = b"\0\0\0\4\0\0\0\0\0"


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


def test_a_server_of_this_tensorflow_greets():
    server = tf.compat.v1.train.Server({"worker": ["127.0.0.1:0"]}, start=True)
    waiting.reach("the TPU", [server.target.split("://")[1]], 30)


def test_nothing_listens():
    error = refusal(nobody())
    assert "refused" in error.seen and "nothing listens on that port" in error.why
    assert "TensorFlow would wait for it without end" in error.why
    assert "TPUDIST_TPU_TIMEOUT=120" in error.instead


def test_it_says_nothing():
    with listening(b"") as address:
        error = refusal(address)
    assert "a connection, and then: timed out" in error.seen and "hangs" in error.why


def test_it_is_no_grpc_server():
    with listening(b"HTTP/1.1 400 Bad Request\r\n\r\n") as address:
        error = refusal(address)
    assert "it answers b'HTTP/1.1" in error.seen and "no gRPC server" in error.why


def test_a_name_that_no_machine_has(monkeypatch):
    def unknown(*unused):
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr("socket.create_connection", unknown)
    assert "no machine has that name" in refusal("127.0.0.1:8470").why


def test_one_of_several_hosts():
    with listening(SETTINGS) as there:
        silent = nobody()
        error = refusal(there, silent, there)
    assert silent in error.seen and "(1 of 2 hosts are so)" in error.seen


def test_a_server_that_is_starting(monkeypatch, capfd):
    monkeypatch.setattr(waiting, "_PAUSE", 0.01)
    monkeypatch.setattr(waiting, "_QUIET", 0.2)
    with listening(*[b"HTTP/1.1 503 \r\n\r\n"] * 100 + [SETTINGS]) as address:
        waiting.reach("TPU 't'", [address], 60)
    line = capfd.readouterr().err
    assert "tpudist: TPU 't': no TensorFlow server at %s: it answers" % address in line
    assert "; waiting (60 s)" in line


def test_a_proxy_that_lets_it_through(monkeypatch):
    with listening(b"HTTP/1.1 200 OK\r\n\r\n" + SETTINGS) as proxy:
        monkeypatch.setenv("http_proxy", "http://user:word@%s/" % proxy)
        waiting.reach("the TPU", ["10.1.2.3:8470"], 5)


@pytest.mark.parametrize("variable", ["grpc_proxy", "https_proxy", "http_proxy"])
def test_a_proxy_that_does_not(monkeypatch, variable):
    with listening(b"HTTP/1.1 403 Forbidden\r\n\r\n") as proxy, listening(SETTINGS) as address:
        monkeypatch.setenv(variable, "http://" + proxy)
        error = refusal(address)
        assert "the proxy of %s answers 'HTTP/1.1 403 Forbidden'" % variable in error.seen
        assert "no_proxy=127.0.0.1 in the environment" in error.instead
        monkeypatch.setenv("no_proxy", "example.org, 127.0.0.1")
        waiting.reach("the TPU", [address], 5)


@pytest.mark.parametrize(
    "address, host",
    [
        ("10.1.2.3:80", ("10.1.2.3", 80)),
        ("10.1.2.3", ("10.1.2.3", 8470)),
        ("[fd00::2]:80", ("fd00::2", 80)),
        ("[fd00::2]", ("fd00::2", 8470)),
        ("fd00::2", ("fd00::2", 8470)),
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
