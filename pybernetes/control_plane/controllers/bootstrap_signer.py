"""Bootstrap signer: signs the cluster-info that nodes trust when they join, with every token that they may have."""

from __future__ import annotations

import math
from collections.abc import Iterable

from pybernetes.api.resource import Object
from pybernetes.client.errors import NotFound
from pybernetes.client.refs import CONFIG_MAPS, SECRETS
from pybernetes.control_plane.controllers._controller_manager.descriptor import Descriptor
from pybernetes.control_plane.controllers._tokens import bootstrap
from pybernetes.runtime.controller import Controller
from pybernetes.runtime.runtime import Runtime

_NAMESPACE, _NAME = "kube-public", "cluster-info"
_KEY = f"{_NAMESPACE}/{_NAME}"
_CONTENT, _PREFIX = "kubeconfig", "jws-kubeconfig-"


def signed(config_map: Object, secrets: Iterable[Object], now: float) -> dict[str, str] | None:
    """Return the data of cluster-info with all signatures; None if nothing changes."""
    data = config_map.get("data") or {}
    content = data.get(_CONTENT)
    if content is None:
        return None
    wanted = {name: text for name, text in data.items() if not name.startswith(_PREFIX)}
    for secret in secrets:
        token = bootstrap.signing_token(secret, now)
        if token is not None:
            wanted[_PREFIX + token[0]] = bootstrap.detached_signature(content, *token)
    return wanted if wanted != data else None


class BootstrapSigner(Controller):
    """Works on the one ConfigMap."""

    name = "bootstrap-signer-controller"
    workers = 1
    selects = {
        CONFIG_MAPS: {"namespace": _NAMESPACE, "fields": f"metadata.name={_NAME}"},
        SECRETS: bootstrap.SELECTION,
    }

    def __init__(self, runtime: Runtime) -> None:
        super().__init__(runtime)
        for kind in (CONFIG_MAPS, SECRETS):
            self.cache(kind).add_handler(lambda old, new: self.enqueue(_KEY))

    async def reconcile(self, key: str) -> float | None:
        """Bring the signatures up to date; return in how many seconds the next token expires."""
        config_map = self.cache(CONFIG_MAPS).get(_KEY)
        if config_map is None:
            return None
        now = self.clock.now()
        secrets = self.cache(SECRETS).values()
        data = signed(config_map, secrets, now)
        if data is not None:
            try:
                await self.client.update(CONFIG_MAPS, {**config_map, "data": data})
            except NotFound:
                pass
        ends = [left for secret in secrets if (left := bootstrap.seconds_left(secret, now))]
        following = min(ends, default=math.inf)
        return following + 1 if following < math.inf else None


CONTROLLER = Descriptor(
    name=BootstrapSigner.name,
    aliases=("bootstrapsigner",),
    identity="bootstrap-signer",
    enabled=False,
    build=lambda runtime, options: BootstrapSigner(runtime),
)
