"""Endpoints in one line."""

from __future__ import annotations

from typing import Any

_SHOWN = 3


def endpoints(slices: list[dict[str, Any]], port_name: str) -> str:
    """The first addresses that are ready, and how many more there are."""
    if not slices:
        return "<none>"
    found: list[str] = []
    for each in slices:
        ready = [
            item
            for item in each.get("endpoints") or ()
            if (item.get("conditions") or {}).get("ready", True) is not False
        ]
        if not each.get("ports"):
            found += [item["addresses"][0] for item in ready]
        for port in each.get("ports") or ():
            if (port.get("name") or "") == port_name:
                found += [_joined(item["addresses"][0], port.get("port")) for item in ready]
    text = ",".join(found[:_SHOWN])
    return f"{text} + {len(found) - _SHOWN} more..." if len(found) > _SHOWN else text


def _joined(address: str, port: Any) -> str:
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
