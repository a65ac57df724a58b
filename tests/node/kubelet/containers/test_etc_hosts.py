"""The hosts file of a pod."""

from __future__ import annotations

from pybernetes.node.kubelet.containers import etc_hosts
from tests.node.kubelet.pods import pod


def test_the_hosts_file_names_the_pod_and_its_aliases() -> None:
    definition = pod(hostname="h", subdomain="s", hostAliases=[{"ip": "5.5.5.5", "hostnames": ["a", "b"]}])
    text = etc_hosts.hosts_file(definition, ("1.2.3.4",), "h", "s.n.svc.c.l", "")
    assert "1.2.3.4\th.s.n.svc.c.l\th\n" in text and text.endswith("5.5.5.5\ta\tb\n")
