"""minimal: answers without what nobody asked for."""

from __future__ import annotations

from pybernetes.node.dns import wire
from pybernetes.node.dns.message import Message
from pybernetes.node.dns.plugin import Controller, Plugin, Wrap
from pybernetes.node.dns.query import Handler, Query


def setup(controller: Controller) -> Wrap:
    """Set up what is left out: authorities and extra records of answers that have something."""
    controller.bare()

    def wrap(following: Handler) -> Handler:
        async def answer(query: Query) -> bytes:
            message = await following(query)
            if message[3] & 15 != wire.NOERROR or message[6:8] == b"\0\0" or message[8:12] == bytes(4):
                return message
            parsed = Message.read(message)
            parsed.authorities, parsed.extras = [], []
            return parsed.encode()

        return answer

    return wrap


PLUGIN = Plugin(setup, passes_cluster_names=True)
