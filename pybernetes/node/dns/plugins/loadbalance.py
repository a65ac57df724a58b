"""loadbalance [round_robin]: addresses take turns; those of the cluster's own names do in any case."""

from __future__ import annotations

import random

from pybernetes.node.dns import wire
from pybernetes.node.dns.corefile import CorefileError
from pybernetes.node.dns.message import Message
from pybernetes.node.dns.plugin import Controller, Plugin, Wrap
from pybernetes.node.dns.query import Handler, Query

_TURNING = (wire.A, wire.AAAA, wire.MX)
_MOST_BYTES = 8192  # of answers of others, who can have each of us ask for as many addresses as they like


def setup(controller: Controller) -> Wrap:
    """Set up the order of addresses."""
    directive = controller.once()
    if directive.arguments not in ((), ("round_robin",)):
        raise CorefileError(f"unknown policy: {directive.arguments[0]}")
    for line in directive.inner:
        raise line.problem(f"unknown property for {line.words[0]}")

    def wrap(following: Handler) -> Handler:
        async def answer(query: Query) -> bytes:
            message = await following(query)
            if query.type not in _TURNING or int.from_bytes(message[6:8]) < 2 or message[3] & 15:
                return message
            if len(message) > _MOST_BYTES:
                return message
            return shuffled(message)

        return answer

    return wrap


def shuffled(message: bytes) -> bytes:
    """Return an answer with its aliases first, and its addresses in another order."""
    parsed = Message.read(message)
    turning = [record for record in parsed.answers if record.type in _TURNING]
    if len(turning) < 2:
        return message
    random.shuffle(turning)
    aliases = [record for record in parsed.answers if record.type == wire.CNAME]
    others = [record for record in parsed.answers if record.type not in (*_TURNING, wire.CNAME)]
    parsed.answers = aliases + turning + others
    return parsed.encode()


PLUGIN = Plugin(setup, passes_cluster_names=True)
