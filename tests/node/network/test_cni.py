"""The CNI configuration of a node."""

from __future__ import annotations

from pathlib import Path

import orjson

from pybernetes.node.network import cni


def test_the_cni_configuration_says_what_the_plan_does() -> None:
    configuration = cni.configuration(["10.244.1.0/24", "fd00:1::/64"], mtu=1450)
    main, ports = configuration["plugins"]
    assert main["mtu"] == 1450 and main["ipMasq"] is False and ports["capabilities"] == {"portMappings": True}
    assert main["ipam"]["ranges"] == [[{"subnet": "10.244.1.0/24"}], [{"subnet": "fd00:1::/64"}]]


def test_network_configuration(tmp_path: Path) -> None:
    assert cni.write(tmp_path, ["10.1.0.0/24"]) and not cni.write(tmp_path, ["10.1.0.0/24"])
    value = orjson.loads((tmp_path / cni.FILE).read_bytes())
    assert value["plugins"][0]["ipam"]["ranges"] == [[{"subnet": "10.1.0.0/24"}]]
    assert [plugin["type"] for plugin in value["plugins"]] == ["bridge", "portmap"]
