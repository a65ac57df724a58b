"""The command line of kube-proxy, and the configuration that it means."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pybernetes.node.proxy import config, flags


def configured(*arguments: str) -> dict[str, Any]:
    return flags.configuration(flags.parser().parse_args(arguments))


def test_defaults_are_upstreams() -> None:
    configuration = configured()
    assert (
        configuration["healthzBindAddress"] == "0.0.0.0:10256"
        and configuration["metricsBindAddress"] == "127.0.0.1:10249"
    )
    assert configuration["iptables"] == {
        "localhostNodePorts": True, "masqueradeAll": False, "masqueradeBit": 14, "syncPeriod": "30s",
        "minSyncPeriod": "1s",
    }  # fmt: skip
    assert (
        configuration["conntrack"]["tcpEstablishedTimeout"] == "24h0m0s"
        and configuration["oomScoreAdj"] == -999
    )


def test_flags(tmp_path: Path) -> None:
    configuration = configured("--proxy-mode=nftables", "--cluster-cidr=10.0.0.0/8,fd00::/8", "--masquerade-all",
                  "--nodeport-addresses=primary,127.0.0.0/8", "--healthz-bind-address=::", "--feature-gates=AllAlpha=false",
                  "--hostname-override=foo-node", "--conntrack-min=0", "--iptables-localhost-nodeports=false")  # fmt: skip
    assert (configuration["mode"], config.cluster_ranges(configuration)) == (
        "nftables",
        ["10.0.0.0/8", "fd00::/8"],
    )
    assert configuration["nftables"]["masqueradeAll"] and configuration["nodePortAddresses"] == [
        "primary",
        "127.0.0.0/8",
    ]
    assert config.address_of(configuration["healthzBindAddress"]) == ("::", 10256)
    assert configuration["hostnameOverride"] == "foo-node" and configuration["conntrack"]["min"] == 0
    # With a file its word counts, but for the node's name.
    path = tmp_path / "config.conf"
    path.write_text(config.to_yaml(config.completed({"mode": "userspace", "hostnameOverride": "other"})))
    configuration = configured(f"--config={path}", "--proxy-mode=nftables", "--hostname-override=foo-node")
    assert (configuration["mode"], configuration["hostnameOverride"]) == ("userspace", "foo-node")
