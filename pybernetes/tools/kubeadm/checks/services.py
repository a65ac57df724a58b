"""Checks of services of this machine's init system."""

from __future__ import annotations

import subprocess

from pybernetes.tools.kubeadm.checks.check import Findings
from pybernetes.tools.kubeadm.configuration.component_configs import uses_systemd


def _systemctl(*words: str) -> bool:
    try:
        return (
            subprocess.run(["systemctl", *words], capture_output=True, check=False, timeout=10).returncode
            == 0
        )
    except (OSError, subprocess.TimeoutExpired):
        return False


class Firewalld:
    """Whether a firewall may be in the way."""

    name = "Firewalld"

    def __init__(self, *ports: int) -> None:
        self._ports = ports

    async def check(self) -> Findings:
        """Warn if firewalld is active."""
        if not uses_systemd() or not _systemctl("is-active", "--quiet", "firewalld.service"):
            return Findings()
        listed = " ".join(str(port) for port in self._ports)
        return Findings(
            warnings=[
                f"firewalld is active, please ensure ports [{listed}] are open or your cluster may not function correctly"
            ]
        )
