"""How the server reaches nodes and what runs on them."""

from __future__ import annotations

import ssl
from dataclasses import dataclass

from pybernetes.lib.http.dialer import Dialer, direct


@dataclass
class NodeAccess:
    """The identity that kubelets know this server by, which of their addresses it prefers, and how it gets there."""

    tls: ssl.SSLContext | None = None
    address_types: tuple[str, ...] = ("Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP")
    dialer: Dialer = direct  # to pods and services
