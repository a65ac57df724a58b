"""autopath [ZONE…] RESOLV-CONF|@kubernetes: goes through the client's search path for it, at its first question."""

from __future__ import annotations

from pybernetes.node.dns import wire
from pybernetes.node.dns.cluster_names import ClusterNames
from pybernetes.node.dns.corefile import CorefileError, Line
from pybernetes.node.dns.message import Message
from pybernetes.node.dns.plugin import Controller, Plugin, Wrap, zone_of
from pybernetes.node.dns.query import Handler, Query
from pybernetes.node.dns.wire import Record


def setup(controller: Controller) -> Wrap:
    """Set up the search path of a block: a file's, or that of the pod that asks."""
    directive = controller.once()
    if not directive.arguments:
        raise CorefileError("no resolv-conf specified")
    *texts, source = directive.arguments
    zones = controller.zones_or_own(texts, directive.line)
    if source.startswith("@"):
        if source[1:] != "kubernetes":
            raise CorefileError(f"{source[1:]} does not implement the AutoPather interface")
        path: list[bytes] | None = None
        try:
            more = _searches(controller, "/etc/resolv.conf", directive.line)
        except CorefileError:
            more = []
    else:
        path, more = [*_searches(controller, source, directive.line), b"\0"], []
    shared, metrics = controller.shared, controller.environment.metrics

    def searches(query: Query) -> list[bytes]:
        if path is not None:
            return path
        names = shared.get("names")
        return of_pod(names, query, more) if isinstance(names, ClusterNames) else []

    def wrap(following: Handler) -> Handler:
        async def answer(query: Query) -> bytes:
            search = searches(query) if zone_of(query, zones) is not None else []
            if not search or len(query.name) <= len(search[0]) or not wire.within(query.name, search[0]):
                return await following(query)
            base = query.name[: -len(search[0])]
            first = b""
            for zone in search:
                if len(base) + len(zone) > 255:
                    continue
                message = await following(query._replace(question=base + zone + query.question[-4:]))
                first = first or message
                if message[3] & 15 == wire.NOERROR:
                    metrics.count("coredns_autopath_success_total")
                    return message if zone == search[0] else renamed(message, query)
            return first

        return answer

    return wrap


def of_pod(names: ClusterNames, query: Query, more: list[bytes]) -> list[bytes]:
    """Return the search path of the pod that asks, or nothing if no pod does."""
    zone = names.table.zone
    if not wire.within(query.name, zone):
        return []
    namespace = names.namespace_of(query.client[0])
    if namespace is None:
        return []
    services = b"\x03svc" + zone
    return [wire.name(namespace)[:-1] + services, services, zone, *more, b"\0"]


def renamed(message: bytes, query: Query) -> bytes:
    """Return an answer about another name as one about the question's, which is an alias for it."""
    parsed = Message.read(message)
    name = query.name
    other = next((record for record in parsed.answers if record.owner.lower() != name), None)
    if other is not None:
        parsed.answers.insert(0, Record(name, wire.CNAME, 1, other.ttl, other.owner))
    parsed.question = query.question
    return parsed.encode()


def _searches(controller: Controller, path: str, line: Line) -> list[bytes]:
    searches: list[bytes] = []
    for text in controller.environment.read(path, line).splitlines():
        words = text.split()
        if words[:1] in (["search"], ["domain"]):
            try:
                searches = [wire.name(word) for word in words[1:]]
            except ValueError as error:
                raise CorefileError(f'failed to parse "{path}": {error}') from None
    return searches


PLUGIN = Plugin(setup)
