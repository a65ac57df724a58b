"""Routes of the local cloud, for the host helper: in every node's namespace, to the pods of each other node."""

from __future__ import annotations

import ipaddress
import json
import threading
from collections.abc import Callable, Mapping
from typing import Any

from pybernetes.tools.local.network.network import namespace, run

# By which the cloud knows its own routes.
PROTOCOL = "81"


class HostRoutes:
    """The routes of one cluster, as the kernel has them; ``nodes`` gives the addresses of nodes with a namespace."""

    def __init__(self, cluster: str, pod_range: str, nodes: Callable[[], Mapping[str, str]]) -> None:
        self._cluster, self._nodes = cluster, nodes
        self._pods = [ipaddress.ip_network(text) for text in pod_range.split(",")]
        self._lock = threading.Lock()

    def all(self) -> list[dict[str, Any]]:
        """Return every route: its range, its node, and whether all other nodes have it."""
        nodes = self._nodes()
        names = {address: name for name, address in nodes.items()}
        present: dict[tuple[str, str], set[str]] = {}
        for node in nodes:
            for route in json.loads(self._ip(node, "-json", "route", "show", "proto", PROTOCOL)):
                present.setdefault((route["dst"], route["gateway"]), set()).add(node)
        return [
            {
                "destination": destination,
                "node": names.get(gateway, ""),
                "gateway": gateway,
                "complete": holders >= nodes.keys() - {names.get(gateway, "")},
            }
            for (destination, gateway), holders in sorted(present.items())
        ]

    def add(self, asked: Mapping[str, Any]) -> None:
        """Route a range to a node, from all others; ValueError for what is no range of pods or no node."""
        destination, nodes = self._range(asked["destination"]), self._nodes()
        if asked["node"] not in nodes:
            raise ValueError(f"{asked['node']!r} is no node of this cluster")
        gateway = nodes[asked["node"]]
        with self._lock:
            for node in nodes:
                if node == asked["node"]:
                    self._remove(node, destination)  # it may have been another's
                else:
                    self._ip(node, "route", "replace", destination, "via", gateway, "proto", PROTOCOL)

    def remove(self, asked: Mapping[str, Any]) -> None:
        """Remove the route of a range to an address, if it still leads there."""
        destination, gateway = self._range(asked["destination"]), str(ipaddress.ip_address(asked["gateway"]))
        with self._lock:
            for node in self._nodes():
                self._remove(node, destination, "via", gateway)

    def _remove(self, node: str, destination: str, *how: str) -> None:
        route = (destination, *how, "proto", PROTOCOL)
        if self._ip(node, "route", "show", *route).strip():
            self._ip(node, "route", "delete", *route)

    def _range(self, text: object) -> str:
        if not isinstance(text, str):
            raise ValueError("a range is a text")
        wanted = ipaddress.ip_network(text)
        for pods in self._pods:
            if wanted.version == pods.version and wanted.subnet_of(pods) and wanted != pods:  # type: ignore[arg-type]
                return str(wanted)
        raise ValueError(f"{text} is no range of pods of this cluster")

    def _ip(self, node: str, *arguments: str) -> str:
        return run("ip", "-netns", namespace(self._cluster, node), *arguments)
