"""Corefiles at work without sockets, in front of a small cluster."""

from __future__ import annotations

from typing import Any

from pybernetes.node.dns import chain, records
from pybernetes.node.dns.cluster_names import ClusterNames, NameOptions
from pybernetes.node.dns.plugin import Environment
from pybernetes.node.dns.resolver import Resolver
from tests.node.dns.zone import question, service, texts

CLUSTER = ". {\n kubernetes cluster.local in-addr.arpa ip6.arpa\n}\n"


def cluster_names(options: NameOptions) -> ClusterNames:
    """Return the names of a cluster that has one service; they follow nothing."""
    names = ClusterNames(None, options)  # type: ignore[arg-type]
    names.table.set_namespace("default", True)
    web = service("web", clusterIPs=["10.96.0.7"])
    names.table.set_service("default/web", records.of_service(web, (), names.table.zone))
    return names


def environment(**options: Any) -> Environment:
    """Return where the Corefiles of tests run."""
    return Environment(cluster=cluster_names, **options)


def resolver(text: str, place: Environment | None = None) -> Resolver:
    """Return what answers as a Corefile says."""
    (listening,) = chain.build(text, place or environment()).listening
    return Resolver(listening.lookup, listening.handler, udp_size=listening.udp_size)


async def ask(
    answering: Resolver, name: str, kind: str = "A", client: str = "127.0.0.1", size: int = 0
) -> tuple[int, list[str]]:
    """Return the code of an answer, and its records as text; -1 if there is none."""
    response = answering.respond(question(name, kind, size), True, (client, 5353))
    message = response if isinstance(response, bytes) or response is None else await response
    return (message[3] & 15, texts(message)) if message else (-1, [])


async def answers(text: str, name: str, kind: str = "A", client: str = "127.0.0.1") -> tuple[int, list[str]]:
    """Return what a Corefile makes of a question."""
    return await ask(resolver(text), name, kind, client)
