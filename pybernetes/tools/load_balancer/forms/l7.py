"""Layer 7: TLS ends at HAProxy, which balances single requests and tells API servers who asks.

Whoever comes with a certificate of the cluster's authority is named in front-proxy headers, over connections that carry the
certificate of the front proxy; only that one may set them (``--requestheader-allowed-names``). Tokens and strangers go over
connections without any certificate, so that the API server judges them as if they had come to itself. Such headers that a
client sends are removed in any case.
"""

from __future__ import annotations

from pybernetes.tools.load_balancer import servers
from pybernetes.tools.load_balancer.plan import Plan

_TLS = "ssl alpn http/1.1"
# Of the certificates, those that HAProxy reads.
FILES = ("ca.crt", "apiserver.crt", "apiserver.key", "front-proxy-client.crt", "front-proxy-client.key")
MOST_GROUPS = 16  # of a certificate that HAProxy passes on; one with more is refused
_RETRY_SECONDS = 1
_UNANSWERED = "x-pybernetes-unanswered"


def _status(code: int, reason: str, message: str, more: str = "") -> str:
    """Return what an API server would answer."""
    return (
        '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",'
        f'"message":"{message}","reason":"{reason}"{more},"code":{code}}}'
    )


def _error(code: int, told: int, reason: str, message: str, more: str = "") -> str:
    """Return the line that makes a Status of an error of HAProxy itself, which says when to ask again."""
    details = f',"details":{{"retryAfterSeconds":{_RETRY_SECONDS}}}'
    return (
        f"    http-error status {code} content-type application/json hdr Retry-After {_RETRY_SECONDS}{more}"
        f" string '{_status(told, reason, message, details)}'\n"
    )


_UNAUTHORIZED = _status(401, "Unauthorized", "Unauthorized")
# An API server that ends in the middle of a write leaves it open whether that happened: a client must not take it for undone.
_ERRORS = (
    _error(502, 504, "Timeout", "Timeout: the API server ended before it answered", f" hdr {_UNANSWERED} 1")
    + _error(503, 503, "ServiceUnavailable", "no API server answers")
    + _error(504, 504, "Timeout", "Timeout: the API server did not answer in time")
)


def sections(plan: Plan) -> str:
    """Return the sections of HAProxy's configuration."""
    own = f"ssl crt {plan.certificates}/apiserver.crt alpn h2,http/1.1"
    clients = f"verify optional ca-file {plan.certificates}/ca.crt crt-ignore-err all ca-ignore-err all"
    groups = "".join(
        f"    http-request add-header X-Remote-Group %[ssl_c_s_dn(O,{number})]"
        f" if certified {{ ssl_c_s_dn(O,{number}) -m found }}\n"
        for number in range(1, MOST_GROUPS + 1)
    )
    odd = "".join(
        f"    acl odd ssl_c_s_dn(O,{number}) -m reg [[:cntrl:]]\n" for number in range(1, MOST_GROUPS + 1)
    )
    return f"""\
frontend kubernetes
    mode http
    bind {plan.everywhere} {own} {clients}
    option http-no-delay
    # Errors of HAProxy's own, as API servers would tell them. Reads go to another server by themselves.
{_ERRORS}    http-after-response set-status 504 if {{ res.hdr({_UNANSWERED}) -m found }}
    http-after-response del-header {_UNANSWERED}
    http-request disable-l7-retry unless METH_GET
    # Nobody but HAProxy says who a client is.
    http-request del-header X-Remote-User
    http-request del-header X-Remote-Group
    http-request del-header X-Remote-Uid
    http-request del-header X-Remote-Extra- -m beg
    acl certified ssl_c_used
    acl verified ssl_c_verify 0
    acl named ssl_c_s_dn(CN) -m found
    # What would end a header's line, or be left out.
    acl odd ssl_c_s_dn(CN) -m reg [[:cntrl:]]
{odd}    acl odd ssl_c_s_dn(O,{MOST_GROUPS + 1}) -m found
    http-request return status 401 content-type application/json string '{_UNAUTHORIZED}' if certified !verified
    http-request return status 401 content-type application/json string '{_UNAUTHORIZED}' if certified !named
    http-request return status 401 content-type application/json string '{_UNAUTHORIZED}' if certified odd
    http-request set-header X-Remote-User %[ssl_c_s_dn(CN)] if certified
{groups}    # Without a quorum of etcd none is ready, and yet they answer from memory.
    acl none-ready nbsrv(kube-apiserver) lt 1
    use_backend kube-apiserver-front-proxy-any if certified none-ready
    use_backend kube-apiserver-front-proxy if certified
    use_backend kube-apiserver-any if none-ready
    default_backend kube-apiserver

# Clients with tokens, or without anything.
{servers.backend(plan, "kube-apiserver", "http", servers.READY, _TLS)}
{servers.backend(plan, "kube-apiserver-any", "http", "", _TLS)}
# Clients with certificates, named in headers.
{_front_proxy(plan, "kube-apiserver")}
{_front_proxy(plan, "kube-apiserver-any")}"""


def _front_proxy(plan: Plan, followed: str) -> str:
    """Return the section for clients with names; a check would have none, and API servers refuse that."""
    certificate = f" crt {plan.certificates}/front-proxy-client.crt"
    name = followed.replace("kube-apiserver", "kube-apiserver-front-proxy")
    return servers.backend(plan, name, "http", "", _TLS, certificate, follows=followed)
