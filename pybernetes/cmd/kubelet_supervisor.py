"""kubelet-supervisor: keeps the kubelet running on a machine of kubeadm that has no systemd."""

from __future__ import annotations

import argparse
from pathlib import Path

SUMMARY = "Keep the kubelet of a machine that kubeadm set up running, where there is no systemd"


def main(argv: list[str]) -> int:
    """Run until told to stop."""
    parser = argparse.ArgumentParser(prog="kubelet-supervisor", description=SUMMARY, allow_abbrev=False)
    parser.add_argument(
        "--root-dir", type=Path, default=Path("/var/lib/kubelet"), help="where the kubelet keeps its files"
    )
    arguments = parser.parse_args(argv)
    from pybernetes.tools.kubeadm import kubelet_service
    from pybernetes.tools.local.processes import ProcessSpec, pyb
    from pybernetes.tools.local.supervisor import Supervisor

    root: Path = arguments.root_dir

    def wanted() -> tuple[list[ProcessSpec], bool]:
        return [ProcessSpec("kubelet", pyb("kubelet", *kubelet_service.arguments(root)))], False

    Supervisor(wanted, lambda name: root / f"{name}.log", root / "supervisor.json").run()
    return 0
