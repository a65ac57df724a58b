"""Endpoints in one line."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.api.resource import Object


_SHOWN = 3


def endpoints(slices: list[Object], port_name: str) -> str:
    """Return the first addresses that are ready, and how many more there are."""
    if not slices:
        return "<none>"
    addresses: list[str] = []
    for endpoint_slice in slices:
        ready = [
            item
            for item in endpoint_slice.get("endpoints") or ()
            if (item.get("conditions") or {}).get("ready", True) is not False
        ]
        if not endpoint_slice.get("ports"):
            addresses += [item["addresses"][0] for item in ready]
        for port in endpoint_slice.get("ports") or ():
            if (port.get("name") or "") == port_name:
                addresses += [_joined(item["addresses"][0], port.get("port")) for item in ready]
    text = ",".join(addresses[:_SHOWN])
    return f"{text} + {len(addresses) - _SHOWN} more..." if len(addresses) > _SHOWN else text


def _joined(address: str, port: Any) -> str:
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
