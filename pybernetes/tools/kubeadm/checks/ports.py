"""Checks of ports that a machine's programs will listen on."""

from __future__ import annotations

import socket

from pybernetes.tools.kubeadm.checks.check import Findings, problem


class PortOpen:
    """A port that nobody may have."""

    def __init__(self, port: int, address: str = "") -> None:
        self.port, self.address = port, address
        self.name = f"Port-{port}"

    async def check(self) -> Findings:
        """Complain if somebody listens on the port."""
        family = socket.AF_INET6 if ":" in self.address else socket.AF_INET
        with socket.socket(family, socket.SOCK_STREAM) as listener:
            # A connection that has just ended is no reason to refuse.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                listener.bind((self.address, self.port))
                listener.listen(1)
            except OSError:
                return problem(f"Port {self.port} is in use")
        return Findings()
