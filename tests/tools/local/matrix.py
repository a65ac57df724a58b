"""Who reaches what in a cluster, tried one by one, as a table."""

from __future__ import annotations

import ipaddress
import subprocess
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Protocol

from pybernetes.tools.local.network import network
from pybernetes.tools.local.network.ip_families import bracketed
from tests.support import until

SOURCES = ("pod", "node", "this machine")
TARGETS = ("pod here", "pod there", "service", "NodePort here", "NodePort there", "LoadBalancer", "external")
# This machine has neither routes to pods nor rules of services.
NEVER = {("this machine", target) for target in ("pod here", "pod there", "service")}
Cell = tuple[str, str]
seconds = 3  # that a try may take; a slow machine needs more


class Cluster(Protocol):
    """What is asked of a cluster with the objects of ``test_ip_families``."""

    def read(self, *what: str) -> Any: ...
    def inside(self, command: str) -> str: ...
    def balanced(self, name: str) -> list[str]: ...


def targets(cluster: Cluster, version: int, external: str) -> dict[str, str]:
    """Return the place of each target in a family, as seen from the pod ``look``."""
    here = cluster.read("pod", "look")["spec"]["nodeName"]
    pods = {
        pod["spec"]["nodeName"]: pod["status"]["podIPs"]
        for pod in cluster.read("pods", "-l", "app=web")["items"]
    }
    nodes = {
        node["metadata"]["name"]: [entry["address"] for entry in node["status"]["addresses"] if entry["type"] == "InternalIP"]
        for node in cluster.read("nodes")["items"]
    }  # fmt: skip
    there = next(name for name in nodes if name != here)

    def own(addresses: Iterable[str]) -> str:
        return next(bracketed(text) for text in addresses if ipaddress.ip_address(text).version == version)

    return {
        "pod here": own(entry["ip"] for entry in pods[here]),
        "pod there": own(entry["ip"] for entry in pods[there]),
        "service": own(cluster.read("service", "plain")["spec"]["clusterIPs"]),
        "NodePort here": own(nodes[here]) + ":30123",
        "NodePort there": own(nodes[there]) + ":30123",
        "LoadBalancer": own(cluster.balanced("balanced")),
        "external": external,
    }


def _asked(*words: str) -> bool:
    done = subprocess.run([*words, "-g", "-s", "-m", str(seconds)], capture_output=True, text=True)
    return done.stdout.startswith("web-")


def sources(cluster: Cluster, name: str) -> Mapping[str, Callable[[str], bool]]:
    """Return how each source asks for a page."""
    node = cluster.read("pod", "look")["spec"]["nodeName"]
    namespace = network.namespace(name, node)
    return {
        "pod": lambda place: "web-" in cluster.inside(f"timeout {seconds} wget -qO- http://{place}/"),
        "node": lambda place: _asked("ip", "netns", "exec", namespace, "curl", f"http://{place}/"),
        "this machine": lambda place: _asked("curl", f"http://{place}/"),
    }


def _reached(ask: Callable[[], bool]) -> bool:
    try:
        until(ask)
    except AssertionError:
        return False
    return True


def measure(cluster: Cluster, name: str, version: int, external: str) -> dict[Cell, bool]:
    """Try every way, each until it works if it is one that does."""
    places, asking, cells = targets(cluster, version, external), sources(cluster, name), {}
    for source in SOURCES:
        for target in TARGETS:
            ask = partial(asking[source], places[target])
            cells[source, target] = ask() if (source, target) in NEVER else _reached(ask)
    return cells


def wanted() -> dict[Cell, bool]:
    """Return what is to be reached."""
    return {(source, target): (source, target) not in NEVER for source in SOURCES for target in TARGETS}


def table(results: Mapping[tuple[str, str], Mapping[Cell, bool]]) -> str:
    """Return the page's table: a row for each mode and family, with those who reach a target."""
    lines = ["| mode | family | " + " | ".join(TARGETS) + " |", "|---" * (2 + len(TARGETS)) + "|"]
    for (mode, family), cells in results.items():
        reached = (", ".join(source for source in SOURCES if cells[source, target]) for target in TARGETS)
        lines.append(f"| {mode} | {family} | " + " | ".join(reached) + " |")
    return "\n".join(lines)
