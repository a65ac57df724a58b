"""The API servers as HAProxy lists them, and how it finds out which of them answer."""

from __future__ import annotations

from pybernetes.tools.load_balancer.plan import Plan, joined

# A server that is stopping says so at /readyz before it closes; one that is gone loses its connections at once, so that
# clients ask again elsewhere.
HEALTH = """\
    option httpchk
    http-check send meth GET uri /readyz ver HTTP/1.1 hdr Host kubernetes
    http-check expect status 200
    default-server inter 500ms fastinter 200ms downinter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
"""
# Kubelets have certificates of the same authority; only API servers are called so.
_IDENTITY = "ca-file {certificates}/ca.crt verify required verifyhost kubernetes"


def lines(plan: Plan, encrypted: str, more: str = "") -> str:
    """Return a line for each server; ``encrypted`` says what is sent over TLS: the checks alone, or everything."""
    identity = _IDENTITY.format(certificates=plan.certificates)
    return "".join(
        f"    server {server.name} {joined(server.address, server.port)} check {encrypted} {identity}{more}\n"
        for server in plan.servers
    )
