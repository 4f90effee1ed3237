"""Turns what the clients of the TPU API raise into errors of three parts.

The clients turn whatever happens into a ValueError with a text; the chain of
exceptions behind it has the status and the server's own words.
"""

from __future__ import annotations

import http.client
import json
import re
import urllib.error
from typing import TYPE_CHECKING, Any, Iterator, NamedTuple

from tpudist.cloud import deadlines, nodes
from tpudist.errors import TPUAccessError, TPUNameError, TPUStateError

if TYPE_CHECKING:
    from tpudist.errors import TpudistError


class Asked(NamedTuple):
    """The TPU that was asked for; zone and project are empty if they are not known yet."""

    name: str
    zone: str = ""
    project: str = ""

    @property
    def place(self) -> str:
        """Name, zone and project as one phrase, for errors."""
        if not self.zone:
            return "TPU %r" % self.name
        return "TPU %r in zone %s of project %s" % self


class Failure(NamedTuple):
    """An error, and whether asking again may help."""

    error: TpudistError
    passes: bool


_LOGIN = "gcloud auth application-default login; or GOOGLE_APPLICATION_CREDENTIALS=KEY.json"
_CREDENTIALS = ("ApplicationDefaultCredentialsError", "DefaultCredentialsError")
_REFUSED = ("AccessTokenRefreshError", "HttpAccessTokenRefreshError", "RefreshError")


def explain(error: BaseException, asked: Asked) -> Failure:
    """The error, in three parts, that a failure of the clients means."""
    chain = list(_chain(error))
    for rule in (_packages, _late, _metadata, _status, _credentials, _garbage, _network):
        for each in chain:
            failure = rule(each, asked)
            if failure:
                return failure
    return Failure(
        TPUNameError(
            "Could not lookup TPU metadata: %s: %s" % (asked.place, _line(chain[-1])),
            "Google's client fails at it",
            "the name as 'gcloud compute tpus list --zone=ZONE' prints it; tpu='virtual:8' "
            "where there is no TPU",
        ),
        False,
    )


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        reason = getattr(error, "reason", None)
        error = (
            reason if isinstance(reason, BaseException) else error.__cause__ or error.__context__
        )


def _access(seen: str, why: str, instead: str, passes: bool = False) -> Failure:
    return Failure(TPUAccessError(seen, why, instead), passes)


def _packages(error: BaseException, asked: Asked) -> Failure | None:
    if type(error).__name__ == "ProxiesUnavailableError":
        return _access(
            "%s, and a proxy without PySocks: %s" % (asked.place, _line(error)),
            "Google's client reaches proxies (http_proxy) with that package",
            "pip install PySocks; or without the proxy: unset http_proxy https_proxy",
        )
    if not isinstance(error, ImportError) and "dependency on the Google API" not in str(error):
        return None
    return _access(
        "%s, and Google's client is not installed" % asked.place,
        "a name is looked up with the packages google-api-python-client and oauth2client",
        'pip install "tpudist[tpu]"; or the address: tpu="grpc://IP:8470"',
    )


def _late(error: BaseException, asked: Asked) -> Failure | None:
    if not isinstance(error, deadlines.TooLate):
        return None
    return _access(
        "%s: %s" % (asked.place, error),
        "Google's services do not answer from here%s" % _no_place(asked),
        "%s; or more time: %s=120 in the environment" % (_with_place(asked), deadlines.TIMEOUT),
    )


def _no_place(asked: Asked) -> str:
    if asked.zone and asked.project:
        return ""
    return ", and zone and project, which were not given, come from a Google Cloud machine"


def _with_place(asked: Asked) -> str:
    if asked.zone and asked.project:
        return "a machine from which https://tpu.googleapis.com can be reached"
    return "TPUClusterResolver(tpu=%r, zone=ZONE, project=PROJECT)" % asked.name


def _metadata(error: BaseException, asked: Asked) -> Failure | None:
    """Only the metadata service is asked by urllib: for the zone and the project."""
    if not isinstance(error, urllib.error.HTTPError):
        return None
    return _access(
        "%s: the metadata service answered %d" % (asked.place, error.code),
        "it does not tell zone and project%s" % _no_place(asked),
        _with_place(asked),
        error.code == 429 or error.code >= 500,
    )


def _status(error: BaseException, asked: Asked) -> Failure | None:
    status = _number(error)
    if status is None:
        return None
    seen = "%s: the server answered %d%s" % (asked.place, status, _said(error))
    if status == 404:
        return Failure(
            TPUNameError(
                seen,
                "there is no TPU of that name in that zone and project",
                "name and zone as 'gcloud compute tpus list --zone=ZONE --project=PROJECT' "
                "prints them (%s)" % _with_place(Asked(asked.name)),
            ),
            False,
        )
    why, instead, passes = _MEANINGS.get(status, _MEANINGS[500 if status >= 500 else 400])
    if status == 403 and re.search("disabled|has not been used", _said(error)):
        why, instead = "the project has not turned the TPU API on", _ENABLE
    if status == 403 and "authentication scopes" in _said(error):
        why, instead = "this machine's service account is not given that scope", _SCOPES
    project = asked.project or "PROJECT"
    return _access(seen, why, instead.format(project=project, timeout=deadlines.TIMEOUT), passes)


_ENABLE = "gcloud services enable tpu.googleapis.com --project={project}"
_SCOPES = (
    "gcloud compute instances set-service-account VM --scopes=cloud-platform (of a machine that "
    "is stopped); or credentials of your own: " + _LOGIN
)
_LATER = "the same later, or with more time to ask again: {timeout}=300 in the environment"

#: {status: (why, instead, whether asking again may help)}.
_MEANINGS = {
    400: (
        "zone, project or name is malformed",
        "a zone such as us-central1-b, a project's ID (not its title or number), the short name",
        False,
    ),
    401: ("the credentials are expired, or of nobody it knows", _LOGIN, False),
    403: (
        "the credentials may not see TPUs of that project (permission tpu.nodes.get)",
        "gcloud projects add-iam-policy-binding {project} --member=user:YOU "
        "--role=roles/tpu.viewer; or the credentials of who may: " + _LOGIN,
        False,
    ),
    429: ("the project asks the TPU API more often than its quota allows", _LATER, True),
    500: ("the TPU API has a fault of its own", _LATER, True),
}


def _number(error: BaseException) -> int | None:
    """The HTTP status of an answer, of any of the clients."""
    status: Any = getattr(getattr(error, "resp", None), "status", None)
    status = status or getattr(error, "code", None) or getattr(error, "status", None)
    return status if isinstance(status, int) and status >= 400 else None


def _said(error: BaseException) -> str:
    """The server's own words, after a colon."""
    content = getattr(error, "content", b"")
    try:
        reply = json.loads(content.decode("utf-8"))
        return ": %s" % reply["error"]["message"]
    except (ValueError, TypeError, KeyError, AttributeError):
        return ""


def _credentials(error: BaseException, asked: Asked) -> Failure | None:
    kind = type(error).__name__
    if kind in _CREDENTIALS:
        return _access(
            "%s, and no Google credentials: no file, and no machine of Google Cloud" % asked.place,
            "the TPU API answers only who has logged in",
            _LOGIN,
        )
    if kind in _REFUSED and isinstance(error.__context__, OSError):
        return None  # nobody refused: no connection
    if kind in _REFUSED and "metadata" in str(error):
        return _access(
            "%s, and no credentials of this machine: %s" % (asked.place, _line(error)),
            "this machine of Google Cloud has no service account",
            _SCOPES.replace("VM ", "VM --service-account=ACCOUNT "),
        )
    if kind in _REFUSED:
        return _access(
            "%s: Google refused the credentials: %s" % (asked.place, _line(error)),
            "they are expired or revoked",
            _LOGIN,
        )
    return None


def _garbage(error: BaseException, asked: Asked) -> Failure | None:
    if not isinstance(error, (json.JSONDecodeError, UnicodeDecodeError, nodes.Garbled)):
        return None
    return _access(
        "%s: the reply cannot be read: %s" % (asked.place, _line(error)),
        "something between here and the TPU API answers in its place (a proxy, a login page)",
        "no proxy for it: NO_PROXY=tpu.googleapis.com,metadata.google.internal",
        True,
    )


def _network(error: BaseException, asked: Asked) -> Failure | None:
    lost = isinstance(error, (OSError, http.client.HTTPException))
    if not lost and type(error).__name__ not in ("ServerNotFoundError", "HttpLib2Error"):
        return None
    return _access(
        "%s: no connection: %s" % (asked.place, _line(error)),
        "Google's services cannot be reached from here%s" % _no_place(asked),
        _with_place(asked) + "; tpu='virtual:8' where there is no TPU",
        True,
    )


def _line(error: BaseException) -> str:
    text = (str(error).strip().splitlines() or [""])[0]
    return "%s: %s" % (type(error).__name__, text) if text else type(error).__name__


def not_ready(error: BaseException, asked: Asked) -> TPUStateError:
    """The error of a TPU that TensorFlow's resolver does not take for ready, as `error` says."""
    return TPUStateError(
        "%s: %s" % (asked.place, _line(error)),
        "TensorFlow's resolver takes only a TPU whose state is READY",
        "gcloud compute tpus describe %s --zone=%s, which shows its state"
        % (asked.name, asked.zone or "ZONE"),
    )
