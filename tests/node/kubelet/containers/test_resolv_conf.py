"""The resolv.conf and the host name of a pod."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.node.kubelet.containers import resolv_conf
from tests.node.kubelet.pods import pod


@pytest.mark.parametrize(
    ("spec", "servers", "searches"),
    [
        ({"dnsPolicy": "ClusterFirst"}, ("10.0.0.10",), ("n.svc.c.l", "svc.c.l", "c.l", "node.example")),
        ({"dnsPolicy": "Default"}, ("1.1.1.1",), ("node.example",)),
        ({"dnsPolicy": "ClusterFirst", "hostNetwork": True}, ("1.1.1.1",), ("node.example",)),
        ({"dnsPolicy": "None", "dnsConfig": {"nameservers": ["2.2.2.2"], "searches": ["s"]}}, ("2.2.2.2",), ("s",)),
    ],
)  # fmt: skip
def test_resolv(spec: dict[str, Any], servers: tuple[str, ...], searches: tuple[str, ...]) -> None:
    node = resolv_conf.parse_resolv_conf("# x\nnameserver 1.1.1.1\nsearch node.example.\noptions ndots:1\n")
    resolv, _ = resolv_conf.pod_resolv_conf(pod(**spec), resolv_conf.ClusterDns(("10.0.0.10",), "c.l", node))
    assert (resolv.servers, resolv.searches) == (servers, searches)


def test_host_names() -> None:
    definition = pod(hostname="h", subdomain="s")
    assert resolv_conf.host_names(definition, "c.l") == ("h", "s.n.svc.c.l")
    definition["spec"] |= {"setHostnameAsFQDN": True, "subdomain": "x" * 60}
    with pytest.raises(ValueError, match="is too long"):
        resolv_conf.kernel_host_name(definition, "c.l")
