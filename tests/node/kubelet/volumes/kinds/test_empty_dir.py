"""Folders of pods: how much memory they may take."""

from __future__ import annotations

import pytest

from pybernetes.node.kubelet.volumes.kinds.empty_dir import memory_size
from tests.node.kubelet.pods import pod


@pytest.mark.parametrize(
    ("limit", "memory", "allocatable", "size"),
    [
        (None, None, None, 0),
        ("1Mi", None, None, 1 << 20),
        ("1Mi", "2Mi", "4Mi", 1 << 20),
        ("3Mi", "2Mi", "4Mi", 2 << 20),
        (None, "2Mi", "4Mi", 2 << 20),
        ("5Mi", None, "4Mi", 4 << 20),
        ("0", None, "4Mi", 4 << 20),
        ("16Ei", None, "4Mi", 4 << 20),  # 2^64, which the kernel takes for no limit
        ("1e30", "1e30", "4Mi", 4 << 20),
    ],
)
def test_memory(limit: str | None, memory: str | None, allocatable: str | None, size: int) -> None:
    given = pod({"resources": {"limits": {"memory": memory}}} if memory else None)
    assert memory_size(limit, given, allocatable) == size
