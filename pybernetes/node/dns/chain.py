"""From the blocks of a Corefile to what answers: a chain of plugins for each zone, in CoreDNS' order."""

from __future__ import annotations

from dataclasses import dataclass, field

from pybernetes.lib import discover
from pybernetes.node.dns import corefile, plugins, wire
from pybernetes.node.dns.corefile import Block, CorefileError, Line
from pybernetes.node.dns.lookup import Lookup
from pybernetes.node.dns.plugin import Controller, Environment, Plugin, Site, Wrap, zones_of
from pybernetes.node.dns.query import Handler, Query, refuse

# The order in which CoreDNS asks its plugins, whatever their order in the file. Those that are not built here are
# refused by their name.
ORDER = (
    "root", "metadata", "geoip", "cancel", "tls", "proxyproto", "quic", "grpc_server", "https", "https3", "timeouts",
    "multisocket", "reload", "nsid", "bufsize", "bind", "debug", "trace", "ready", "health", "pprof", "shed",
    "prometheus", "errors", "log", "dnstap", "local", "dns64", "any", "chaos", "loadbalance", "tsig", "rewrite",
    "autopath", "acl", "cache", "header", "dnssec", "minimal", "template", "transfer", "hosts", "route53", "azure",
    "clouddns", "k8s_external", "kubernetes", "file", "auto", "secondary", "etcd", "loop", "forward", "grpc", "erratic",
    "whoami", "on", "sign", "view", "nomad",
)  # fmt: skip
_SCHEMES = ("tls://", "grpc://", "https://", "https3://", "quic://", "unix://")


@dataclass(slots=True)
class Listening:
    """The zones that are answered on one port, with their handlers."""

    addresses: tuple[str, ...]
    port: int
    routes: dict[bytes, Handler] = field(default_factory=dict)
    udp_size: int = wire.UDP_SIZE
    lookup: Lookup | None = None  # the cluster's names, if nothing wants to see questions for them first

    @property
    def handler(self) -> Handler:
        """What answers: the block with the longest zone that matches."""
        if len(self.routes) == 1 and b"\0" in self.routes:
            return self.routes[b"\0"]
        return self._route

    async def _route(self, query: Query) -> bytes:
        routes, name, at = self.routes, query.name, 0
        while True:
            handler = routes.get(name[at:])
            if handler is not None:
                return await handler(query)
            if at >= len(name) - 1:
                return await refuse(query)
            at += 1 + name[at]


@dataclass(slots=True)
class Chains:
    """A whole Corefile, ready to run."""

    site: Site
    listening: list[Listening]


def build(text: str, environment: Environment) -> Chains:
    """Return what a Corefile means; CorefileError says what is wrong with it."""
    site = Site(environment)
    listening: dict[tuple[tuple[str, ...], int], Listening] = {}
    known = set(discover.names(plugins.__name__))
    for block in corefile.parse(text, environment.variables):
        _check(block, known)
        for port, zones in _zones(block).items():
            _add(site, block, port, zones, listening)
    if not listening:
        raise CorefileError("Corefile: there is no block")
    return Chains(site, list(listening.values()))


def _check(block: Block, known: set[str]) -> None:
    for directive in block.directives:
        if directive.name in known:
            continue
        if directive.name in ORDER:
            raise directive.line.problem(f"the plugin '{directive.name}' is not built in here")
        raise directive.line.problem(f"Unknown directive '{directive.name}'")


def _zones(block: Block) -> dict[int, tuple[bytes, ...]]:
    """Return the zones of a block by their port."""
    result: dict[int, list[bytes]] = {}
    for key in block.keys:
        zone, port = _key(key, block.line)
        result.setdefault(port, []).extend(zones_of(zone, block.line))
    return {port: tuple(zones) for port, zones in result.items()}


def _key(text: str, line: Line) -> tuple[str, int]:
    for scheme in _SCHEMES:
        if text.startswith(scheme):
            raise line.problem(f"the transport {scheme} is not built in here")
    rest = text.removeprefix("dns://")
    zone, colon, port = rest.rpartition(":")
    if colon and not port:
        raise line.problem(f"expecting data after last colon: {rest!r}")
    if not (port.isascii() and port.isdigit() and colon):  # what follows is part of an address: fd00::/8
        return rest, 53
    if len(port) > 5 or int(port) > 65535:
        raise line.problem(f"'{text}' has no port")
    return zone or ".", int(port)


def _add(
    site: Site, block: Block, port: int, zones: tuple[bytes, ...],
    listening: dict[tuple[tuple[str, ...], int], Listening],
) -> None:  # fmt: skip
    names = [name for name in ORDER if block.find(name)]
    loaded: dict[str, Plugin] = {name: discover.load(plugins.__name__, name).PLUGIN for name in names}
    controller = Controller(site, block, zones, [], chain=names)
    hosts: tuple[str, ...] = ()
    if "bind" in names:  # where to listen comes before everything else
        controller.directives = block.find("bind")
        _set_up("bind", loaded["bind"], controller)
        hosts = controller.hosts
    place = _listening(site, block, hosts, port, listening)
    controller.hosts, controller.port = place.addresses, place.port
    wraps: list[Wrap] = []
    for name in names:
        if name == "bind":
            continue
        controller.directives = block.find(name)
        wrap = _set_up(name, loaded[name], controller)
        if wrap is not None:
            wraps.append(wrap)
    handler: Handler = refuse
    for wrap in reversed(wraps):
        handler = wrap(handler)
    for zone in zones:
        if zone in place.routes:
            raise block.line.problem(f"cannot serve dns://{wire.text(zone)}:{port} - it is already defined")
        place.routes[zone] = handler
    size = controller.shared.get("udp_size")
    if isinstance(size, int):
        place.udp_size = size
    lookup = controller.shared.get("lookup")
    if (
        isinstance(lookup, Lookup)
        and b"\0" in zones
        and all(plugin.passes_cluster_names for plugin in loaded.values())
    ):
        place.lookup = lookup
    if place.lookup is not None and any(place.lookup.concerns(zone) for zone in place.routes):
        place.lookup = None  # another block has a part of the cluster's names


def _set_up(name: str, plugin: Plugin, controller: Controller) -> Wrap | None:
    try:
        return plugin.setup(controller)
    except CorefileError as error:
        raise CorefileError(f"plugin/{name}: {error}") from None


def _listening(
    site: Site, block: Block, hosts: tuple[str, ...], port: int,
    listening: dict[tuple[tuple[str, ...], int], Listening],
) -> Listening:  # fmt: skip
    try:
        place = site.environment.listen(hosts, port)
    except ValueError as error:
        raise block.line.problem(str(error)) from None
    return listening.setdefault(place, Listening(*place))
