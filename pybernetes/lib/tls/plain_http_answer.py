"""Tell a client that speaks plain HTTP to a TLS port what is wrong, in the words of Go's servers.

The event loop ends a connection whose handshake fails without a word. So the answer is written by the TLS object itself, in
place of what a handshake would write; the connection ends when the client has read it, or with the handshake's time.
"""

from __future__ import annotations

import ssl
from typing import Any

from pybernetes.lib.tls.paced_tls import PacedContext, PacedObject

_TEXT = b"Client sent an HTTP request to an HTTPS server.\n"
ANSWER = b"HTTP/1.0 400 Bad Request\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%b" % (
    len(_TEXT),
    _TEXT,
)
# How OpenSSL calls a request where it expected a handshake.
_REASON = "HTTP_REQUEST"


class _Object(PacedObject):
    """One connection."""

    outgoing: ssl.MemoryBIO | None = None

    def do_handshake(self) -> None:
        """Shake hands, or answer a request."""
        try:
            super().do_handshake()
        except ssl.SSLWantReadError:
            raise
        except ssl.SSLError as error:
            if error.reason != _REASON or self.outgoing is None:
                raise
            self.outgoing.write(ANSWER)
            self.outgoing = None
            raise ssl.SSLWantReadError from None  # whereupon the loop sends what was written


class AnsweringContext(PacedContext):
    """The context of a TLS server that answers plain HTTP."""

    sslobject_class = _Object

    def wrap_bio(self, incoming: ssl.MemoryBIO, outgoing: ssl.MemoryBIO, *args: Any, **kwargs: Any) -> Any:
        """Return the object of a connection, which knows where its answers go."""
        wrapped = super().wrap_bio(incoming, outgoing, *args, **kwargs)
        wrapped.outgoing = outgoing
        return wrapped
