"""Ranges, addresses and namespaces of a cluster."""

from __future__ import annotations

from pathlib import Path

import pytest

from pybernetes.tools.local import network


def test_a_range_that_nobody_has() -> None:
    first = network.free_range("one", [])
    assert first.startswith("172.30.") and first.endswith(".0/24")
    assert network.free_range("one", ["127.0.0.1/8", "::1/128"]) == first
    second = network.free_range("one", [f"{network.gateway(first)}/24"])
    assert second != first and network.free_range("other", []) != first
    with pytest.raises(OSError, match="no free range"):
        network.free_range("one", ["172.30.0.1/16"])


def test_addresses_of_a_range() -> None:
    assert (
        network.gateway("172.30.9.0/24") == "172.30.9.1"
        and network.address("172.30.9.0/24", 0) == "172.30.9.2"
    )
    assert network.cluster_dns("10.96.0.0/16") == "10.96.0.10"


def test_which_namespaces_are_those_of_a_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "_NAMESPACES", tmp_path)
    for name in ("pyb-a-a", "pyb-a-a-2", "pyb-a-a-a-a", "pyb-a-2-a-2", "pyb-a-b", "cni-1"):
        (tmp_path / name).touch()
    assert network.nodes("a") == {"a", "a-2"}
    assert network.nodes("a-a") == {"a-a"}
    assert network.nodes("a-2") == {"a-2"}
    assert network.nodes("b") == set()
