"""The CNI configuration of a node: links or a bridge, addresses of the node's range, and ports of the node for pods."""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pybernetes.api.resource import Object

FILE = "10-pybernetes.conflist"


def configuration(
    pod_cidrs: Sequence[str],
    *,
    bridge: str = "",
    mtu: int = 0,
    state: Path | None = None,
    masquerade: bool = False,
    gate: str = "",
) -> Object:
    """Return the list of plugins for a node with these ranges; ``state`` is where addresses are kept.

    Without a bridge each pod has a link of its own to the node, which routes all of its packets. ``masquerade`` hides
    pods behind their node from everybody else: for a node that is alone. ``gate`` is a plugin that is asked last.
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
    main: Object = {"type": "ptp", "ipMasq": masquerade, "ipam": addresses}
    if bridge:
        main |= {
            "type": "bridge",
            "bridge": bridge,
            "isGateway": True,
            "hairpinMode": True,
            "promiscMode": False,
        }
    if mtu:
        main["mtu"] = mtu
    return {
        "cniVersion": "0.4.0",
        "name": "pybernetes",
        "plugins": [
            main,
            {"type": "portmap", "capabilities": {"portMappings": True}, "snat": True},
            *([{"type": gate}] if gate else []),
        ],
    }


def write(folder: Path, pod_cidrs: Sequence[str], **options: Any) -> bool:
    """Write the configuration where the runtime looks for it, and return whether it differed."""
    return _write(folder, configuration(pod_cidrs, **options))


def add_gate(folder: Path, gate: str) -> None:
    """Let a configuration that is there already ask a plugin last."""
    try:
        there = json.loads((folder / FILE).read_text())
        if all(plugin["type"] != gate for plugin in there["plugins"]):
            there["plugins"].append({"type": gate})
            _write(folder, there)
    except (OSError, ValueError, KeyError, TypeError):
        return  # none, or none of ours


def _write(folder: Path, wanted: Object) -> bool:
    text = json.dumps(wanted, indent=2) + "\n"
    path = folder / FILE
    if path.exists() and path.read_text() == text:
        return False
    folder.mkdir(parents=True, exist_ok=True)
    temporary = folder / f".{FILE}"
    temporary.write_text(text)
    temporary.replace(path)
    return True
