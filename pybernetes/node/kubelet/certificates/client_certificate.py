"""Who the kubelet is: its client certificate, asked for with a bootstrap token, and its serving certificate."""

from __future__ import annotations

import asyncio
import base64
import datetime
import logging
import random
from pathlib import Path
from typing import Any

from pybernetes.client import Client, StatusError, kubeconfig
from pybernetes.client.refs import CERTIFICATE_SIGNING_REQUESTS
from pybernetes.lib import tls
from pybernetes.lib.clock import Clock
from pybernetes.node.kubelet.config import ConfigurationError, Options

log = logging.getLogger(__name__)
CLIENT_SIGNER = "kubernetes.io/kube-apiserver-client-kubelet"
SERVING_SIGNER = "kubernetes.io/kubelet-serving"
_RENEW_AFTER = 0.8


async def client(path: str, bootstrap: str, options: Options) -> Client | None:
    """Return the client of a kubelet; with a bootstrap kubeconfig, request its certificate first."""
    if not path and not bootstrap:
        return None
    if not path:
        raise ConfigurationError("--bootstrap-kubeconfig needs --kubeconfig, the file to write")
    if bootstrap and not (Path(path).exists() and _is_good(options)):
        await _bootstrap(Path(path), Path(bootstrap), options)
    try:
        return kubeconfig.load(path).client(user_agent="kubelet")
    except kubeconfig.ConfigError as error:
        raise ConfigurationError(str(error)) from None


def _is_good(options: Options) -> bool:
    """Return whether the stored certificate still lets the kubelet in; one that it did not request is not its own."""
    from cryptography import x509

    assert options.certificates is not None
    pem = options.certificates / "kubelet-client-current.pem"
    if not pem.exists():
        return True
    try:
        certificate = x509.load_pem_x509_certificate(pem.read_bytes())
    except ValueError:
        return False
    return certificate.not_valid_after_utc > datetime.datetime.now(datetime.UTC)


async def _bootstrap(path: Path, bootstrap: Path, options: Options) -> None:
    assert options.certificates is not None
    pem = options.certificates / "kubelet-client-current.pem"
    if not pem.exists() or not _is_good(options):
        async with kubeconfig.load(bootstrap).client(user_agent="kubelet") as asker:
            pair = await _patiently(asker, options)
        tls.write_atomically(pem, pair.certificate + pair.key, 0o600)
    value = kubeconfig.read(bootstrap)
    context = next(
        context["context"] for context in value["contexts"] if context["name"] == value["current-context"]
    )
    cluster = next(
        cluster["cluster"] for cluster in value["clusters"] if cluster["name"] == context["cluster"]
    )
    import yaml

    made = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "default-cluster", "cluster": cluster}],
        "users": [{"name": "default-auth", "user": {"client-certificate": str(pem), "client-key": str(pem)}}],
        "contexts": [
            {"name": "default-context", "context": {"cluster": "default-cluster", "user": "default-auth"}}
        ],
        "current-context": "default-context",
    }
    tls.write_atomically(path, yaml.safe_dump(made).encode(), 0o600)


async def _patiently(asker: Client, options: Options) -> tls.Pair:
    """Request the client certificate until it is issued: the API server or the permission may be yet to come."""
    clock, delay = Clock(), 0.5
    while True:
        try:
            return await request(
                asker, f"system:node:{options.node_name}", ("system:nodes",), CLIENT_SIGNER, (), clock
            )
        except (StatusError, OSError) as error:
            log.warning("the client certificate cannot be had: %s; trying again", error)
        await clock.sleep(delay)
        delay = min(30.0, delay * 2)


async def request(
    asker: Client,
    common_name: str,
    organizations: tuple[str, ...],
    signer: str,
    names: tuple[str, ...],
    clock: Clock,
) -> tls.Pair:
    """Request a certificate and wait until it is approved and signed."""
    key, text = signing_request(common_name, organizations, names)
    usages = ["digital signature", "client auth" if signer == CLIENT_SIGNER else "server auth"]
    body: dict[str, Any] = {
        "metadata": {"generateName": "csr-"},
        "spec": {"request": base64.b64encode(text).decode(), "signerName": signer, "usages": usages},
    }
    made = await asker.create(CERTIFICATE_SIGNING_REQUESTS, body)
    name = made["metadata"]["name"]
    while True:
        status = made.get("status", {})
        if status.get("certificate"):
            return tls.Pair(base64.b64decode(status["certificate"]), key)
        for condition in status.get("conditions", ()):
            if condition["type"] in ("Denied", "Failed"):
                raise ConfigurationError(
                    f"certificate signing request {name} is not approved, reason: {condition.get('reason')!r}, message: {condition.get('message')!r}"
                )
        watch = asker.watch(
            CERTIFICATE_SIGNING_REQUESTS, name=name, resource_version=made["metadata"]["resourceVersion"]
        )
        try:
            async with watch:
                batch = await watch.batch()
                made = next((obj for type_, obj in batch if type_ == "MODIFIED"), made)
        except (StatusError, OSError):
            await clock.sleep(1)
            made = await asker.get(CERTIFICATE_SIGNING_REQUESTS, name)


def signing_request(
    common_name: str, organizations: tuple[str, ...], names: tuple[str, ...]
) -> tuple[bytes, bytes]:
    """Return a new key and a request for its certificate, both PEM."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    parts = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, organization) for organization in organizations]
    subject = x509.Name([*parts, x509.NameAttribute(NameOID.COMMON_NAME, common_name)])
    builder = x509.CertificateSigningRequestBuilder().subject_name(subject)
    if names:
        listed = [tls._general_name(name) for name in names]
        builder = builder.add_extension(x509.SubjectAlternativeName(listed), critical=False)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return private, builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def serving_files(options: Options, addresses: tuple[str, ...]) -> tuple[Path, Path]:
    """Return the files of the serving certificate: the configured ones, or a self-signed one."""
    settings = options.configuration
    if settings["tlsCertFile"] and settings["tlsPrivateKeyFile"]:
        return Path(settings["tlsCertFile"]), Path(settings["tlsPrivateKeyFile"])
    assert options.certificates is not None
    current = options.certificates / "kubelet-server-current.pem"
    if settings["serverTLSBootstrap"] and current.exists():
        return current, current
    names = [options.hostname or options.node_name, options.node_name, *addresses, "127.0.0.1", "localhost"]
    certificate, key, _ = tls.ensure_serving(options.certificates, names, stem="kubelet")
    return certificate, key


def renewal_delay(path: Path, now: float) -> float:
    """Return the seconds until a certificate is to be replaced: when about four fifths of its life are over."""
    from cryptography import x509

    certificate = x509.load_pem_x509_certificate(path.read_bytes())
    begin, end = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    share = _RENEW_AFTER + random.random() * 0.1 - 0.05
    due = begin + (end - begin) * share
    return max(0.0, (due - datetime.datetime.fromtimestamp(now, datetime.UTC)).total_seconds())


class CertificateRotation:
    """Replaces a certificate (client or serving) before it expires."""

    def __init__(self, client: Client, clock: Clock, options: Options, addresses: tuple[str, ...]) -> None:
        self._client, self._clock, self._options, self._addresses = client, clock, options, addresses

    async def run(self, signer: str, path: Path, replaced: Any) -> None:
        """Renew one certificate until cancelled; ``replaced`` is called with its new file."""
        while True:
            if path.exists():
                await self._clock.sleep(renewal_delay(path, self._clock.now()))
            names = (self._options.hostname or self._options.node_name, *self._addresses)
            try:
                pair = await request(
                    self._client, f"system:node:{self._options.node_name}", ("system:nodes",), signer,
                    names if signer == SERVING_SIGNER else (), self._clock,
                )  # fmt: skip
            except (StatusError, OSError, ConfigurationError) as error:
                log.warning("the certificate %s cannot be renewed: %s", path.name, error)
                await self._clock.sleep(60)
                continue
            await asyncio.to_thread(tls.write_atomically, path, pair.certificate + pair.key, 0o600)
            replaced(path)
