"""Checks of whether the environment sends through a proxy what should go directly."""

from __future__ import annotations

import ipaddress
import os

from pybernetes.lib.network import environment_proxy
from pybernetes.tools.kubeadm.checks.check import Findings, problem
from pybernetes.tools.kubeadm.configuration import networks

_ANY_PORT = 1234


class HTTPProxy:
    """Whether the API server is reached directly."""

    name = "HTTPProxy"

    def __init__(self, host: str) -> None:
        self._host = host

    async def check(self) -> Findings:
        """Warn of a proxy."""
        shown = f"[{self._host}]:{_ANY_PORT}" if ":" in self._host else self._host
        proxy = environment_proxy.proxy_of(os.environ, "https", self._host, 443)
        if not proxy:
            return Findings()
        return Findings(
            warnings=[
                f'Connection to "https://{shown}" uses proxy "{proxy}". If that is not intended, adjust your proxy settings'
            ]
        )


class HTTPProxyCIDR:
    """Whether a range of addresses is reached directly, by the first of them."""

    name = "HTTPProxyCIDR"

    def __init__(self, network: str) -> None:
        self._network = network

    async def check(self) -> Findings:
        """Warn of a proxy."""
        if not self._network:
            return Findings()
        try:
            parsed = ipaddress.ip_network(self._network, strict=False)
        except ValueError:
            return problem(f'error parsing CIDR "{self._network}": invalid CIDR address: {self._network}')
        if parsed.num_addresses < 2:
            return problem(f"unable to get first IP address from the given CIDR ({parsed})")
        host = networks.indexed(self._network, 1)
        proxy = environment_proxy.proxy_of(os.environ, "https", host, _ANY_PORT)
        if not proxy:
            return Findings()
        return Findings(
            warnings=[
                f'connection to "{self._network}" uses proxy "{proxy}". This may lead to malfunctional cluster setup. Make sure '
                "that Pod and Services IP ranges specified correctly as exceptions in proxy configuration"
            ]
        )
