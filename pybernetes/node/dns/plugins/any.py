"""any: questions of type ANY get a short answer (RFC 8482), whatever there is."""

from __future__ import annotations

from pybernetes.node.dns import wire
from pybernetes.node.dns.message import Message
from pybernetes.node.dns.plugin import Controller, Plugin, Wrap
from pybernetes.node.dns.query import Handler, Query
from pybernetes.node.dns.wire import Record

_TTL = 8482


def setup(controller: Controller) -> Wrap:
    """Set up the answer."""
    controller.bare()

    def wrap(following: Handler) -> Handler:
        async def answer(query: Query) -> bytes:
            if query.type != wire.ANY:
                return await following(query)
            record = Record(query.name, wire.HINFO, 1, _TTL, _HINFO)
            return Message(query.question, answers=[record]).encode()

        return answer

    return wrap


def _string(text: bytes) -> bytes:
    return bytes([len(text)]) + text


_HINFO = _string(b"ANY obsoleted") + _string(b"See RFC 8482")
PLUGIN = Plugin(setup, passes_cluster_names=True)
