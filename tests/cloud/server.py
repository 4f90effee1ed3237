"""A loopback server that speaks the TPU API, the metadata service and a TPU's version port.

Google's clients reach it by their own environment variables: TPU_API_DISCOVERY_URL
and GOOGLE_APPLICATION_CREDENTIALS for the TPU API, GCE_METADATA_IP, GCE_METADATA_HOST and
GCE_METADATA_ROOT for the metadata service, http_proxy for what has a fixed address
(metadata.google.internal of older clients, and port 8475 of a TPU's hosts).
"""

import http.server
import json
import socket
import threading
import time
import urllib.parse

PROJECT, ZONE = "tests", "us-central1-b"

#: What a machine of Google Cloud is told of itself.
METADATA = {
    "project/project-id": PROJECT,
    "instance/zone": "projects/1/zones/" + ZONE,
    "instance/network-interfaces/0/ip": "10.0.0.9",
    "instance/service-accounts/default/": {"email": "machine@tests", "scopes": ["all"]},
    "instance/service-accounts/machine@tests/token": {
        "access_token": "of-this-machine",
        "expires_in": 3600,
        "token_type": "Bearer",
    },
}

#: Words of a script of replies that are no reply.
CUT, GARBAGE, SLOW = "cut", "garbage", "slow"


def node(state="READY", version=1, tensorflow="2.8.0", hosts=1, type="v3-8", **more):
    """A TPU, as a version of the API describes it."""
    addresses = [{"ipAddress": "10.1.2.%d" % (3 + i), "port": 8470} for i in range(hosts)]
    reply = {
        "name": "projects/%s/locations/%s/nodes/t" % (PROJECT, ZONE),
        "acceleratorType": type,
        "state": state,
        "networkEndpoints": addresses,
    }
    if version == 1:
        reply.update(tensorflowVersion=tensorflow, ipAddress="10.1.2.3", port="8470")
    else:
        reply.update(runtimeVersion="tpu-vm-tf-%s" % tensorflow)
        for each in addresses:
            each["accessConfig"] = {"externalIp": "34.1.2.3"}
    reply.update(more)
    return reply


class Script:
    """What the server says, in turn; the last stays.

    Args:
      nodes: replies of the TPU API: dictionaries, HTTP statuses (or pairs of one and
        the server's words), or CUT, GARBAGE or SLOW.
      runtime: the version that the TPU's port 8475 names; None if nothing listens there.
      metadata: whether the metadata service knows project and zone, or one of the words
        above; several of them in turn as a list, whose last stays.
      account: the same, of the service account of this machine.
      tpus: the names that exist.
    """

    def __init__(self, *nodes, runtime=None, metadata=True, account=True, tpus=("t",)):
        self.nodes, self.runtime, self.tpus = nodes, runtime, tpus
        self.metadata = metadata if isinstance(metadata, list) else [metadata]
        self.account = account if isinstance(account, list) else [account]
        self.asked = []
        self.tokens = []
        self.configured = []
        self.stopped = threading.Event()
        self._lock = threading.Lock()

    def next(self, what="nodes"):
        with self._lock:
            replies = getattr(self, what)
            setattr(self, what, replies[1:] or replies)
            return replies[0]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0"

    def log_message(self, *unused):
        pass

    @property
    def script(self):
        return self.server.script

    def do_GET(self):
        target = urllib.parse.urlsplit(self.path)
        self.script.asked.append(self.path)
        if target.port == 8475:
            self._version(target.path)
        elif "/computeMetadata/" in target.path or target.path in ("", "/"):
            self._metadata(target.path.partition("/computeMetadata/v1/")[2])
        elif target.path == "/discovery":
            self._json(discovery(self.server.url, urllib.parse.parse_qs(target.query)["v"][0]))
        elif "/nodes/" in target.path:
            self._node(target.path)
        else:
            self._send(404, b"")

    do_POST = do_GET

    def do_CONNECT(self):
        self._send(501, b"")

    def _version(self, path):
        if self.script.runtime is None:
            return self._cut()
        wanted = path.partition("/requestversion/")[2]
        if wanted:
            self.script.configured.append(wanted)
            if wanted.startswith("9."):
                return self._send(404, b"")
            self.script.runtime = wanted
        self._json({"currentVersion": self.script.runtime})

    def _metadata(self, path):
        """Project, zone and account; an empty path asks whether there is such a service."""
        reply = True
        if path:
            reply = self.script.next("account" if "service-accounts" in path else "metadata")
        if reply in (CUT, GARBAGE, SLOW):
            return getattr(self, "_" + reply)()
        value = METADATA.get(path, "" if not path else None)
        if not reply or not any(self.script.metadata) or value is None:
            return self._send(404, b"")
        kind = "text/plain" if isinstance(value, str) else "application/json"
        body = value if isinstance(value, str) else json.dumps(value)
        self._send(200, body.encode(), {"Metadata-Flavor": "Google", "Content-Type": kind})

    def _node(self, path):
        reply = self.script.next()
        self.script.tokens.append(self.headers.get("Authorization"))
        parts = path.split("/")
        if isinstance(reply, dict) and (
            parts[-1] not in self.script.tpus or parts[3] != PROJECT or parts[5] != ZONE
        ):
            reply = (404, "Resource '%s' was not found" % "/".join(parts[2:]))
        if isinstance(reply, int):
            reply = (reply, "as the script has it")
        if isinstance(reply, tuple):
            status, words = reply
            self._json({"error": {"code": status, "message": words}}, status)
        elif isinstance(reply, dict):
            self._json(reply)
        else:
            getattr(self, "_" + reply)()

    def _cut(self):
        self.connection.shutdown(socket.SHUT_RDWR)

    def _garbage(self):
        self._send(200, b"<html>Please log in</html>", {"Content-Type": "application/json"})

    def _slow(self):
        self.script.stopped.wait(20)

    def _json(self, reply, status=200):
        self._send(status, json.dumps(reply).encode(), {"Content-Type": "application/json"})

    def _send(self, status, body, headers=()):
        self.send_response(status)
        for name, value in dict(headers).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Server(http.server.HTTPServer):
    """Answers each request in a thread of its own."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = "http://127.0.0.1:%d" % self.server_port
        self.script = Script(node())

    def process_request(self, request, client_address):
        threading.Thread(target=self._answer, args=(request, client_address), daemon=True).start()

    def _answer(self, request, client_address):
        try:
            self.finish_request(request, client_address)
        except OSError:  # the client has given up
            pass
        finally:
            self.shutdown_request(request)

    def handle_error(self, *unused):
        pass


def discovery(url, version):
    """The part of the API's description that its clients need."""
    get = {
        "id": "tpu.projects.locations.nodes.get",
        "path": version + "/{+name}",
        "httpMethod": "GET",
        "parameterOrder": ["name"],
        "response": {"$ref": "Node"},
        "parameters": {"name": {"type": "string", "required": True, "location": "path"}},
    }
    return {
        "kind": "discovery#restDescription",
        "name": "tpu",
        "version": version,
        "rootUrl": url + "/",
        "baseUrl": url + "/",
        "servicePath": "",
        "batchPath": "batch",
        "parameters": {},
        "schemas": {"Node": {"id": "Node", "type": "object", "properties": {}}},
        "resources": {
            "projects": {
                "resources": {"locations": {"resources": {"nodes": {"methods": {"get": get}}}}}
            }
        },
    }


def key():
    """The file of a service account that exists here only."""
    import rsa

    private = rsa.newkeys(1024)[1].save_pkcs1().decode()
    return json.dumps(
        {
            "type": "service_account",
            "client_id": "1",
            "client_email": "tests@tests",
            "private_key_id": "1",
            "private_key": private,
        }
    )


def elapsed(function):
    """(what it returns or raises, seconds)."""
    start = time.monotonic()
    try:
        outcome = function()
    except Exception as error:  # noqa: BLE001
        outcome = error
    return outcome, time.monotonic() - start
