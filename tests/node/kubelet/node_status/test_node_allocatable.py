"""What is left of a node for pods."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pybernetes.node.kubelet.config import ConfigurationError
from pybernetes.node.kubelet.node_status import node_allocatable

TOTAL = {"cpu": "4", "memory": "8Gi", "ephemeral-storage": "100Gi", "pods": "110"}


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, TOTAL),
        ({"evictionHard": {"memory.available": "1Gi", "nodefs.available": "10%"}}, {**TOTAL, "memory": "7Gi", "ephemeral-storage": "90Gi"}),
        ({"evictionHard": {"memory.available": "0%"}}, TOTAL),
        ({"systemReserved": {"cpu": "500m", "memory": "1Gi"}, "kubeReserved": {"cpu": "500m"}}, {**TOTAL, "cpu": "3", "memory": "7Gi"}),
        ({"systemReserved": {"cpu": "9"}}, {**TOTAL, "cpu": "0"}),
        ({"systemReserved": {"cpu": "500m"}, "reservedSystemCPUs": "0-1"}, {**TOTAL, "cpu": "2"}),
    ],
)  # fmt: skip
def test_what_is_left_for_pods(settings: dict[str, Any], expected: dict[str, str]) -> None:
    assert node_allocatable.allocatable(TOTAL, settings) == expected


@pytest.mark.parametrize(("text", "cpus"), [("", set()), ("3", {3}), ("0-2,7", {0, 1, 2, 7})])
def test_sets_of_cpus(text: str, cpus: set[int]) -> None:
    assert node_allocatable.cpu_set(text) == cpus


def test_kernel_settings_are_an_error_only_if_they_are_protected(tmp_path: Path) -> None:
    (tmp_path / "vm").mkdir()
    (tmp_path / "vm" / "overcommit_memory").write_text("1\n")
    node_allocatable.check_kernel({"protectKernelDefaults": True}, tmp_path)
    (tmp_path / "vm" / "panic_on_oom").write_text("1\n")
    node_allocatable.check_kernel({"protectKernelDefaults": False}, tmp_path)
    text = "^invalid kernel flag: vm/panic_on_oom, expected value: 0, actual value: 1$"
    with pytest.raises(ConfigurationError, match=text):
        node_allocatable.check_kernel({"protectKernelDefaults": True}, tmp_path)
