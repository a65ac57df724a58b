"""Machines that join a running cluster."""

from __future__ import annotations

from typing import Any

import pytest

from pybernetes.tools.local.control_planes import machines, membership
from pybernetes.tools.local.paths import Cluster


def test_a_token_is_made_in_the_cluster_that_is_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[tuple[str, ...]] = []

    def kubeadm(cluster: Cluster, name: str, *words: str, **_: Any) -> None:
        lines.append(words)

    monkeypatch.setattr(machines, "kubeadm", kubeadm)
    membership._allow(Cluster("a"), "a-2", "abcdef.0123456789abcdef")
    assert "--kubeconfig=/etc/kubernetes/admin.conf" in lines[0]
