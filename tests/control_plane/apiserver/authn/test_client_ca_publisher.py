"""The ConfigMap that tells other servers whom to trust."""

from __future__ import annotations

import ssl
import time
from types import SimpleNamespace
from typing import Any

from pybernetes.client.refs import CONFIG_MAPS
from pybernetes.control_plane.apiserver.authn import client_ca_publisher as trust_module
from pybernetes.control_plane.apiserver.authn.client_ca_publisher import NAME, NAMESPACE, ClientAuthorities
from pybernetes.lib.tls import tls
from tests.cluster import Cluster
from tests.support import eventually


def combined(existing: dict[str, str], trust: ClientAuthorities, days: int = 0) -> dict[str, str]:
    return trust_module.combined(existing, trust, time.time() + days * 86400)


def authority(days: int = 30) -> tuple[str, Any]:
    made = tls.create_authority("authority", days).certificate.decode()
    pem = ssl.DER_cert_to_PEM_cert(ssl.PEM_cert_to_DER_cert(made))
    return pem, SimpleNamespace(certificates=(ssl.PEM_cert_to_DER_cert(made),))


def test_what_is_there_and_what_we_add() -> None:
    ours, clients = authority()
    theirs, _ = authority()
    assert combined({}, ClientAuthorities()) == {}
    assert combined({}, ClientAuthorities(clients)) == {"client-ca-file": ours}
    assert combined({"client-ca-file": ours}, ClientAuthorities(clients)) == {"client-ca-file": ours}
    assert combined({"client-ca-file": theirs}, ClientAuthorities(clients)) == {
        "client-ca-file": theirs + ours
    }
    assert combined({"client-ca-file": "nonsense", "other": "x"}, ClientAuthorities(clients)) == {
        "client-ca-file": ours
    }


def test_what_has_expired_goes() -> None:
    ours, clients = authority()
    short, _ = authority(days=1)
    assert combined({"client-ca-file": short}, ClientAuthorities(clients)) == {"client-ca-file": short + ours}
    assert combined({"client-ca-file": short}, ClientAuthorities(clients), days=2) == {"client-ca-file": ours}


def test_front_proxies() -> None:
    pem, proxies = authority()
    trust = ClientAuthorities(None, proxies, ["proxy"], ["X-User"], [], ["X-Group"], ["X-Extra-"])
    alone = {
        "requestheader-client-ca-file": pem,
        "requestheader-allowed-names": '["proxy"]',
        "requestheader-extra-headers-prefix": '["X-Extra-"]',
        "requestheader-group-headers": '["X-Group"]',
        "requestheader-username-headers": '["X-User"]',
    }
    assert combined({}, trust) == alone
    assert combined(alone, trust) == alone
    assert combined({**alone, "requestheader-allowed-names": "{broken"}, trust) == alone
    there = {
        **alone,
        "requestheader-allowed-names": '["other","proxy"]',
        "requestheader-uid-headers": '["X-Uid"]',
    }
    assert combined(there, trust) == there


async def test_it_is_kept_up_to_date() -> None:
    async with Cluster() as cluster:

        async def data() -> dict[str, str]:
            return (await cluster.client.get(CONFIG_MAPS, NAME, NAMESPACE)).get("data", {})

        pem = (cluster.directory / "ca.crt").read_text()
        published = await data()
        assert published["requestheader-allowed-names"] == '["front-proxy-client"]'
        assert ssl.PEM_cert_to_DER_cert(published["client-ca-file"]) == ssl.PEM_cert_to_DER_cert(pem)
        health = await cluster.server.health.respond("/readyz", "verbose")
        assert health and b"[+]poststarthook/start-cluster-authentication-info-controller ok" in health[2]
        # Others may delete it or spoil it.
        await cluster.client.delete(CONFIG_MAPS, NAME, NAMESPACE)
        await eventually(lambda: cluster.server.store.get(f"/registry/configmaps/{NAMESPACE}/{NAME}"))
        assert await data() == published
        await cluster.client.patch(CONFIG_MAPS, NAME, {"data": {"client-ca-file": "spoiled"}}, NAMESPACE)

        async def restored() -> bool:
            return await data() == published

        await eventually(restored)
        # A new authority joins when the next client connects.
        another = tls.create_authority("another").certificate
        tls.write_atomically(cluster.directory / "ca.crt", pem.encode() + another)
        await cluster.rest_client().list(CONFIG_MAPS)

        async def both() -> bool:
            return (await data())["client-ca-file"].count("BEGIN CERTIFICATE") == 2

        await eventually(both)
