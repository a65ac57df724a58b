"""pyb bench proxy: how fast kube-proxy writes the rules of a large cluster, in a network namespace of its own."""

import argparse
import asyncio
import contextlib
import ctypes
import ipaddress
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

from pybernetes.node.proxy.backend import Settings, modes
from pybernetes.node.proxy.change_tracker import ChangeTracker
from pybernetes.node.proxy.local_traffic import LocalTraffic
from pybernetes.node.proxy.node import Node

SUMMARY = "kube-proxy: seconds for a full sync and for one endpoint's change; needs root, no server"
KERNEL_MODES = ("iptables", "nftables")
_NEW_NETWORK = 0x40000000
Object = dict[str, Any]


def main(argv: list[str]) -> int:
    """Measure and print a table, or one JSON object with --json; fail when something is over its limit."""
    parser = argparse.ArgumentParser(prog="pyb bench proxy", description=__doc__)
    parser.add_argument("--services", type=int, default=5000, help="how many Services there are")
    parser.add_argument("--endpoints", type=int, default=50_000, help="how many endpoints they have together")
    parser.add_argument(
        "--mode", action="append", choices=sorted(modes()), help="default: the kernel's modes"
    )
    parser.add_argument(
        "--changes", type=int, default=20, help="how many endpoints change, one after the other"
    )
    parser.add_argument("--full-limit", type=float, default=10.0, help="most seconds for a full sync")
    parser.add_argument("--change-limit", type=float, default=0.2, help="most seconds for a change (median)")
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")
    options = parser.parse_args(argv)
    results = {}
    for mode in options.mode or KERNEL_MODES:
        with namespace():
            results[mode] = asyncio.run(_measure(mode, options))
    if options.json:
        shape = {"services": options.services, "endpoints": options.endpoints}
        print(json.dumps({**shape, "modes": results}))
    else:
        print(f"{options.services} Services, {options.endpoints} endpoints; seconds (with others' load)")
        for mode, figures in results.items():
            for name, figure in figures.items():
                print(f"{mode:<12}{name:<34}{figure:8.3f}")
    over = [
        f"{mode}: {name}"
        for mode, figures in results.items()
        for name, limit in (("full sync", options.full_limit), ("one change", options.change_limit))
        if figures[name] > limit
    ]
    if over:
        print(f"pyb bench proxy: over the limit: {', '.join(over)}", file=sys.stderr)
    return 1 if over else 0


@contextlib.contextmanager
def namespace() -> Iterator[None]:
    """Put this thread and what it starts into a network namespace."""
    libc = ctypes.CDLL(None, use_errno=True)
    with open("/proc/thread-self/ns/net") as before:
        if libc.unshare(_NEW_NETWORK):
            raise OSError(ctypes.get_errno(), "a network namespace cannot be made; this needs root")
        try:
            subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
            yield
        finally:
            libc.setns(before.fileno(), _NEW_NETWORK)


def _objects(services: int, endpoints: int) -> tuple[list[Object], list[Object]]:
    first_service, first_pod = (int(ipaddress.ip_address(text)) for text in ("10.96.0.1", "10.128.0.1"))
    per_service = max(1, endpoints // services)
    objects, slices = [], []
    for number in range(services):
        name = f"service-{number}"
        address = str(ipaddress.ip_address(first_service + number))
        spec = {"clusterIP": address, "clusterIPs": [address], "type": "ClusterIP",
                "ports": [{"name": "http", "port": 80, "protocol": "TCP"}]}  # fmt: skip
        objects.append({"metadata": {"namespace": "bench", "name": name}, "spec": spec})
        pods = [
            _endpoint(str(ipaddress.ip_address(first_pod + number * per_service + place)), place)
            for place in range(per_service)
        ]
        slices.append(_slice(name, pods))
    return objects, slices


def _endpoint(address: str, place: int) -> Object:
    conditions = {"ready": True, "serving": True, "terminating": False}
    return {"addresses": [address], "conditions": conditions, "nodeName": f"node-{place % 100}"}


def _slice(service: str, endpoints: list[Object]) -> Object:
    labels = {"kubernetes.io/service-name": service}
    return {
        "metadata": {"namespace": "bench", "name": f"{service}-1", "labels": labels},
        "addressType": "IPv4",
        "endpoints": endpoints,
        "ports": [{"name": "http", "port": 8080, "protocol": "TCP"}],
    }


def processor_time() -> float:
    """Return the processor time of this process and of those that it waited for."""
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(used.ru_utime + used.ru_stime for used in usage)


async def _measure(mode: str, options: argparse.Namespace) -> dict[str, float]:
    services, slices = _objects(options.services, options.endpoints)
    tracker = ChangeTracker(Node("node-0", addresses=("172.30.0.2",)))
    backend = modes()[mode](Settings(tracker.node, LocalTraffic(ranges=("10.128.0.0/9",))), 4)
    for service in services:
        tracker.on_service(None, service)
    for endpoint_slice in slices:
        tracker.on_slice(None, endpoint_slice)
    began, used = time.monotonic(), processor_time()
    tracker.take()
    decided = time.monotonic() - began
    await backend.resync(tracker.service_ports())
    full, full_used = time.monotonic() - began, processor_time() - used
    changes, changes_used = [], []
    for number in range(options.changes):
        place = number * options.services // options.changes
        old = slices[place]
        gone = {**old["endpoints"][0], "addresses": [f"10.127.{number // 256}.{number % 256}"]}
        new = slices[place] = _slice(services[place]["metadata"]["name"], [gone, *old["endpoints"][1:]])
        began, used = time.monotonic(), processor_time()
        tracker.on_slice(old, new)
        await backend.sync(tracker.take()[1])
        changes.append(time.monotonic() - began)
        changes_used.append(processor_time() - used)
    began = time.monotonic()
    new_service, new_slice = _objects(1, 1)
    new_service[0]["spec"].update(clusterIP="10.112.0.1", clusterIPs=["10.112.0.1"])
    for obj in (*new_service, *new_slice):
        obj["metadata"]["namespace"] = "other"
    tracker.on_service(None, new_service[0])
    tracker.on_slice(None, new_slice[0])
    await backend.sync(tracker.take()[1])
    added = time.monotonic() - began
    await backend.close()
    return {
        "full sync": round(full, 3),
        "of that: deciding": round(decided, 3),
        "full sync, processor": round(full_used, 3),
        "one change": round(statistics.median(changes), 4),
        "one change, slowest": round(max(changes), 4),
        "one change, processor": round(statistics.median(changes_used), 4),
        "a new Service": round(added, 4),
        "memory of this process, MB": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
        "others' load, processes": round(os.getloadavg()[0], 1),
    }
