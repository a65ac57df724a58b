"""Token cleaner: deletes bootstrap tokens that have expired."""

from __future__ import annotations

import math

from pybernetes.client.errors import Conflict, NotFound
from pybernetes.client.refs import SECRETS
from pybernetes.control_plane.controllers._controller_manager.descriptor import Descriptor
from pybernetes.control_plane.controllers._tokens import bootstrap
from pybernetes.runtime.cache import split_key
from pybernetes.runtime.controller import Controller


class TokenCleaner(Controller):
    """Works on keys of secrets."""

    name = "token-cleaner-controller"
    kind = SECRETS
    selects = {SECRETS: bootstrap.SELECTION}
    workers = 1

    async def reconcile(self, key: str) -> float | None:
        """Delete an expired token; return in how many seconds it expires otherwise."""
        secret = self.objects.get(key)
        if secret is None:
            return None
        left = bootstrap.seconds_left(secret, self.clock.now())
        if left:
            return left if left < math.inf else None
        namespace, name = split_key(key)
        try:
            await self.client.delete(SECRETS, name, namespace, uid=secret["metadata"]["uid"])
        except (NotFound, Conflict):
            pass
        return None


CONTROLLER = Descriptor(
    name=TokenCleaner.name,
    aliases=("tokencleaner",),
    identity="token-cleaner",
    enabled=False,
    build=lambda runtime, options: TokenCleaner(runtime),
)
