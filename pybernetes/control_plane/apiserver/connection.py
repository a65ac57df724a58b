"""A client's connection as the API server knows it: with what authentication remembers about the client."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pybernetes.lib.http import server_connection

if TYPE_CHECKING:
    from pybernetes.control_plane.apiserver.authn.bearer_tokens import RememberedToken
    from pybernetes.lib.http.server import Server


class Connection(server_connection.Connection):
    """The protocol of one connection."""

    def __init__(self, server: Server) -> None:
        super().__init__(server)
        # What is known of the client's certificate: see authn/client_certificate.py.
        self.peer: Any = None
        # The token that it sent last, whose it is, and whether that still holds: see authn/bearer_tokens.py.
        self.credential: RememberedToken | None = None
