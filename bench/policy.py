"""pyb bench policy: what network policies cost a node: a pod's change, and the traffic between two pods."""

import argparse
import asyncio
import contextlib
import ipaddress
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

from bench.harness.machine import describe_machine
from bench.proxy import namespace, processor_time
from pybernetes.lib.processes.commands import run
from pybernetes.node.network.policy import nft, objects, rules
from pybernetes.node.network.policy.state import State

SUMMARY = "network policies: a pod's change until it is in a node's rules, and throughput with and without"
_NAMESPACES, _APPS = 50, 20
_RANGE = ipaddress.ip_network("10.244.0.0/24")
Object = dict[str, Any]


def main(argv: list[str]) -> int:
    """Measure and print a table, or one JSON object with --json; fail when something is over its limit."""
    parser = argparse.ArgumentParser(prog="pyb bench policy", description=__doc__)
    parser.add_argument("--policies", type=int, default=1000, help="how many NetworkPolicies there are")
    parser.add_argument("--pods", type=int, default=5000, help="how many pods there are, 100 on this node")
    parser.add_argument("--changes", type=int, default=50, help="how many pods change, one after the other")
    parser.add_argument(
        "--rounds", type=int, default=5, help="how often throughput is measured; 0: not at all"
    )
    parser.add_argument("--change-limit", type=float, default=0.1, help="most seconds for a change (median)")
    parser.add_argument("--used-limit", type=float, default=0.005, help="most processor time of one (median)")
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")
    options = parser.parse_args(argv)
    with namespace():
        figures = asyncio.run(_changes(options))
    if options.rounds:
        figures |= _throughput(options.rounds, options.policies, options.pods)
    if options.json:
        print(json.dumps({"benchmark": "policy", "machine": describe_machine()} | figures))
    else:
        print(f"{options.policies} policies, {options.pods} pods (with others' load)")
        for name, figure in figures.items():
            print(f"  {name:<60}{figure:10.4f}")
    over = [name for name in figures if name.endswith(": seconds") and figures[name] > options.change_limit]
    over += [name for name in figures if name.endswith(": processor") and figures[name] > options.used_limit]
    if over:
        print(f"pyb bench policy: over the limit: {', '.join(over)}", file=sys.stderr)
    return 1 if over else 0


def _pod(number: int, **labels: str) -> Object:
    """Return a Pod as a watch brings it; the first hundred are on this node."""
    local = number < 100
    address = _RANGE[number + 2] if local else ipaddress.ip_address("10.245.0.0") + number
    own = {"app": f"app-{number // _NAMESPACES % _APPS}", "tier": "front" if number % 2 else "back", **labels}
    ports = [{"name": "web", "containerPort": 8080, "protocol": "TCP"}]
    return {
        "metadata": {"namespace": f"ns-{number % _NAMESPACES}", "name": f"pod-{number}", "uid": str(number), "labels": own},
        "spec": {"nodeName": "here" if local else "there", "containers": [{"name": "c", "image": "i", "ports": ports}]},
        "status": {"phase": "Running", "podIP": str(address), "podIPs": [{"ip": str(address)}]},
    }  # fmt: skip


def _policy(number: int) -> Object:
    """Return a NetworkPolicy: pods of its namespace and of others of a team, some addresses, ports by name and number."""
    app, team = f"app-{number // _NAMESPACES % _APPS}", f"team-{number % 10}"
    peers = [
        {"podSelector": {"matchLabels": {"tier": "front"}}},
        {
            "namespaceSelector": {"matchLabels": {"team": team}},
            "podSelector": {"matchLabels": {"tier": "back"}},
        },
        {"ipBlock": {"cidr": "192.0.2.0/24", "except": ["192.0.2.128/25"]}},
    ]
    ports = [{"protocol": "TCP", "port": "web"}, {"protocol": "TCP", "port": 9000, "endPort": 9100}]
    spec = {"podSelector": {"matchLabels": {"app": app}}, "policyTypes": ["Ingress", "Egress"],
            "ingress": [{"from": peers, "ports": ports}], "egress": [{"to": peers}]}  # fmt: skip
    return {"metadata": {"namespace": f"ns-{number % _NAMESPACES}", "name": f"policy-{number}"}, "spec": spec}


def _state(policies: int, pods: int) -> State:
    state = State("here", (4,))
    for number in range(_NAMESPACES):
        state.set_namespace(f"ns-{number}", {"team": f"team-{number % 10}"})
    for number in range(pods):
        pod = objects.pod(_pod(number))
        state.set_pod(pod.key, pod)
    for number in range(policies):
        policy = rules.network_policy(_policy(number))
        state.set_policy(policy.key, policy)
    return state


async def _changes(options: argparse.Namespace) -> dict[str, float]:
    began, before = time.monotonic(), processor_time()
    state = _state(options.policies, options.pods)
    await run("nft", "-f", "-", text=nft.whole(state.everything(), [_RANGE]))
    figures = {
        "everything: s": time.monotonic() - began,
        "everything: s of processor": processor_time() - before,
    }
    for what, first in (("another pod's labels", 100), ("an own pod's labels", 0)):
        seconds, processor = [], []
        for place in range(options.changes):
            number = first + place % (options.pods - 100 if first else 100)
            obj = _pod(number, tier=("other", "front", "back")[place % 3])
            began, before = time.monotonic(), processor_time()
            pod = objects.slim_pod(obj)["pod"]
            state.set_pod(pod.key, pod)
            if changes := state.take():
                await run("nft", "-f", "-", text=nft.difference(changes))
                seconds.append(time.monotonic() - began)
                processor.append(processor_time() - before)
        figures[f"{what}: seconds"] = statistics.median(seconds)
        figures[f"{what}: processor"] = statistics.median(processor)
    return figures


# -- throughput ------------------------------------------------------------------------------------------


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


@contextlib.contextmanager
def _pods() -> Iterator[tuple[str, str, str]]:
    """Make a node and two pods of it, as namespaces with routed links."""
    names = [f"bench{os.getpid()}-{name}" for name in ("node", "a", "b")]
    try:
        for name in names:
            _ip("netns", "add", name)
            _ip("-n", name, "link", "set", "lo", "up")
        _ip("netns", "exec", names[0], "sysctl", "-qw", "net.ipv4.ip_forward=1")
        for number, name in enumerate(names[1:], 2):
            link, address = f"veth{number}", str(_RANGE[number])
            _ip("-n", names[0], "link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", name)
            _ip("-n", names[0], "link", "set", link, "up")
            _ip("-n", names[0], "address", "add", f"{_RANGE[1]}/32", "dev", link)
            _ip("-n", names[0], "route", "add", address, "dev", link)
            _ip("-n", name, "link", "set", "eth0", "up")
            _ip("-n", name, "address", "add", f"{address}/32", "dev", "eth0")
            _ip("-n", name, "route", "add", str(_RANGE[1]), "dev", "eth0")
            _ip("-n", name, "route", "add", "default", "via", str(_RANGE[1]))
        yield names[0], names[1], names[2]
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "delete", name], capture_output=True)


def _stream(client: str, server: str) -> float:
    """Return the Gbit/s of one stream of a second."""
    inside = ("ip", "netns", "exec")
    command = [*inside, server, "iperf3", "--server", "--one-off", "--bind", str(_RANGE[3]), "--forceflush"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as listening:
        assert listening.stdout is not None
        while "listening" not in listening.stdout.readline():
            pass
        done = subprocess.run(
            [*inside, client, "iperf3", "--client", str(_RANGE[3]), "--time", "1", "--json"],
            check=True, capture_output=True,
        )  # fmt: skip
        listening.communicate()
    return float(json.loads(done.stdout)["end"]["sum_received"]["bits_per_second"]) / 1e9


def _throughput(rounds: int, policies: int, pods: int) -> dict[str, float]:
    """Measure without and with policies by turns, so that others' load meets both."""
    if shutil.which("iperf3") is None:
        raise SystemExit(
            "pyb bench policy: iperf3 is not installed (apt install iperf3); --rounds 0 does without"
        )
    state = _state(policies, pods)
    allow = {"podSelector": {}, "policyTypes": ["Ingress", "Egress"], "ingress": [{}], "egress": [{}]}
    for number in (0, 1):
        policy = rules.network_policy(
            {"metadata": {"namespace": f"ns-{number}", "name": "allow"}, "spec": allow}
        )
        state.set_policy(policy.key, policy)
    text = nft.whole(state.everything(), [_RANGE])
    without: list[float] = []
    with_: list[float] = []
    with _pods() as (node, client, server):
        # Connection tracking is there without policies too: kube-proxy needs it.
        tracking = (
            "add table ip nat\nadd chain ip nat x { type nat hook postrouting priority srcnat ; }\n"
            "add rule ip nat x ip daddr 192.0.2.1 masquerade\n"
        )
        subprocess.run(["ip", "netns", "exec", node, "nft", "-f", "-"], input=tracking, text=True, check=True)
        for _ in range(rounds):
            for table, rates in ((nft.removal(), without), (text, with_)):
                subprocess.run(
                    ["ip", "netns", "exec", node, "nft", "-f", "-"], input=table, text=True, check=True
                )
                rates.append(_stream(client, server))
    return {
        "throughput without policies: Gbit/s (best)": max(without),
        "throughput with policies: Gbit/s (best)": max(with_),
        "with / without": max(with_) / max(without),
    }
