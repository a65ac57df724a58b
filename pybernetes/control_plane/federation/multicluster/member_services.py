"""What one member exports and what it was given: followed once it has the kinds of the multi-cluster services API."""

from __future__ import annotations

from collections.abc import Callable

from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.refs import CUSTOM_RESOURCE_DEFINITIONS, ENDPOINT_SLICES, NAMESPACES, SERVICES, Ref
from pybernetes.control_plane.federation.multicluster.kinds import (
    LOCAL_SERVICE,
    OURS,
    SERVICE_EXPORTS,
    SERVICE_IMPORTS,
    SERVICE_NAME,
)
from pybernetes.runtime.informer import Informer
from pybernetes.runtime.informers import Informers

DEFINITION = f"{SERVICE_EXPORTS.plural}.{SERVICE_EXPORTS.group}"
_OWN = f"{OURS}=true"


class MemberServices:
    """Informers of one member; ``on_change`` is told the keys of services that something has changed for."""

    def __init__(self, client: Client, informers: Informers, on_change: Callable[[str], None]) -> None:
        self.client, self._informers, self._on_change = client, informers, on_change
        self._definitions = self._informers.get(
            CUSTOM_RESOURCE_DEFINITIONS, fields=f"metadata.name={DEFINITION}", metadata_only=True
        )
        self.exports: Informer | None = None  # these while the definition is there
        self._imports: Informer | None = None
        self._derived: Informer | None = None
        self._given: Informer | None = None
        self._namespaces: Informer | None = None
        self._services: Informer | None = None  # these from the first export on
        self._slices: Informer | None = None
        self._definitions.add_handler(self._defined)

    # -- what there is -----------------------------------------------------------------------------------

    @property
    def takes_part(self) -> bool:
        """Whether it has the kinds; False as long as that is not known."""
        return bool(self._definitions.keys())

    @property
    def is_known(self) -> bool:
        """Whether all that it exports and has been given is known; a member without the kinds has neither."""
        if not self.takes_part:
            return self._definitions.synced
        followed = (self.exports, self._imports, self._derived, self._given, self._namespaces)
        sources = (self._services, self._slices) if self.exports is not None and self.exports.keys() else ()
        return all(informer is not None and informer.synced for informer in (*followed, *sources))

    def service_keys(self) -> set[str]:
        """Return the keys of all services that it exports or was given."""
        exported = self.exports.keys() if self.exports is not None else ()
        imported = self._imports.keys() if self._imports is not None else ()
        return {*exported, *imported}

    def export(self, key: str) -> Object | None:
        """Return an export."""
        return self.exports.get(key) if self.exports is not None else None

    def service(self, key: str) -> Object | None:
        """Return a Service of its own."""
        return self._services.get(key) if self._services is not None else None

    def sources(self, key: str) -> list[Object]:
        """Return the slices of a Service of its own."""
        listed = self._slices.find(_by_service, key) if self._slices is not None else ()
        return sorted(listed, key=lambda obj: str(obj["metadata"]["name"]))

    def has_namespace(self, name: str) -> bool:
        """Return whether it has a namespace that stays."""
        namespace = self._namespaces.get(name) if self._namespaces is not None else None
        return namespace is not None and not namespace["metadata"].get("deletionTimestamp")

    def given(self, key: str) -> tuple[Object | None, Object | None, list[Object]]:
        """Return the import that it was given, the service that carries its address, and the slices."""
        imported = self._imports.get(key) if self._imports is not None else None
        derived = next(iter(self._derived.find(_by_import, key)), None) if self._derived is not None else None
        return imported, derived, list(self._given.find(_by_import, key)) if self._given is not None else []

    async def close(self) -> None:
        """Follow it no longer."""
        await self._informers.stop()

    # -- what changes ------------------------------------------------------------------------------------

    def _defined(self, old: Object | None, new: Object | None) -> None:
        if new is None or self.exports is not None:
            return
        self._namespaces = self._informers.get(NAMESPACES, metadata_only=True)
        self._imports = self._follow(SERVICE_IMPORTS, _key, _OWN)
        self._derived = self._follow(SERVICES, _by_import, _OWN)
        self._given = self._follow(ENDPOINT_SLICES, _by_import, _OWN)
        self.exports = self._follow(SERVICE_EXPORTS, _key)
        self.exports.add_handler(self._exported)
        self._namespaces.add_handler(self._namespace_changed)

    def _exported(self, old: Object | None, new: Object | None) -> None:
        if self._services is None:
            self._services = self._follow(SERVICES, _key, f"!{OURS}")
            self._slices = self._follow(ENDPOINT_SLICES, _by_service, f"{LOCAL_SERVICE},!{OURS}")

    def _follow(self, ref: Ref, keys: Callable[[Object], list[str]], labels: str = "") -> Informer:
        informer = self._informers.get(ref, labels=labels)
        informer.add_index(keys)

        def changed(old: Object | None, new: Object | None) -> None:
            for key in {key for obj in (old, new) if obj is not None for key in keys(obj)}:
                self._on_change(key)

        informer.add_handler(changed)
        return informer

    def _namespace_changed(self, old: Object | None, new: Object | None) -> None:
        name = (new or old or {})["metadata"]["name"]
        self._on_change(f"{name}/")


def _key(obj: Object) -> list[str]:
    meta = obj["metadata"]
    return [f"{meta['namespace']}/{meta['name']}"]


def _labelled(obj: Object, label: str) -> list[str]:
    meta = obj["metadata"]
    name = (meta.get("labels") or {}).get(label)
    return [f"{meta['namespace']}/{name}"] if name else []


def _by_service(obj: Object) -> list[str]:
    return _labelled(obj, LOCAL_SERVICE)


def _by_import(obj: Object) -> list[str]:
    return _labelled(obj, SERVICE_NAME)
