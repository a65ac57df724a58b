"""The configuration of a local node's kube-proxy: the cluster's settings, and what the user adds."""

from __future__ import annotations

import pytest

from pybernetes.tools.local.kube_proxy import configuration
from pybernetes.tools.local.settings import Settings, SettingsError


def test_the_users_arguments_come_beside_ours() -> None:
    own = ["--nodeport-addresses=10.0.0.0/8,primary", "--iptables-min-sync-period=1s"]
    made = configuration(Settings(proxy_arguments=own, node_range_v6="fd00::/64"), "n")
    assert made["nodePortAddresses"] == ["10.0.0.0/8", "primary"]
    assert made["iptables"]["minSyncPeriod"] == "1s" and made["healthzBindAddress"] == "[::]:10256"
    assert (made["mode"], made["hostnameOverride"], made["clusterCIDR"]) == ("iptables", "n", "10.244.0.0/16")
    assert configuration(Settings(proxy_mode="nftables"), "n")["nftables"]["minSyncPeriod"] == "100ms"


@pytest.mark.parametrize(
    ("argument", "complaint"),
    [
        ("--nonsense", "unrecognized arguments: --nonsense"),
        ("--nodeport-addresses=300.1.1.1/8", "nodePortAddresses: Invalid value"),
        ("--config=/x", "--config is the cluster's own"),
        ("--proxy-mode=ipvs", "--proxy-mode is the cluster's own"),
        ("--kubeconfig=/x", "--kubeconfig is the cluster's own"),
        ("--hostname-override=x", "--hostname-override is the cluster's own"),
        (1, "1 is not a text"),
    ],
)
def test_what_kube_proxy_would_not_take_is_refused(argument: str, complaint: str) -> None:
    with pytest.raises(SettingsError, match=f"kubeProxyArguments: {complaint}"):
        configuration(Settings(proxy_arguments=[argument]), "n")
