"""whoami: tells the client its own address, port and protocol."""

from __future__ import annotations

import struct

from pybernetes.node.dns import wire
from pybernetes.node.dns.message import Message
from pybernetes.node.dns.plugin import Controller, Plugin, Wrap
from pybernetes.node.dns.query import Handler, Query
from pybernetes.node.dns.records import address_data
from pybernetes.node.dns.wire import Record


def setup(controller: Controller) -> Wrap:
    """Set up the answer, which is the end of the chain."""
    controller.bare()

    def wrap(following: Handler) -> Handler:
        async def answer(query: Query) -> bytes:
            host, port = query.client
            kind, data = address_data(host.partition("%")[0])
            label = b"\x04_tcp" if query.tcp else b"\x04_udp"
            extras = [Record(query.name, kind, query.class_, 0, data)]
            if len(query.name) + len(label) <= 255:
                service = struct.pack(">HHH", 0, 0, port) + b"\0"
                extras.append(Record(label + query.name, wire.SRV, query.class_, 0, service))
            return Message(query.question, extras=extras, authoritative=True).encode()

        return answer

    return wrap


PLUGIN = Plugin(setup, passes_cluster_names=True)
