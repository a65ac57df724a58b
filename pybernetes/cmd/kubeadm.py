"""kubeadm: makes machines a cluster."""

from __future__ import annotations

SUMMARY = "Make machines a cluster: init, join, reset, upgrade"


def main(argv: list[str]) -> int:
    """Run a command of kubeadm."""
    from pybernetes.tools.kubeadm.main import main as run

    return run(argv)
