"""The kernel's settings of this machine that clusters change: the last one to go puts back what was there before.

What there was is kept beside the sockets of clusters, where it ends when the machine is switched off, as the settings do.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pybernetes.tools.local import name_lock
from pybernetes.tools.local.paths import Cluster

_KERNEL = Path("/proc/sys/net")
# In the order in which they are put back: forwarding changes the ones that follow it. kube-proxy on the machine itself
# sets the others, and the plugins of its pods.
_PATTERNS = (
    "ipv4/ip_forward",
    "ipv4/conf/*/forwarding",
    "ipv4/conf/all/accept_redirects",
    "ipv4/conf/all/route_localnet",
    *(f"netfilter/nf_conntrack_{name}" for name in (
        "max", "tcp_timeout_established", "tcp_timeout_close_wait", "udp_timeout", "udp_timeout_stream", "tcp_be_liberal",
    )),
)  # fmt: skip


def remember(cluster: Cluster) -> None:
    """Write down the settings that a cluster may change, unless another did so before it changed them."""
    with name_lock.alone(cluster), _kept(cluster) as kept:
        before = kept["values"] if _users(cluster, kept) else {}
        kept["values"] = {**_values(), **before}
        kept["clusters"] = sorted({*_users(cluster, kept), cluster.name})


def put_back(cluster: Cluster) -> None:
    """Give the settings their values of before, if no other cluster is left."""
    with name_lock.alone(cluster), _kept(cluster) as kept:
        if cluster.name not in kept["clusters"]:
            return
        kept["clusters"] = [name for name in _users(cluster, kept) if name != cluster.name]
        if not kept["clusters"]:
            for name, value in kept["values"].items():
                _write(_KERNEL / name, value)


@contextlib.contextmanager
def _kept(cluster: Cluster) -> Iterator[dict[str, Any]]:
    """Yield what is written down for this network namespace, and write it again; nothing is kept for no cluster."""
    namespace = os.stat("/proc/thread-self/ns/net").st_ino
    file = cluster.run.parent / f".kernel-settings-{namespace}.json"
    try:
        kept = json.loads(file.read_text())
    except (OSError, ValueError):
        kept = {"clusters": [], "values": {}}
    yield kept
    if kept["clusters"]:
        file.write_text(json.dumps(kept))
    else:
        file.unlink(missing_ok=True)


def _users(cluster: Cluster, kept: dict[str, Any]) -> list[str]:
    """Return the clusters that have been written down and are still there."""
    return [name for name in kept["clusters"] if (cluster.run.parent / name / "owner").exists()]


def _values() -> dict[str, str]:
    values = {}
    for pattern in _PATTERNS:
        for path in sorted(_KERNEL.glob(pattern)):
            with contextlib.suppress(OSError):
                values[str(path.relative_to(_KERNEL))] = path.read_text().strip()
    return values


def _write(path: Path, value: str) -> None:
    with contextlib.suppress(OSError):  # it went with its link, or may not be changed from here
        if path.read_text().strip() != value:
            path.write_text(value)
