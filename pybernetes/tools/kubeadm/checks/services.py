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


class KubeletService:
    """Whether the kubelet of a package comes back when the machine does."""

    name = "Service-kubelet"

    async def check(self) -> Findings:
        """Warn if systemd has a kubelet.service that it does not start by itself. Where it has none, ours is installed and enabled."""
        if not uses_systemd() or not _systemctl("cat", "kubelet.service"):
            return Findings()
        if _systemctl("is-enabled", "--quiet", "kubelet.service"):
            return Findings()
        return Findings(
            warnings=["kubelet service is not enabled, please run 'systemctl enable kubelet.service'"]
        )
