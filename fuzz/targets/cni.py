"""Ranges that a Node object gives its pods: a configuration for the CNI plugins, or a refusal."""

from __future__ import annotations

import json

from fuzz.engine.target import Target
from pybernetes.node.network import cni, plan


def run(data: bytes) -> None:
    """Read each line as a range, and the whole as a node's."""
    ranges = data.decode("utf-8", "replace").splitlines()
    node = {
        "metadata": {"name": "node", "annotations": {}},
        "spec": {"podCIDRs": ranges},
        "status": {"addresses": [{"type": "InternalIP", "address": text} for text in ranges]},
    }
    own = plan.peer(node)
    other = plan.peer({**node, "metadata": {"name": "other"}})
    plan.plan(own, [own, other], plan.Configuration())
    json.dumps(cni.configuration(ranges))


TARGET = Target(
    run,
    (ValueError,),
    seeds=(b"10.244.1.0/24\nfd00:10:244:1::/64", b"10.244.2.0/24", b"10.0.0.1/24\n"),
    words=(b"/", b"\n", b".", b":", b"::", b"0", b"255", b"/0", b"/32", b"/129", b"%eth0", b"-1"),
    largest=4096,
)
