"""Keeps all Ingresses of our classes in the proxy, as one entry."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from pybernetes.api.resource import Object
from pybernetes.client.refs import ENDPOINT_SLICES, INGRESS_CLASSES, INGRESSES, SECRETS, Kindlike
from pybernetes.control_plane.gateway import ingresses, status
from pybernetes.control_plane.gateway.controller import indexes
from pybernetes.control_plane.gateway.controller.cache_view import CacheView
from pybernetes.control_plane.gateway.controller.entry_controller import EntryController
from pybernetes.control_plane.gateway.controller.published import Published
from pybernetes.lib.event_loop import off_loop
from pybernetes.runtime.cache import key_of
from pybernetes.runtime.controller import Mapper
from pybernetes.runtime.runtime import Runtime

_INGRESS_BYTES = 200  # that the translation of an Ingress is worth


class IngressController(EntryController):
    """There is one key."""

    name = "ingress"
    indexes: ClassVar[Mapping[Kindlike, Iterable[object]]] = {  # type: ignore[assignment]
        INGRESSES: (indexes.by_used,),
        ENDPOINT_SLICES: (indexes.by_service_name,),
    }

    def __init__(self, runtime: Runtime, published: Published, address: str, ports: range) -> None:
        super().__init__(runtime, published, address, ports)
        self._events = runtime.recorder("pybernetes-gateway")
        self._told: dict[str, list[str]] = {}

    def watches(self) -> Mapping[Kindlike, Mapper]:
        """Return everything that an Ingress can refer to."""
        return {
            **super().watches(),
            INGRESSES: lambda _: (ingresses.NAME,),
            INGRESS_CLASSES: lambda _: (ingresses.NAME,),
            SECRETS: lambda secret: self._using(f"Secret {key_of(secret)}"),
        }

    def _using(self, used: str) -> Iterable[str]:
        return (ingresses.NAME,) if self.cache(INGRESSES).count(indexes.by_used, used) else ()

    def is_mine(self, entry: str) -> bool:
        """Return whether an entry is that of all Ingresses."""
        return entry == ingresses.NAME

    def users_of(self, service: str) -> Iterable[str]:
        """Return the key if any Ingress names a Service."""
        return self._using(f"Service {service}")

    async def reconcile(self, key: str) -> float | None:
        """Make proxy and statuses match the Ingresses."""
        classes = {class_["metadata"]["name"]: class_ for class_ in self.cache(INGRESS_CLASSES)}
        ours = [
            ingress
            for ingress in self.cache(INGRESSES)
            if ingresses.ours(ingress, classes) and "deletionTimestamp" not in ingress["metadata"]
        ]
        plan = await off_loop.run(
            len(ours) * _INGRESS_BYTES, ingresses.translate, ours, CacheView(self, grants=False)
        )
        addresses, problem = await self.serve(plan.entry)
        for ingress in plan.ingresses:
            await self.write_status(INGRESSES, ingress, status.of_ingress(ingress, addresses))
            self._tell(ingress, plan.problems.get(key_of(ingress), []))
        self._told = {name: words for name, words in plan.problems.items() if words}
        return 5.0 if problem else None

    def _tell(self, ingress: Object, problems: list[str]) -> None:
        """Report what is wrong with an Ingress, once."""
        if problems and self._told.get(key_of(ingress)) != problems:
            self._events.warning(ingress, "Rejected", "; ".join(problems)[:1000])
