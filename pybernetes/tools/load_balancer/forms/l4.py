"""Layer 4: connections are passed on as they are, so that API servers see the clients' own TLS and certificates."""

from __future__ import annotations

from pybernetes.tools.load_balancer import servers
from pybernetes.tools.load_balancer.plan import Plan


def sections(plan: Plan) -> str:
    """Return the sections of HAProxy's configuration."""
    return f"""\
frontend kubernetes
    mode tcp
    bind {plan.everywhere}
    default_backend kube-apiserver

backend kube-apiserver
    mode tcp
    balance leastconn
{servers.HEALTH}{servers.lines(plan, "check-ssl")}"""
