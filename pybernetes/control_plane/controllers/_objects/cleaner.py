"""A controller that deletes what has expired."""

from __future__ import annotations

from typing import ClassVar

from pybernetes.api.resource import Object
from pybernetes.client.errors import Conflict, NotFound
from pybernetes.client.refs import Kindlike
from pybernetes.runtime.cache import split_key
from pybernetes.runtime.controller import Controller


class Cleaner(Controller):
    """Works on keys of objects of one kind. A subclass says when each of them expires."""

    kind: ClassVar[Kindlike]
    workers = 1

    def seconds_left(self, obj: Object) -> float | None:
        """Return in how many seconds to look again, 0 or less to delete the object, None to let it be."""
        raise NotImplementedError

    async def reconcile(self, key: str) -> float | None:
        """Delete an expired object; return in how many seconds it expires otherwise."""
        obj = self.objects.get(key)
        left = self.seconds_left(obj) if obj is not None else None
        if obj is None or left is None or left > 0:
            return left
        namespace, name = split_key(key)
        try:
            await self.client.delete(self.kind, name, namespace, uid=obj["metadata"]["uid"])
        except (NotFound, Conflict):  # it is gone, or another one has its name
            pass
        return None
