"""The client of a kubelet: its certificate is requested with a bootstrap token if there is none yet."""

from __future__ import annotations

import logging
from pathlib import Path

from pybernetes.client import Client, StatusError, kubeconfig, kubeconfig_files
from pybernetes.lib.clock import Clock
from pybernetes.lib.tls import tls
from pybernetes.node.kubelet.certificates.certificate_request import CLIENT_SIGNER, request_certificate
from pybernetes.node.kubelet.config import ConfigurationError
from pybernetes.node.kubelet.options import Options

log = logging.getLogger(__name__)


async def kubelet_client(path: str, bootstrap: str, options: Options) -> Client | None:
    """Return the client of a kubelet; with a bootstrap kubeconfig, request its certificate first."""
    if not path and not bootstrap:
        return None
    if not path:
        raise ConfigurationError("--bootstrap-kubeconfig needs --kubeconfig, the file to write")
    if bootstrap and not (Path(path).exists() and _is_valid(options)):
        await _bootstrap(Path(path), Path(bootstrap), options)
    try:
        return kubeconfig.load(path).client(user_agent="kubelet")
    except kubeconfig.ConfigError as error:
        raise ConfigurationError(str(error)) from None


def _is_valid(options: Options) -> bool:
    """Return whether the stored certificate still lets the kubelet in; one that it did not request is not its own."""
    assert options.certificates is not None
    pem = options.certificates / "kubelet-client-current.pem"
    return not pem.exists() or tls.is_current(pem)


async def _bootstrap(path: Path, bootstrap: Path, options: Options) -> None:
    assert options.certificates is not None
    pem = options.certificates / "kubelet-client-current.pem"
    if not pem.exists() or not _is_valid(options):
        async with kubeconfig.load(bootstrap).client(user_agent="kubelet") as client:
            pair = await _request_until_issued(client, options)
        tls.write_atomically(pem, pair.certificate + pair.key, 0o600)
    value = kubeconfig.read(bootstrap)
    context = kubeconfig_files.entry(value, "contexts", value["current-context"]) or {}
    cluster = kubeconfig_files.entry(value, "clusters", context.get("cluster") or "")
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


async def _request_until_issued(client: Client, options: Options) -> tls.Pair:
    """Request the client certificate until it is issued: the API server or the permission may not be there yet."""
    clock, delay = Clock(), 0.5
    while True:
        try:
            return await request_certificate(
                client, f"system:node:{options.node_name}", ("system:nodes",), CLIENT_SIGNER, (), clock
            )
        except (StatusError, OSError) as error:
            log.warning("the client certificate cannot be requested: %s; trying again", error)
        await clock.sleep(delay)
        delay = min(30.0, delay * 2)
