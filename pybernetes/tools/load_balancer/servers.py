"""The API servers as HAProxy lists them, and how it finds out which of them answer."""

from __future__ import annotations

from pybernetes.tools.load_balancer.plan import Plan, joined

# A server that is stopping says so at /readyz before it closes; one that is gone loses its connections at once, so that
# clients ask again elsewhere.
READY = """\
    option httpchk
    http-check send meth GET uri /readyz ver HTTP/1.1 hdr Host kubernetes
    http-check expect status 200
"""
# How often is also how long a check may take, handshake included: a machine with much to do is slow, and no server of it gone.
# One that is killed needs no check: it refuses the next connection, which goes on to another one.
_PACE = (
    "    default-server inter 1s fastinter 200ms downinter 500ms fall 2 rise 1"
    " on-marked-down shutdown-sessions\n"
)
_REQUESTS = """\
    option http-no-delay
    option forwardfor
    retry-on conn-failure empty-response
"""
# Kubelets have certificates of the same authority; only API servers are called so.
_IDENTITY = "ca-file {certificates}/ca.crt verify required verifyhost kubernetes"


def backend(
    plan: Plan, name: str, mode: str, check: str, encrypted: str, more: str = "", follows: str = ""
) -> str:
    """Return a section with all servers; ``encrypted`` says what is sent over TLS: checks, everything, or nothing.

    The servers of a section that ``follows`` another one are up when they are up there, and are not asked again. Without a
    ``check`` a server is up when it takes connections, however long it then needs for a handshake.
    """
    identity = f" {encrypted} {_IDENTITY.format(certificates=plan.certificates)}{more}" if encrypted else ""
    identity += "" if check or follows or not encrypted else " no-check-ssl"
    lines = "".join(
        f"    server {server.name} {joined(server.address, server.port)}"
        f" {f'track {follows}/{server.name}' if follows else 'check'}{identity}\n"
        for server in plan.servers
    )
    extra = _REQUESTS if mode == "http" else ""
    return f"backend {name}\n    mode {mode}\n    balance leastconn\n{extra}{check}{_PACE}{lines}"
