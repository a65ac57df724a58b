"""What objects become before they become a proxy's configuration: ports with chains, hosts with routes, backends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

PathType = Literal["exact", "prefix", "regex"]
NO_CLUSTER = ""  # where requests go that cannot go where they should: they are answered with 500


class Value(NamedTuple):
    """What a header or a parameter of the query has to be."""

    name: str
    value: str
    is_regex: bool = False


@dataclass(frozen=True, slots=True)
class Match:
    """Which requests a route is for."""

    path_type: PathType = "prefix"
    path: str = "/"
    method: str = ""
    headers: tuple[Value, ...] = ()
    parameters: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True)
class HeaderChanges:
    """What happens to headers."""

    set: tuple[tuple[str, str], ...] = ()
    add: tuple[tuple[str, str], ...] = ()
    remove: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Replacement:
    """What happens to a path: it, or the part that matched, is replaced."""

    value: str
    is_prefix: bool


@dataclass(frozen=True, slots=True)
class Redirect:
    """An answer that sends the client elsewhere."""

    code: int = 302
    scheme: str = ""
    host: str = ""
    port: int = 0
    path: Replacement | None = None


@dataclass(frozen=True, slots=True)
class Rewrite:
    """Another host or path for the backend than the client asked for."""

    host: str = ""
    path: Replacement | None = None


@dataclass(frozen=True, slots=True)
class Mirror:
    """A second backend that some of the requests are sent to as well; its answers are dropped."""

    cluster: str
    numerator: int = 100
    denominator: int = 100


@dataclass(frozen=True, slots=True)
class Cors:
    """Which other sites' pages may ask."""

    origins: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    exposed: tuple[str, ...] = ()
    credentials: bool = False
    max_age: int = 5


@dataclass(frozen=True, slots=True)
class Changes:
    """What the filters of a rule, or of one backend, do."""

    request: HeaderChanges = field(default_factory=HeaderChanges)
    response: HeaderChanges = field(default_factory=HeaderChanges)
    redirect: Redirect | None = None
    rewrite: Rewrite | None = None
    mirrors: tuple[Mirror, ...] = ()
    cors: Cors | None = None


@dataclass(frozen=True, slots=True)
class Backend:
    """Where a part of the requests goes: a cluster, or nowhere."""

    cluster: str
    weight: int = 1
    changes: Changes = field(default_factory=Changes)


@dataclass(frozen=True, slots=True)
class Action:
    """What happens to requests that match."""

    backends: tuple[Backend, ...] = ()
    changes: Changes = field(default_factory=Changes)
    seconds: float | None = None  # for all of a request; 0 has no end, None is the proxy's default
    backend_seconds: float | None = None


class Order(NamedTuple):
    """Which of two routes that match alike wins: the smaller."""

    created: str
    name: str  # namespace and name of the object
    rule: int = 0
    match: int = 0


@dataclass(frozen=True, slots=True)
class Route:
    """A match and what follows from it."""

    match: Match
    action: Action
    order: Order


@dataclass(frozen=True, slots=True)
class Cluster:
    """A port of a service, whose endpoints come by themselves."""

    namespace: str
    service: str
    port: str  # the name of the port, which endpoints have as well
    number: int
    is_http2: bool = False

    @property
    def name(self) -> str:
        """What the proxy calls it."""
        protocol = "/h2" if self.is_http2 else ""
        return f"{self.namespace}/{self.service}/{self.number}{protocol}"


@dataclass(frozen=True, slots=True)
class Chain:
    """What happens to connections to a port: all of them, or those that ask for a name."""

    name: str
    server_names: tuple[str, ...] = ()  # empty: all others
    certificates: tuple[str, ...] = ()  # names of Secrets; empty: TLS is not ended here
    hosts: Mapping[str, list[Route]] | None = None  # for HTTP
    backends: tuple[Backend, ...] = ()  # for bytes


@dataclass(frozen=True, slots=True)
class Port:
    """A port that clients connect to."""

    number: int
    is_tls: bool
    chains: tuple[Chain, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """A Gateway, or all Ingresses of the cluster together: one address with ports."""

    name: str
    ports: tuple[Port, ...] = ()
    clusters: Mapping[str, Cluster] = field(default_factory=dict)
    certificates: Mapping[str, tuple[bytes, bytes]] = field(default_factory=dict)  # chain and key, in PEM
