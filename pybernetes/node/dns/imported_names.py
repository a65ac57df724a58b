"""The names of services of many clusters: follows ServiceImports, and keeps their records in tables beside the cluster's own.

Their definition belongs to whoever connects the clusters: nobody waits for these names, because it may not be there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Sequence

from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.refs import Ref
from pybernetes.lib.clock import Clock
from pybernetes.node.dns import records
from pybernetes.node.dns.answer_table import AnswerTable
from pybernetes.runtime.cache import key_of
from pybernetes.runtime.informer import Informer

IMPORT_NAME = "multicluster.kubernetes.io/service-name"
SERVICE_IMPORTS = Ref("multicluster.x-k8s.io", "v1alpha1", "serviceimports", "ServiceImport")


class ImportedNames:
    """The tables of sets of clusters, one for each zone, which follow the API server while ``run`` runs."""

    def __init__(
        self,
        client: Client,
        zones: Sequence[str],
        cluster: AnswerTable,
        slices: Informer,
        namespaces: Collection[str] = (),
        clock: Clock | None = None,
    ) -> None:
        serial = int((clock or Clock()).now())
        self.tables = tuple(AnswerTable(zone, cluster.ttl, serial, beside=cluster) for zone in zones)
        self._namespaces, self._slices = namespaces, slices
        self.imports = Informer(client, SERVICE_IMPORTS, transform=slim_import, clock=clock)
        if zones:
            self.imports.add_handler(self._import_changed)
            slices.add_index(by_import)
            slices.add_handler(self._slice_changed)

    def _import_changed(self, old: Object | None, new: Object | None) -> None:
        self._update(key_of(new or old or {}))

    def _slice_changed(self, old: Object | None, new: Object | None) -> None:
        for key in {key for obj in (old, new) if obj is not None for key in by_import(obj)}:
            self._update(key)

    def _update(self, key: str) -> None:
        service_import = self.imports.get(key)
        if self._namespaces and key.partition("/")[0] not in self._namespaces:
            return
        slices: Iterable[Object] = self._slices.find(by_import, key)
        for table in self.tables:
            imported = {} if service_import is None else records.of_import(service_import, slices, table.zone)
            table.set_service(key, imported)

    async def run(self) -> None:
        """Follow the API server until cancelled, if there is a zone for what it says."""
        await (self.imports.run() if self.tables else asyncio.Event().wait())


def by_import(obj: Object) -> list[str]:
    """Return the service of many clusters that an EndpointSlice belongs to."""
    meta = obj["metadata"]
    name = (meta.get("labels") or {}).get(IMPORT_NAME)
    return [f"{meta['namespace']}/{name}"] if name else []


def slim_import(obj: Object) -> Object:
    """Return a ServiceImport with no more than its records need."""
    meta, spec = obj["metadata"], obj.get("spec") or {}
    kept = {key: meta[key] for key in ("name", "namespace", "resourceVersion") if key in meta}
    return {"metadata": kept, "spec": {key: spec[key] for key in ("type", "ips", "ports") if key in spec}}
