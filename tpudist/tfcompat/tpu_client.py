"""The client of the TPU API behind TensorFlow's own resolver.

From 2.2 on the resolver has an object of its own for it: of the package
cloud_tpu_client where that is installed, else of the copy inside TensorFlow.
Before, the resolver asks the API itself, and only cloud_tpu_client sets a
runtime's version.
"""

from __future__ import annotations

from typing import Any

from tpudist.tfcompat import versions
from tpudist.tfcompat.tpu import TPUClusterResolver


def _text(value: Any) -> str:
    return value.decode("utf-8") if isinstance(value, bytes) else value


def name(resolver: Any) -> str:
    """The name or address of a resolver's TPU, a str."""
    return _text(resolver._tpu) or ""


def asks_the_api(resolver: object) -> bool:
    """Whether a resolver looks its TPU up by name."""
    if not isinstance(resolver, TPUClusterResolver):
        return False
    if versions.RESOLVER_HAS_CLIENT:
        return resolver._cloud_tpu_client.api_available()
    if versions.RESOLVER_IN_CAMEL_CASE:
        return resolver._shouldResolve()
    return resolver._should_resolve()


def place(resolver: Any) -> tuple[Any, ...]:
    """(zone, project) of a resolver that asks the API."""
    owner = resolver._cloud_tpu_client if versions.RESOLVER_HAS_CLIENT else resolver
    return _text(owner._zone), _text(owner._project)


def fetch(resolver: Any) -> Any:
    """The TPU API's reply on the TPU of a resolver, decoded."""
    if versions.RESOLVER_HAS_CLIENT:
        return resolver._cloud_tpu_client._fetch_cloud_tpu_metadata()
    # 2.0's own way to ask keeps quiet about errors.
    camel = versions.RESOLVER_IN_CAMEL_CASE
    service = resolver._tpuService() if camel else resolver._tpu_service()
    full = "projects/%s/locations/%s/nodes/%s" % (resolver._project, resolver._zone, name(resolver))
    return service.projects().locations().nodes().get(name=full).execute()


def endpoints(resolver: object) -> list[Any]:
    """``["IP:PORT", ...]`` of a TPU that is named by its addresses; empty for the local one."""
    if not isinstance(resolver, TPUClusterResolver) or name(resolver) in ("", "local"):
        return []
    parts = [each.rpartition("://") for each in name(resolver).split(",")]
    return [
        address
        for scheme, _, address in parts
        if scheme in ("", "grpc") and not address.startswith("/")
    ]


def configure(resolver: Any, version: str) -> None:
    """Sets the version, such as "2.8.0", of the runtime of a TPU that is READY; it restarts."""
    if versions.RESOLVER_HAS_CLIENT:
        client = resolver._cloud_tpu_client
    else:
        from cloud_tpu_client import Client

        zone, project = place(resolver) if asks_the_api(resolver) else (None, None)
        client = Client(name(resolver), zone=zone, project=project)
    client.configure_tpu_version(version)
