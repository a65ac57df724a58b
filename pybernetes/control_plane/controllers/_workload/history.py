"""Writes what ``revisions`` decides."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.errors import AlreadyExists
from pybernetes.client.refs import CONTROLLER_REVISIONS
from pybernetes.control_plane.controllers._workload import revisions


async def current_revision(
    client: Client,
    owner: Object,
    reference: Object,
    known: list[Object],
    collisions: int,
    label: str = revisions.HASH,
) -> tuple[Object, int]:
    """Return the stored revision of the owner's template, and the count of collisions that its name took."""
    while True:
        choice = revisions.choose(owner, reference, known, collisions, label)
        if choice.renumbered:
            return await client.update(CONTROLLER_REVISIONS, choice.revision), collisions
        if not choice.is_new:
            return choice.revision, collisions
        try:
            return await client.create(CONTROLLER_REVISIONS, choice.revision), collisions
        except AlreadyExists:
            meta = choice.revision["metadata"]
            there = await client.get(CONTROLLER_REVISIONS, meta["name"], meta["namespace"])
            if revisions.matches(there, choice.revision["data"]):
                return there, collisions
            collisions += 1  # another template has the same hash
