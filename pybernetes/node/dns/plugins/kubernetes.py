"""kubernetes [ZONES…] { … }: the names of the cluster's services and pods."""

from __future__ import annotations

import ipaddress
import struct
from dataclasses import replace

from pybernetes.node.dns import wire
from pybernetes.node.dns.answer_table import Answer
from pybernetes.node.dns.cluster_names import ClusterNames, NameOptions
from pybernetes.node.dns.corefile import CorefileError, Directive, Line
from pybernetes.node.dns.lookup import Lookup
from pybernetes.node.dns.plugin import Controller, Fallthrough, Plugin, Wrap
from pybernetes.node.dns.query import Handler, Query

_EVERY = ("0.0.0.0/0", "::/0")
_ARPA = ("in-addr.arpa", "ip6.arpa")


def setup(controller: Controller) -> Wrap:
    """Set up the names of the cluster."""
    directive = controller.once()
    options, fallthrough = _read(directive)
    zones, ranges = _zones(controller, directive)
    for zone in options.cluster_sets:
        if zone not in zones:
            raise CorefileError(
                f"is not authoritative for the multicluster zone '{zone}.': add it to the zones of the plugin"
            )
    zones = [zone for zone in zones if zone not in options.cluster_sets]
    if len(zones) != 1:
        raise directive.line.problem(
            "exactly one zone besides reverse and multicluster zones is answered for here"
        )
    environment = controller.environment
    if environment.cluster is None:
        raise directive.line.problem("there is no cluster to ask")
    options = replace(options, zone=zones[0])
    known = controller.site.names
    if known is not None and known.options != options:
        raise directive.line.problem("another block has this plugin with other options")
    names: ClusterNames = known or environment.cluster(options)
    controller.site.names = names
    lookup = Lookup(
        names.table, ranges, beside=names.imported.tables, kept=environment.ranges, pods=options.pods != "disabled",
        is_pod=names.is_pod if options.pods == "verified" else None, falls_through=fallthrough.through,
    )  # fmt: skip
    controller.site.unready["kubernetes"] = lambda: not names.synced
    if ranges or environment.ranges:
        controller.shared["lookup"] = lookup
    controller.shared["names"] = names

    def wrap(following: Handler) -> Handler:
        return Kubernetes(lookup, bool(ranges or environment.ranges), following).answer

    return wrap


class Kubernetes:
    """The cluster's names as a part of a chain."""

    def __init__(self, lookup: Lookup, has_reverse: bool, following: Handler) -> None:
        self._lookup, self._has_reverse, self._following = lookup, has_reverse, following

    async def answer(self, query: Query) -> bytes:
        """Answer from the table, or hand on."""
        lookup, question = self._lookup, query.question
        if not self._has_reverse and lookup.table_of(query.name) is None:
            return await self._following(query)
        answer = lookup.answers.get(question)
        if answer is not None:
            return _message(question, answer, wire.NOERROR)
        alias = lookup.alias(query.name)
        if alias is not None:
            return await self._follow(query, alias)
        missing = lookup.missing(query.name, question[-4:])
        return await self._following(query) if missing is None else _message(question, *missing)

    async def _follow(self, query: Query, alias: Answer) -> bytes:
        """Return an alias with the records of the name that it stands for."""
        target, kind, ttl = alias.body[12:], query.question[-4:], self._lookup.table.ttl
        known = self._lookup.answers.get(target + kind)
        records: list[wire.Record] = []
        code = wire.NOERROR
        if known is not None:
            message = _message(target + kind, known, code)
            records = wire.read_records(message, 12 + len(target) + 4, int.from_bytes(known.counts[2:4]))[0]
        elif self._lookup.table_of(target) is None:
            try:
                message = await self._following(query._replace(question=target + kind))
                end = wire.read_question(message)[2]
                records = wire.read_records(message, end, int.from_bytes(message[6:8]))[0]
                code = wire.SERVFAIL if message[3] & 15 in (wire.SERVFAIL, wire.REFUSED) else code
            except (OSError, TimeoutError, wire.Malformed):
                code = wire.SERVFAIL
        body = alias.body + b"".join(
            wire.record(record.owner, record.type, min(record.ttl, ttl), record.data) for record in records
        )
        answer = Answer(struct.pack(">HHH", 1, 1 + len(records), 0), body)
        return _message(query.question, answer, code)


def _message(question: bytes, answer: Answer, code: int) -> bytes:
    return b"\0\0\x84" + bytes([0x80 | code]) + answer.counts + b"\0\0" + question + answer.body


def _zones(controller: Controller, directive: Directive) -> tuple[list[str], tuple[str, ...]]:
    """Return the zones of names, and the ranges whose reverse names are answered for."""
    zones: list[str] = []
    ranges: list[str] = []
    for text in directive.arguments or controller.block.keys:
        if "/" in text:
            try:
                ranges.append(str(ipaddress.ip_network(text, strict=False)))
            except ValueError:
                raise directive.line.problem(f"unable to normalize '{text}'") from None
        elif text.rstrip(".") in _ARPA:
            ranges.append(_EVERY[_ARPA.index(text.rstrip("."))])
        else:
            zones.append(text.removeprefix("dns://").partition(":")[0].rstrip("."))
    return zones, tuple(dict.fromkeys(ranges))


def _read(directive: Directive) -> tuple[NameOptions, Fallthrough]:
    options, fallthrough = NameOptions(ttl=5), Fallthrough()
    for line in directive.inner:
        name, *arguments = line.words
        if name == "fallthrough":
            fallthrough = Fallthrough.of(line)
        elif name == "ttl":
            options = replace(options, ttl=_ttl(line, arguments))
        elif name == "pods":
            if len(arguments) != 1:
                raise line.wrong_count()
            if arguments[0] not in ("disabled", "insecure", "verified"):
                raise CorefileError(
                    f"wrong value for pods: {arguments[0]},  must be one of: disabled, verified, insecure"
                )
            options = replace(options, pods=arguments[0])
        elif name == "namespaces":
            if not arguments:
                raise line.wrong_count()
            options = replace(options, namespaces=(*options.namespaces, *arguments))
        elif name == "noendpoints":
            if arguments:
                raise line.wrong_count()
            options = replace(options, endpoints=False)
        elif name == "endpoint_pod_names":
            if arguments:
                raise line.wrong_count()
            options = replace(options, pod_names=True)
        elif name == "multicluster":
            if not arguments:
                raise line.wrong_count()
            zones = tuple(zone.rstrip(".") for zone in arguments)
            options = replace(options, cluster_sets=(*options.cluster_sets, *zones))
        elif name in _NOT_BUILT_IN:
            raise line.problem(f"'{name}' is not built in here")
        else:
            raise line.problem(f"unknown property '{name}'")
    return options, fallthrough


_NOT_BUILT_IN = frozenset({
    "endpoint", "tls", "kubeconfig", "labels", "namespace_labels", "ignore", "startup_timeout",
    "apiserver_qps", "apiserver_burst", "apiserver_max_inflight", "resyncperiod", "upstream", "transfer",
})  # fmt: skip


def _ttl(line: Line, arguments: list[str]) -> int:
    if len(arguments) != 1:
        raise line.wrong_count()
    try:
        ttl = int(arguments[0])
    except ValueError:
        raise line.problem(f'strconv.Atoi: parsing "{arguments[0]}": invalid syntax') from None
    if not 0 <= ttl <= 3600:
        raise line.problem(f"ttl must be in range [0, 3600]: {ttl}")
    return ttl


PLUGIN = Plugin(setup, passes_cluster_names=True)
