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
        ({"mode": "ipvs"}, "mode: the mode ipvs is not there"),
        ({"mode": "magic"}, "mode: Invalid value: 'magic'"),
        ({"surprise": 1}, 'unknown field "surprise"'),
        ({"iptables": {"surprise": 1}}, 'unknown field "iptables.surprise"'),
        ({"iptables": {"masqueradeBit": 32}}, "iptables.masqueradeBit"),
        ({"nftables": {"minSyncPeriod": "soon"}}, "nftables.minSyncPeriod"),
        ({"clusterCIDR": "10.0.0.0/99"}, "clusterCIDR: Invalid value"),
        ({"nodePortAddresses": ["here"]}, "nodePortAddresses: Invalid value"),
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
