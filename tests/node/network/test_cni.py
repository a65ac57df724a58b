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
    assert [plugin["type"] for plugin in value["plugins"]] == ["ptp", "portmap"]
    assert cni.configuration(["10.1.0.0/24"], bridge="br0")["plugins"][0]["type"] == "bridge"


def test_a_configuration_that_is_there_asks_a_plugin_last(tmp_path: Path) -> None:
    cni.add_gate(tmp_path, "gate")
    assert not list(tmp_path.iterdir())
    cni.write(tmp_path, ["10.1.0.0/24"])
    for _ in range(2):
        cni.add_gate(tmp_path, "gate")
        plugins = orjson.loads((tmp_path / cni.FILE).read_bytes())["plugins"]
        assert [plugin["type"] for plugin in plugins] == ["ptp", "portmap", "gate"]
    assert cni.write(tmp_path, ["10.1.0.0/24"]) and not cni.write(tmp_path, ["10.1.0.0/24"])
    (tmp_path / cni.FILE).write_text("{")
    cni.add_gate(tmp_path, "gate")
