"""The CNI configuration of a node."""

from __future__ import annotations

from pathlib import Path

import orjson

from pybernetes.node.network import cni


def test_network_configuration(tmp_path: Path) -> None:
    assert cni.write(tmp_path, ["10.1.0.0/24"]) and not cni.write(tmp_path, ["10.1.0.0/24"])
    value = orjson.loads((tmp_path / cni.FILE).read_bytes())
    assert value["plugins"][0]["ipam"]["ranges"] == [[{"subnet": "10.1.0.0/24"}]]
    assert [each["type"] for each in value["plugins"]] == ["bridge", "portmap"]
