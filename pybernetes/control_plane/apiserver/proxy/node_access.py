"""How the server reaches nodes and what runs on them."""

from __future__ import annotations

import ssl
from dataclasses import dataclass, field

from pybernetes.api.node_address import ADDRESS_TYPES
from pybernetes.lib.http.dialer import Dialer, direct
from pybernetes.lib.network.names import Names


@dataclass
class NodeAccess:
    """The identity that kubelets know this server by, which of their addresses it prefers, and how it gets there."""

    tls: ssl.SSLContext | None = None
    address_types: tuple[str, ...] = ADDRESS_TYPES
    kubelets: Dialer = direct
    components: str = "127.0.0.1"  # where the other parts of the control plane say how they are
    # To pods and services; whoever writes a webhook or an APIService chooses its name.
    dialer: Dialer = field(default_factory=lambda: Dialer(Names()))
    # To webhooks by URL and to servers that review; None: as to pods.
    control_plane: Dialer | None = None
