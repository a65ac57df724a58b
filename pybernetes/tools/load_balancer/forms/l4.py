"""Layer 4: connections are passed on as they are, so that API servers see the clients' own TLS and certificates."""

from __future__ import annotations

from pybernetes.tools.load_balancer import servers
from pybernetes.tools.load_balancer.plan import Plan

FILES = ("ca.crt",)  # of the certificates that HAProxy reads


def sections(plan: Plan) -> str:
    """Return the sections of HAProxy's configuration."""
    return f"""\
frontend kubernetes
    mode tcp
    bind {plan.everywhere}
    # Without a quorum of etcd none is ready, and yet they answer from memory.
    use_backend kube-apiserver-any if {{ nbsrv(kube-apiserver) lt 1 }}
    default_backend kube-apiserver

{servers.backend(plan, "kube-apiserver", "tcp", servers.READY, "check-ssl")}
{servers.backend(plan, "kube-apiserver-any", "tcp", "", "")}"""
