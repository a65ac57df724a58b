"""Token cleaner: deletes bootstrap tokens that have expired."""

from __future__ import annotations

import math

from pybernetes.api.resource import Object
from pybernetes.client.refs import SECRETS
from pybernetes.control_plane.controllers._controller_manager.descriptor import Descriptor
from pybernetes.control_plane.controllers._objects.cleaner import Cleaner
from pybernetes.control_plane.controllers._tokens import bootstrap


class TokenCleaner(Cleaner):
    """Works on keys of secrets."""

    name = "token-cleaner-controller"
    kind = SECRETS
    selects = {SECRETS: bootstrap.SELECTION}

    def seconds_left(self, obj: Object) -> float | None:
        left = bootstrap.seconds_left(obj, self.clock.now())
        return left if left < math.inf else None


CONTROLLER = Descriptor(
    name=TokenCleaner.name,
    aliases=("tokencleaner",),
    identity="token-cleaner",
    enabled=False,
    build=lambda runtime, options: TokenCleaner(runtime),
)
