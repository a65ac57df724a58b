"""The configuration of HAProxy: what both forms share, around what one of them adds."""

from __future__ import annotations

from pybernetes.tools.load_balancer.forms import l4, l7
from pybernetes.tools.load_balancer.plan import LoadBalancerError, Plan

CONFIGURATION = "/etc/haproxy/haproxy.cfg"
FORMS = {"l4": l4, "l7": l7}

# Watches, logs and shells are silent for long; dead peers are found by TCP's own keepalive.
_COMMON = """\
global
    log stdout format raw local0 notice
    maxconn 8192
    # Beside apiserver.crt lies apiserver.key.
    ssl-load-extra-del-ext
    ssl-default-bind-options ssl-min-ver TLSv1.2
    ssl-default-server-options ssl-min-ver TLSv1.2

defaults
    log global
    option dontlognull
    option clitcpka
    option srvtcpka
    option redispatch 1
    retries 3
    timeout connect 1s
    timeout check 2s
    timeout queue 5s
    timeout http-request 10s
    timeout http-keep-alive 5m
    timeout client 4h
    timeout server 4h
    timeout tunnel 4h

# Says to keepalived on this machine whether any API server answers.
frontend health
    mode http
    bind 127.0.0.1:{health}
    timeout client 5s
    monitor-uri /healthz
    monitor fail if {{ nbsrv(kube-apiserver) lt 1 }} {{ nbsrv(kube-apiserver-any) lt 1 }}
"""


def configuration(plan: Plan, form: str) -> str:
    """Return the file that HAProxy on each control-plane machine reads."""
    if form not in FORMS:
        raise LoadBalancerError(f"the form {form!r} is none of {', '.join(FORMS)}")
    return f"{_COMMON.format(health=plan.health_port)}\n{FORMS[form].sections(plan)}"
