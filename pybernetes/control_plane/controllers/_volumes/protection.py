"""What the protection controllers share: a finalizer that stays until nobody uses the object."""

from __future__ import annotations

from typing import ClassVar

from pybernetes.api.resource import Object
from pybernetes.client.errors import NotFound
from pybernetes.control_plane.controllers._objects.deletion import is_being_deleted
from pybernetes.runtime.controller import Controller


class Protection(Controller):
    """Puts the finalizer on objects that lack it, and takes it off those that are deleted and not used."""

    finalizer: ClassVar[str]

    async def is_used(self, obj: Object) -> bool:
        """Return whether an object has to stay."""
        raise NotImplementedError

    def concerns(self, old: Object | None, new: Object | None) -> bool:
        return new is not None and is_being_deleted(new) == (
            self.finalizer in (new["metadata"].get("finalizers") or ())
        )

    async def reconcile(self, key: str) -> float | None:
        """Protect an object, or let it go."""
        obj = self.objects.get(key)
        if obj is None:
            return None
        finalizers = obj["metadata"].get("finalizers") or []
        if is_being_deleted(obj):
            if self.finalizer not in finalizers or await self.is_used(obj):
                return None
            wanted = [finalizer for finalizer in finalizers if finalizer != self.finalizer]
        elif self.finalizer in finalizers:
            return None
        else:
            wanted = [*finalizers, self.finalizer]
        assert self.kind is not None
        try:
            await self.client.update(
                self.kind, {**obj, "metadata": {**obj["metadata"], "finalizers": wanted}}
            )
        except NotFound:
            pass
        return None
