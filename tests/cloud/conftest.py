"""The loopback server, and the environment in which Google's clients ask it."""

import threading

import pytest

from tests.cloud import server as servers


@pytest.fixture(scope="session")
def credentials(tmp_path_factory):
    """The path of a service account's file."""
    for package in ("rsa", "googleapiclient", "socks"):
        pytest.importorskip(package, reason='pip install ".[test-cloud]" brings it')
    path = tmp_path_factory.mktemp("credentials") / "key.json"
    path.write_text(servers.key())
    return str(path)


@pytest.fixture(scope="session")
def running():
    """The server."""
    server = servers.Server()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def google(running, credentials, monkeypatch):
    """Makes the server say what a script has; returns the script.

    The clients have time enough on any machine; see `hurry`.
    """
    for name in ("TPU_NAME", "KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS", "COLAB_TPU_ADDR", "TPU_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    for name in ("GCE_METADATA_HOST", "GCE_METADATA_IP", "TPUDIST_TPU"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("urllib.request._opener", None)  # it keeps the first call's proxies
    monkeypatch.setenv("http_proxy", running.url)
    monkeypatch.setenv("no_proxy", "127.0.0.1,localhost")
    monkeypatch.setenv("TPU_API_DISCOVERY_URL", running.url + "/discovery?v={apiVersion}")
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", credentials)
    monkeypatch.setenv("TPUDIST_TPU_TIMEOUT", "60")

    def play(*nodes, **options):
        running.script = servers.Script(*(nodes or (servers.node(),)), **options)
        return running.script

    yield play
    running.script.stopped.set()


@pytest.fixture
def hurry(google, monkeypatch):
    """Two seconds until what never comes is given up."""
    monkeypatch.setenv("TPUDIST_TPU_TIMEOUT", "2")
