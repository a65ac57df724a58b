"""The configuration kinds of kubeadm.k8s.io: read, completed with defaults, checked, printed."""

from __future__ import annotations

from typing import Any

from pybernetes.tools.kubeadm import arguments


def arguments_of(cluster: dict[str, Any], component: str, name: str) -> str:
    """Return an argument that the user gives a component; empty if none."""
    return arguments.value(cluster[component].get("extraArgs"), name) or ""
