"""The mode ipvs where the kernel has none, and what it would need."""

from __future__ import annotations

import pytest

from pybernetes.node.proxy import config
from pybernetes.node.proxy.ipvs import ipvs, kernel
from pybernetes.node.proxy.proxy_server import ProxyServer
from pybernetes.tools.local import lifecycle
from pybernetes.tools.local.settings import NodeSettings, Settings, SettingsError


def test_a_kernel_without_it_is_told_with_what_to_use_instead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "has_virtual_servers", lambda: False)
    assert "no IPVS" in ipvs.MODE.missing() and "nftables" in ipvs.MODE.missing()
    monkeypatch.setattr(kernel, "has_virtual_servers", lambda: True)
    assert ipvs.MODE.missing() == ""


async def test_it_is_not_begun_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "has_virtual_servers", lambda: False)
    server = ProxyServer(None, config.completed({"mode": "ipvs"}), "here")  # type: ignore[arg-type]
    with pytest.raises(config.ConfigurationError, match="'ipvs': the kernel has no IPVS"):
        await server.run()


def test_its_section_is_handed_on() -> None:
    given = {
        "mode": "ipvs",
        "ipvs": {"scheduler": "sed", "strictARP": True},
        "iptables": {"masqueradeBit": 9},
    }
    server = ProxyServer(None, config.completed(given), "here")  # type: ignore[arg-type]
    assert server.settings.options["scheduler"] == "sed" and server.settings.masquerade_bit == 9


@pytest.mark.parametrize(
    ("strict", "kernel_release", "expected"),
    [
        (False, "6.1.0-50-cloud-amd64", set()),
        (True, "6.1.0", {"conf/all/arp_ignore", "conf/all/arp_announce"}),
        (False, "4.19.0", {"vs/conn_reuse_mode"}),
    ],
)
def test_settings_of_the_kernel(
    strict: bool, kernel_release: str, expected: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ipvs, "_release", lambda: kernel_release)
    always = {"vs/conntrack", "vs/expire_nodest_conn", "vs/expire_quiescent_template", "ip_forward"}
    assert set(ipvs._sysctls(strict)) == always | expected


async def test_cleaning_up_where_it_never_was_runs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(*words: str, text: str | None = None) -> str:
        raise AssertionError(words)

    monkeypatch.setattr(ipvs, "run", refuse)
    await ipvs.MODE.cleanup()


def test_a_cluster_that_cannot_have_it_is_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "has_virtual_servers", lambda: False)
    settings = Settings(nodes=[NodeSettings("one", 1)], proxy_mode="ipvs")
    with pytest.raises(SettingsError, match="use nftables or iptables instead"):
        lifecycle._check_proxy_mode(settings)
    lifecycle._check_proxy_mode(Settings(nodes=[], proxy_mode="ipvs"))
