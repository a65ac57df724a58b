"""The listeners of a Gateway: what each of them takes, and what is wrong with it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from pybernetes.api.resource import Object
from pybernetes.control_plane.gateway import grants
from pybernetes.control_plane.gateway.certificates import BadCertificate, key_pair
from pybernetes.control_plane.gateway.cluster_view import ClusterView
from pybernetes.control_plane.gateway.conditions import Condition
from pybernetes.control_plane.gateway.kinds import GROUP

_KINDS = {"HTTP": ("HTTPRoute", "GRPCRoute"), "HTTPS": ("HTTPRoute", "GRPCRoute"), "TLS": ("TLSRoute",)}
Problem = tuple[str, str]


@dataclass(slots=True)
class Listener:
    """A listener with the reasons why it is not what its owner wants."""

    spec: Object
    kinds: tuple[str, ...] = ()
    certificates: dict[str, tuple[bytes, bytes]] = field(default_factory=dict)
    refused: Problem | None = None
    conflict: Problem | None = None
    unresolved: Problem | None = None
    attached: int = 0

    @property
    def name(self) -> str:
        """Its name."""
        name: str = self.spec["name"]
        return name

    @property
    def host(self) -> str:
        """The host name that it is for; empty for all."""
        host: str = self.spec.get("hostname", "")
        return host

    @property
    def port(self) -> int:
        """Its port."""
        port: int = self.spec["port"]
        return port

    @property
    def is_tls(self) -> bool:
        """Whether connections begin with TLS."""
        return self.spec["protocol"] in ("HTTPS", "TLS")

    @property
    def ends_tls(self) -> bool:
        """Whether TLS ends here."""
        return self.is_tls and (self.spec.get("tls") or {}).get("mode", "Terminate") == "Terminate"

    @property
    def is_usable(self) -> bool:
        """Whether traffic can come in by it."""
        if self.refused or self.conflict or not self.kinds:
            return False
        return bool(self.certificates) or not self.ends_tls

    def conditions(self, programmed: Problem | None) -> list[Condition]:
        """Return its conditions; ``programmed`` says why the proxy does not serve it yet, if it does not."""
        bad = self.refused or self.conflict
        own = None if self.is_usable else (bad or self.unresolved or ("Invalid", ""))
        held = ("Invalid", own[1]) if own else programmed
        return [
            Condition("Accepted", not bad, *(bad or ("Accepted", ""))),
            Condition("Conflicted", bool(self.conflict), *(self.conflict or ("NoConflicts", ""))),
            Condition("ResolvedRefs", not self.unresolved, *(self.unresolved or ("ResolvedRefs", ""))),
            Condition("Programmed", not held, *(held or ("Programmed", ""))),
        ]

    def supported_kinds(self) -> list[Object]:
        """Return the kinds of routes that may be attached."""
        return [{"group": GROUP, "kind": kind} for kind in self.kinds]


def listeners_of(gateway: Object, view: ClusterView) -> list[Listener]:
    """Return the listeners of a Gateway."""
    namespace = gateway["metadata"]["namespace"]
    result = [_listener(spec, namespace, view) for spec in gateway["spec"]["listeners"]]
    _find_conflicts(result)
    return result


def _listener(spec: Object, namespace: str, view: ClusterView) -> Listener:
    listener = Listener(spec)
    possible = _KINDS.get(spec["protocol"])
    if possible is None:
        listener.refused = "UnsupportedProtocol", f"the protocol {spec['protocol']} is not supported"
        return listener
    wanted = (spec.get("allowedRoutes") or {}).get("kinds") or [{"kind": kind} for kind in possible]
    listener.kinds = tuple(
        kind["kind"] for kind in wanted if kind.get("group", GROUP) == GROUP and kind["kind"] in possible
    )
    if len(listener.kinds) < len(wanted):
        listener.unresolved = (
            "InvalidRouteKinds",
            f"routes of {spec['protocol']} are {' and '.join(possible)}",
        )
    if listener.ends_tls:
        _find_certificates(listener, namespace, view)
    return listener


def _find_certificates(listener: Listener, namespace: str, view: ClusterView) -> None:
    for reference in (listener.spec.get("tls") or {}).get("certificateRefs") or ():
        group, kind, name = reference.get("group", ""), reference.get("kind", "Secret"), reference["name"]
        other = reference.get("namespace") or namespace
        key = f"{other}/{name}"
        if (group, kind) != ("", "Secret"):
            problem = (
                "InvalidCertificateRef",
                f"certificates of kind {kind} in group {group!r} are not supported",
            )
        elif other != namespace and not grants.permitted(
            view.grants(other), "Gateway", namespace, (group, kind, name)
        ):
            problem = "RefNotPermitted", f"no ReferenceGrant of {other} permits Secret {key}"
        elif (secret := view.secret(key)) is None:
            problem = (
                "InvalidCertificateRef",
                f"Secret {key} does not exist, or is not of type kubernetes.io/tls",
            )
        else:
            try:
                listener.certificates[key] = key_pair(secret)
            except BadCertificate as error:
                problem = "InvalidCertificateRef", f"Secret {key}: {error}"
            else:
                continue
        listener.unresolved = listener.unresolved or problem
    if not listener.certificates and listener.unresolved is None:
        listener.unresolved = "InvalidCertificateRef", "the listener names no certificate"


def _find_conflicts(listeners: list[Listener]) -> None:
    by_port: dict[int, list[Listener]] = defaultdict(list)
    for listener in listeners:
        if not listener.refused:
            by_port[listener.port].append(listener)
    for port, sharing in by_port.items():
        if len({listener.is_tls for listener in sharing}) > 1:
            for listener in sharing:
                listener.conflict = "ProtocolConflict", f"port {port} has listeners with TLS and without"
            continue
        by_host: dict[str, list[Listener]] = defaultdict(list)
        for listener in sharing:
            by_host[listener.host].append(listener)
        for host, alike in by_host.items():
            for listener in alike if len(alike) > 1 else ():
                listener.conflict = (
                    "HostnameConflict",
                    f"port {port} has several listeners for {host or 'all hosts'}",
                )
