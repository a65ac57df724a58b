"""What a KubeProxyConfiguration may say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pybernetes.node.proxy import config
from pybernetes.node.proxy.config import ConfigurationError


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"ipvs": {"tcpTimeout": "-1s"}}, "ipvs.tcpTimeout"),
        ({"ipvs": {"excludeCIDRs": ["10.0.0.0/40"]}}, "ipvs.excludeCIDRs: Invalid value: '10.0.0.0/40'"),
        ({"mode": "magic"}, "mode: Invalid value: 'magic'"),
        ({"surprise": 1}, 'unknown field "surprise"'),
        ({"iptables": {"surprise": 1}}, 'unknown field "iptables.surprise"'),
        ({"iptables": {"masqueradeBit": 32}}, "iptables.masqueradeBit"),
        ({"nftables": {"minSyncPeriod": "soon"}}, "nftables.minSyncPeriod"),
        ({"clusterCIDR": "10.0.0.0/99"}, "clusterCIDR: Invalid value"),
        ({"nodePortAddresses": ["here"]}, "nodePortAddresses: Invalid value"),
        ({"bindAddress": "here"}, "bindAddress: Invalid value: 'here': not a valid textual representation"),
        ({"oomScoreAdj": 1001}, r"oomScoreAdj: .* must be within the range \[-1000, 1000\]"),
        ({"conntrack": {"min": -1}}, "conntrack.min: Invalid value: -1: must be greater than or equal to 0"),
        ({"clientConnection": {"burst": -1}}, "clientConnection.burst: Invalid value: -1"),
        ({"enableProfiling": True}, "enableProfiling: Invalid value: true: is not supported"),
        ({"logging": {"format": "json"}}, "logging.format"),
        ({"detectLocalMode": "Guess"}, "detectLocalMode: Invalid value"),
    ],
)
def test_what_cannot_be_is_refused(given: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ConfigurationError, match=complaint):
        config.completed(given)


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "config.conf"
    path.write_text("kind: KubeletConfiguration\napiVersion: kubelet.config.k8s.io/v1beta1\n")
    with pytest.raises(ConfigurationError, match='no kind "KubeletConfiguration" is registered for version'):
        config.load(path)
    with pytest.raises(ConfigurationError, match="failed to load"):
        config.load(tmp_path / "none")


HEAD = "kind: KubeProxyConfiguration\napiVersion: kubeproxy.config.k8s.io/v1alpha1\n"


def test_unknown_fields_get_a_warning_and_wrong_types_an_error(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "config.conf"
    path.write_text(HEAD + "surprise: 1\niptables: {surprise: 1, masqueradeBit: 5}\n")
    assert config.load(path) == {"iptables": {"masqueradeBit": 5}}
    assert 'unknown field "surprise", unknown field "iptables.surprise"' in caplog.text
    path.write_text(HEAD + "conntrack: {min: many}\n")
    text = "json: cannot unmarshal string into Go struct field KubeProxyConfiguration.conntrack.min of type int32"
    with pytest.raises(ConfigurationError, match=text):
        config.load(path)


def test_what_changes_nothing_is_told() -> None:
    assert config.remarks({"portRange": "", "configSyncPeriod": "0s"}) == []
    told = config.remarks({"portRange": "1-2", "clientConnection": {"contentType": "x"}, "mode": "iptables"})
    assert [text.split()[0] for text in told] == ["clientConnection.contentType", "portRange"]
