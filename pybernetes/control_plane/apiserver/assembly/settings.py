"""What a server is told from outside."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from pybernetes.api.registry import builtin
from pybernetes.api.resource import Resource
from pybernetes.control_plane.apiserver.admission.plugin import Plugin
from pybernetes.control_plane.apiserver.aggregation.proxy import Identity
from pybernetes.control_plane.apiserver.audit.auditor import Auditor
from pybernetes.control_plane.apiserver.authn import client_ca_publisher
from pybernetes.control_plane.apiserver.authn.authentication import Authentication
from pybernetes.control_plane.apiserver.authz.authorizer import Authorizer
from pybernetes.control_plane.apiserver.config_reloads import ConfigFile
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.encryption.encryption import Encryption
from pybernetes.control_plane.apiserver.observability.tracing import Tracer
from pybernetes.control_plane.apiserver.proxy.egress_selector import EgressSelector
from pybernetes.control_plane.apiserver.proxy.node_access import NodeAccess
from pybernetes.control_plane.apiserver.services.options import ServiceOptions
from pybernetes.lib.memory import memory_room
from pybernetes.lib.tls.serving_certificates import ServingCertificates


@dataclass
class Settings:
    """What a server is told from outside."""

    host: str = "0.0.0.0"
    port: int = 6443
    advertise_address: str = ""
    # The name or address that others know it by, if it is not the one above.
    external_hostname: str = ""
    serving: ServingCertificates | None = None
    # The state of every feature gate, for metrics.
    feature_gates: Mapping[str, bool] = field(default_factory=dict)
    # The built-in kinds to serve.
    resources: Sequence[Resource] = field(default_factory=builtin)
    # What seals values on their way to the store, which has to be the store's.
    encryption: Encryption = field(default_factory=Encryption)
    # What the command line said, for /flagz.
    flags: Mapping[str, str] = field(default_factory=dict)
    authentication: Callable[[ServerContext], Authentication] = lambda context: Authentication()
    trust: client_ca_publisher.ClientAuthorities = field(
        default_factory=client_ca_publisher.ClientAuthorities
    )
    authorizers: Callable[[ServerContext], Sequence[Authorizer]] = lambda context: ()
    # What takes over configuration files that change.
    config_files: Sequence[Callable[[ServerContext], ConfigFile | None]] = ()
    admission: Sequence[Callable[[ServerContext], Plugin]] = ()
    nodes: NodeAccess = field(default_factory=NodeAccess)
    # Which of its connections go through proxies.
    egress: EgressSelector = field(default_factory=EgressSelector)
    # Who this server is to the servers behind it.
    proxy: Identity = field(default_factory=Identity)
    services: ServiceOptions = field(default_factory=ServiceOptions)
    # How long the server goes on as before once it says that it is not ready, and then waits for what is under way.
    delay_seconds: float = 0.0
    # How many requests may be at work at once, shared out among priority levels; 0 leaves them alone.
    seats: int = 600
    # Who notes what is asked of the server; None notes nothing.
    auditor: Auditor | None = None
    drain_seconds: float = 60.0
    # How often what is older than this is let go from the store's history; 0 keeps it.
    compaction_seconds: float = 300.0
    # What makes spans of requests; None makes none.
    tracer: Tracer | None = None
    # Whether /debug/pprof/ is served.
    profiling: bool = True
    # How long the checks of the store may take, for health and for readiness.
    health_seconds: tuple[float, float] = (2.0, 2.0)
    # How long a request may take, and how long a watch goes on at least if its client does not say.
    request_seconds: float = 60.0
    watch_seconds: int = 1800
    # The value of the Strict-Transport-Security header; empty for none.
    transport_security: str = ""
    # The form in which built-in kinds are stored.
    storage_media_type: str = "application/json"
    # How many bytes of memory there are for what clients send and ask for.
    memory_room: int = field(default_factory=memory_room.room)
    # From how much processor time on a turn of the event loop is logged and counted; 0 watches none.
    watchdog_seconds: float = 0.0
