"""The CNI configuration of a node: a bridge, addresses of the node's range, and ports of the node for pods."""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pybernetes.api.resource import Object

FILE = "10-pybernetes.conflist"
BRIDGE = "cni0"


def configuration(
    pod_cidrs: Sequence[str],
    *,
    bridge: str = BRIDGE,
    mtu: int = 0,
    state: Path | None = None,
    masquerade: bool = False,
) -> Object:
    """Return the list of plugins for a node with these ranges; ``state`` is where addresses are kept.

    ``masquerade`` hides pods behind their node from everybody else: for a node that is alone.
    """
    networks = [ipaddress.ip_network(text) for text in pod_cidrs]
    routes = [{"dst": "0.0.0.0/0" if network.version == 4 else "::/0"} for network in networks]
    addresses: Object = {
        "type": "host-local",
        "ranges": [[{"subnet": str(network)}] for network in networks],
        "routes": routes,
    }
    if state is not None:
        addresses["dataDir"] = str(state)
    main: Object = {
        "type": "bridge",
        "bridge": bridge,
        "isGateway": True,
        "ipMasq": masquerade,
        "hairpinMode": True,
        "promiscMode": False,
        "ipam": addresses,
    }
    if mtu:
        main["mtu"] = mtu
    return {
        "cniVersion": "0.4.0",
        "name": "pybernetes",
        "plugins": [
            main,
            {"type": "portmap", "capabilities": {"portMappings": True}, "snat": True},
        ],
    }


def write(folder: Path, pod_cidrs: Sequence[str], **options: Any) -> bool:
    """Write the configuration where the runtime looks for it, and return whether it differed."""
    text = json.dumps(configuration(pod_cidrs, **options), indent=2) + "\n"
    path = folder / FILE
    if path.exists() and path.read_text() == text:
        return False
    folder.mkdir(parents=True, exist_ok=True)
    temporary = folder / f".{FILE}"
    temporary.write_text(text)
    temporary.replace(path)
    return True
