"""The configuration of a local node's kube-proxy: the cluster's settings, and what the user adds."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from pybernetes.client import kubeconfig
from pybernetes.node.proxy import proxy_server
from pybernetes.tools.local.nodes import kube_proxy
from pybernetes.tools.local.nodes.kube_proxy import configuration
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


async def test_there_are_no_rules_before_there_are_routes_to_pods(monkeypatch: pytest.MonkeyPatch) -> None:
    began = asyncio.Event()

    async def serve(*given: Any, **options: Any) -> None:
        began.set()
        await asyncio.get_running_loop().create_future()

    async def close() -> None:
        pass

    client = SimpleNamespace(close=close)
    loaded = SimpleNamespace(client=lambda **options: client)
    monkeypatch.setattr(proxy_server, "run", serve)
    monkeypatch.setattr(kubeconfig, "load", lambda path: loaded)
    node: Any = SimpleNamespace(name="n", identity=lambda component: component)
    stop, joined = asyncio.Event(), asyncio.Event()
    running = asyncio.create_task(kube_proxy.run(node, Settings(), stop, joined))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert not began.is_set()
    joined.set()
    await began.wait()
    stop.set()
    await running
    # A node that stops before does not wait.
    await kube_proxy.run(node, Settings(), stop, asyncio.Event())
