"""proxy: any HTTP request passed on to a node, a pod or a service."""

from __future__ import annotations

import random
import re
import secrets
import ssl
from collections.abc import Callable

from pybernetes.api import errors
from pybernetes.api.resource import Object
from pybernetes.api.text import go_format
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.proxy import forwarding, kubelets
from pybernetes.control_plane.apiserver.proxy.reverse_proxy import Target
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.storage.kind import Kind
from pybernetes.control_plane.apiserver.subresources._streams import options_of, require_create
from pybernetes.lib.http.messages import Response
from pybernetes.lib.http.server_connection import Answer
from pybernetes.lib.network.names import Names, is_address

_NOT_ALLOWED = "address not allowed"
_PASSED_ON_BY, _OWN_MARK = b"x-pybernetes-passed-on-by", secrets.token_hex(8)
_NUMBER = re.compile(r"[0-9]{1,18}\Z")
_ACTIONS = frozenset(
    ("exec", "attach", "portforward", "run")
)  # of a kubelet: a WebSocket to them opens with GET
_NODE_NAMES = Names()  # nodes say themselves what they are called


async def handle(context: ServerContext, request: Request, kind: Kind) -> Answer:
    """Pass the request on; what follows ``proxy/`` is the path there."""
    if request.header(_PASSED_ON_BY) == _OWN_MARK:
        # A node or pod gave this server's address for its own: one request would come round as often as it says so.
        raise errors.bad_request(_NOT_ALLOWED)
    await context.fresh()
    attributes = context.admission.attributes(
        "CONNECT", kind.resource, request, options_of(request, kind), None, False
    )
    await context.admission.admit(attributes)
    finders = {"nodes": _node, "pods": _pod, "services": _service}
    target = await finders[kind.resource.plural](context, request, kind)
    if kind.resource.plural != "nodes":
        target.dialer = context.nodes.dialer
    target.headers[_PASSED_ON_BY] = _OWN_MARK.encode()
    target.prefix = forwarding.with_query(parted(request.path)[0], "")
    if not request.request_info.rest and not request.path.endswith("/") and request.method in ("GET", "HEAD"):
        # Relative links of the page behind the proxy need the slash.
        location = forwarding.with_query(request.path + "/", request.query_text)
        return Response(b"", 301, headers=((b"Location", location.encode()),))
    return await forwarding.forward_request(request, target)


def parted(path: str) -> tuple[str, str]:
    """Return the path up to ``proxy``, and what follows; by counting, since namespaces and pods may be named proxy too."""
    words = path.split("/")
    own = 8 if words[3] == "namespaces" else 6  # /api/v1[/namespaces/NAMESPACE]/KIND/NAME/proxy
    return "/".join(words[:own]), "/".join(words[own:])


def _path(request: Request) -> str:
    return forwarding.with_query("/" + parted(request.path)[1], request.query_text)


def _parts(kind: Kind, name: str) -> tuple[str, str, str]:
    """Split ``[scheme:]name[:port]`` into scheme, name and port."""
    pieces = name.split(":")
    scheme, name_, port = {
        1: ("", name, ""),
        2: ("", pieces[0], pieces[-1]),
        3: (pieces[0], pieces[len(pieces) // 2], pieces[-1]),
    }.get(len(pieces), ("", "", ""))
    if not name_ or scheme not in ("", "http", "https"):
        noun = kind.resource.kind.lower()
        raise errors.bad_request(f"invalid {noun} request {go_format.quote(name)}")
    return scheme, name_, port


def _read(context: ServerContext, kind: Kind, namespace: str, name: str) -> Object:
    record = context.store.get(kind.key(namespace, name))
    if record is None:
        raise errors.not_found("", kind.resource.plural, name)
    return kind.object(record)


async def _node(context: ServerContext, request: Request, kind: Kind) -> Target:
    scheme, name, port = _parts(kind, request.request_info.name)
    if parted(request.path)[1].strip("/").split("/")[0].lower() in _ACTIONS:
        # The kubelet lets this server do everything: whoever may only look at a node is held back here.
        await require_create(context, request)
    target = kubelets.kubelet(context, name, _path(request))
    target.host = await checked_address(target.host)
    if port and port != str(target.port):
        other = Target(target.host, _number(port), _path(request), _tls(scheme))
        other.dialer = context.nodes.dialer
        return other
    return target


async def checked_address(host: str) -> str:
    """Return the address of a node, which may not be one of this machine or of its links: nobody may come here that way.

    The address is what is dialled: a name could mean something else the next time that it is looked up.
    """
    try:
        resolved = [host] if is_address(host) else await _NODE_NAMES.lookup(host)
    except OSError:
        raise errors.bad_request(f"lookup {host}: no such host") from None
    addresses = [forwarding.proxyable(address) for address in resolved]
    if not addresses or not all(addresses):
        raise errors.bad_request(_NOT_ALLOWED)
    return addresses[0]


def _tls(scheme: str) -> ssl.SSLContext | None:
    return forwarding.unverified() if scheme == "https" else None


async def _pod(context: ServerContext, request: Request, kind: Kind) -> Target:
    scheme, name, port = _parts(kind, request.request_info.name)
    pod = _read(context, kind, request.request_info.namespace, name)
    address = forwarding.proxyable(pod.get("status", {}).get("podIP", ""))
    if not address:
        raise errors.bad_request(_NOT_ALLOWED)
    return Target(address, _number(port) if port else _first_port(pod), _path(request), _tls(scheme))


def _first_port(pod: Object) -> int:
    for container in pod["spec"].get("containers", ()):
        for port in container.get("ports", ()):
            return port["containerPort"]
    return 80


def _number(port: str) -> int:
    if not _NUMBER.match(port) or not 0 < int(port) < 65536:
        raise errors.bad_request(f"invalid port {port!r}")
    return int(port)


async def _service(context: ServerContext, request: Request, kind: Kind) -> Target:
    scheme, name, port = _parts(kind, request.request_info.name)
    namespace = request.request_info.namespace
    if _NUMBER.match(port):
        port = _port_name(_read(context, kind, namespace, name), int(port))
    slices, pods = context.kinds.find("discovery.k8s.io", "endpointslices"), context.kinds.find("", "pods")

    def pod(pod_name: str) -> Object | None:
        record = context.store.get(pods.key(namespace, pod_name))
        return None if record is None else pods.object(record)

    candidates = [
        candidate
        for record in context.store.list(slices.collection(namespace)).records
        if slices.labels(record).get("kubernetes.io/service-name") == name
        for candidate in endpoints(slices.object(record), namespace, port, pod)
    ]
    if not candidates:
        raise errors.unavailable(f'no endpoints available for service "{name}"')
    given, number = random.choice(candidates)
    address = forwarding.proxyable(given)
    if not address:
        raise errors.bad_request(_NOT_ALLOWED)
    return Target(address, number, _path(request), _tls(scheme))


def _port_name(service: Object, number: int) -> str:
    """Return the name of the service's port with a number."""
    for port in service.get("spec", {}).get("ports", []):
        if port["port"] == number:
            return port.get("name", "")
    name = service["metadata"]["name"]
    raise errors.unavailable(f'no service port {number} found for service "{name}"')


def endpoints(
    piece: Object, namespace: str, port_name: str, pod: Callable[[str], Object | None]
) -> list[tuple[str, int]]:
    """Return where a request to a service may go: to pods of its namespace, and to no other address that a slice names."""
    numbers = [
        port["port"]
        for port in piece.get("ports") or ()
        if port.get("name", "") == port_name and "port" in port
    ]
    places = []
    for endpoint in piece.get("endpoints") or () if numbers else ():
        target = endpoint.get("targetRef", {})
        if not endpoint.get("conditions", {}).get("ready", True) or target.get("namespace") != namespace:
            continue
        named = pod(target.get("name", ""))
        addresses = [pod_ip.get("ip") for pod_ip in (named or {}).get("status", {}).get("podIPs", ())]
        if endpoint["addresses"][0] in addresses:
            places += [(endpoint["addresses"][0], number) for number in numbers]
    return places
