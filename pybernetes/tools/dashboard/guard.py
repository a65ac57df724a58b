"""What every request must be like before anything is done for it, and what every answer says to browsers. Pure.

A browser sends requests for any page that it shows: for one of an attacker, too. So a request must name this server as its
host (a name of the attacker's that leads to this machine does not), must come from this server's own pages if it says where
it comes from, and whatever is not a page must carry the session's token, which no link, form, image or script of others can.
"""

from __future__ import annotations

from dataclasses import dataclass

# The header with which pages prove that they are ours.
TOKEN_HEADER = b"x-dashboard-token"
# The context of the kubeconfig that a request is for, with escapes; without it the one that was chosen at the start.
CONTEXT_HEADER = b"x-dashboard-context"
# A WebSocket has no headers of its own: its token is one of the protocols that are offered.
PROTOCOL = "dashboard.pybernetes.v1"
TOKEN_PROTOCOL = "token."
_WRITES = frozenset(("POST", "PUT", "PATCH", "DELETE"))
_METHODS = _WRITES | {"GET"}


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is not answered."""

    status: int
    message: str


@dataclass(frozen=True, slots=True)
class Guard:
    """Knows the addresses, such as ``name.localhost:8443``, under which the server is to be asked; the first is its own."""

    hosts: tuple[str, ...]
    secure: bool = False

    @property
    def origin(self) -> str:
        """The origin of our own pages."""
        return self.origin_of(self.hosts[0])

    def origin_of(self, host: str) -> str:
        """Return the origin of pages of a host that ``refusal`` lets pass."""
        return f"{'https' if self.secure else 'http'}://{host}"

    def refusal(
        self,
        method: str,
        host: str,
        origin: str | None,
        fetch_site: str,
        *,
        websocket: bool = False,
        entrance: bool = False,
    ) -> Refusal | None:
        """Return why a request is refused, None if it may go on: its method, Host, Origin and Sec-Fetch-Site.

        An entrance is a page of ours, with nothing of anybody in it, to which others may send a browser.
        """
        if method not in _METHODS:
            return Refusal(405, f"the method {method[:16]} is not served")
        if host.lower() not in self.hosts:
            return Refusal(421, "this server does not answer for that host")
        if origin is not None and origin != self.origin_of(host.lower()):
            return Refusal(403, "the request comes from a page of another origin")
        if origin is None and (method in _WRITES or websocket):
            return Refusal(403, "the request does not say which page it comes from")
        # Browsers send this where they send no Origin. A link that was typed or pasted is of no site.
        if fetch_site not in ("", "none", "same-origin") and not entrance:
            return Refusal(403, "the request comes from a page of another site")
        return None

    def page_headers(self, host: str) -> tuple[tuple[bytes, bytes], ...]:
        """Return the headers of our own pages: nothing from elsewhere, nothing inline, in nobody's frame.

        The host is one that ``refusal`` let pass.
        """
        policy = (
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
            f"connect-src 'self' {'wss' if self.secure else 'ws'}://{host}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
            "require-trusted-types-for 'script'; trusted-types 'none'"
        )
        return (
            (b"Content-Security-Policy", policy.encode()),
            (b"Permissions-Policy", b"camera=(), geolocation=(), microphone=()"),
            *_COMMON,
        )


_COMMON = (
    (b"X-Frame-Options", b"DENY"),
    (b"X-Content-Type-Options", b"nosniff"),
    (b"Referrer-Policy", b"no-referrer"),
    (b"Cross-Origin-Opener-Policy", b"same-origin"),
    (b"Cross-Origin-Resource-Policy", b"same-origin"),
)
# What is no page of ours: should it be shown as one all the same, it can do nothing.
DATA_HEADERS = (
    (b"Content-Security-Policy", b"default-src 'none'; frame-ancestors 'none'; sandbox"),
    (b"Cache-Control", b"no-store"),
    *_COMMON,
)


def websocket_token(offered: list[bytes]) -> str | None:
    """Return the token among the protocols that a WebSocket offers, None if it does not offer ours."""
    names = [name.decode("latin-1") for name in offered]
    if PROTOCOL not in names:
        return None
    return next((name.removeprefix(TOKEN_PROTOCOL) for name in names if name.startswith(TOKEN_PROTOCOL)), "")
