"""EndpointSliceMirroring: Endpoints that people write for a service without a selector appear as slices too."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pybernetes.api.resource import Object
from pybernetes.client.errors import StatusError
from pybernetes.client.refs import ENDPOINT_SLICES, ENDPOINTS, SERVICES, Kindlike
from pybernetes.control_plane.controllers._controller_manager.descriptor import Descriptor
from pybernetes.control_plane.controllers._objects.deletion import (
    delete_if_present,
    is_being_deleted,
    is_namespace_terminating,
)
from pybernetes.control_plane.controllers._objects.services import TRIGGER_TIME
from pybernetes.control_plane.controllers.endpoints import subsets
from pybernetes.control_plane.controllers.endpoints.endpoints import LEADER
from pybernetes.control_plane.controllers.endpointslice import plan
from pybernetes.control_plane.controllers.endpointslice.plan import MANAGED_BY, SERVICE_NAME
from pybernetes.lib.flags import Flag, Seconds
from pybernetes.runtime.cache import key_of
from pybernetes.runtime.controller import Controller, Mapper
from pybernetes.runtime.runtime import Runtime

MANAGER = "endpointslicemirroring-controller.k8s.io"
SKIP = "endpointslice.kubernetes.io/skip-mirror"
_NOT_MIRRORED = (TRIGGER_TIME, "kubectl.kubernetes.io/last-applied-configuration")


def by_endpoints(slice_: Object) -> tuple[str, ...]:
    """Index slices by the Endpoints that they mirror."""
    return plan.service_keys(slice_, MANAGER)


def is_mirrored(endpoints: Object | None, service: Object | None) -> bool:
    """Return whether Endpoints were made by a user and are to be mirrored."""
    if endpoints is None or service is None or service["spec"].get("selector"):
        return False
    meta = endpoints["metadata"]
    return (meta.get("labels") or {}).get(SKIP) != "true" and LEADER not in (meta.get("annotations") or {})


@dataclass
class Mirror:
    """What to do, and how many addresses were left out because they are invalid or too many."""

    create: list[Object] = field(default_factory=list)
    update: list[Object] = field(default_factory=list)
    delete: list[Object] = field(default_factory=list)
    invalid: int = 0
    skipped: int = 0


def mirror(endpoints: Object, existing: Iterable[Object], maximum: int) -> Mirror:
    """Return which slices mirror Endpoints: one for each list of ports and family of addresses."""
    result = Mirror()
    by_key: dict[Any, list[Object]] = {}
    for slice_ in existing:
        by_key.setdefault((slice_["addressType"], plan.ports_key(slice_.get("ports"))), []).append(slice_)
    for key, wanted in _wanted(endpoints, maximum, result).items():
        known = by_key.pop(key, [])
        result.delete += known[1:]
        if not known:
            result.create.append(wanted)
        elif _facts(known[0]) != _facts(wanted):
            result.update.append(_named(wanted, known[0]))
    for slices in by_key.values():
        result.delete += slices
    for wanted in list(result.create):
        old = next(
            (slice_ for slice_ in result.delete if slice_["addressType"] == wanted["addressType"]), None
        )
        if old is not None:
            result.create.remove(wanted)
            result.delete.remove(old)
            result.update.append(_named(wanted, old))
    return result


def _wanted(endpoints: Object, maximum: int, result: Mirror) -> dict[Any, Object]:
    wanted: dict[Any, Object] = {}
    for subset in subsets.repacked(endpoints.get("subsets")):
        ports = [{"name": "", **port} for port in subset.get("ports") or ()]
        added = 0
        for ready, kind in ((True, "addresses"), (False, "notReadyAddresses")):
            for address in subset.get(kind) or ():
                if added == maximum:
                    result.skipped += 1
                    continue
                try:
                    ip = ipaddress.ip_address(address["ip"])
                except ValueError:
                    result.invalid += 1
                    continue
                added += 1
                family = f"IPv{ip.version}"
                slice_ = wanted.setdefault(
                    (family, plan.ports_key(ports)), _new_slice(endpoints, family, ports)
                )
                slice_["endpoints"].append(_endpoint(address, str(ip), ready))
    return wanted


def _endpoint(address: Object, ip: str, ready: bool) -> Object:
    result: Object = {"addresses": [ip], "conditions": {"ready": ready}}
    for name in ("targetRef", "nodeName", "hostname"):
        if address.get(name):
            result[name] = address[name]
    return result


def _new_slice(endpoints: Object, family: str, ports: list[Object]) -> Object:
    meta = endpoints["metadata"]
    annotations = meta.get("annotations") or {}
    metadata = {
        "labels": {**(meta.get("labels") or {}), SERVICE_NAME: meta["name"], MANAGED_BY: MANAGER},
        "annotations": {name: text for name, text in annotations.items() if name not in _NOT_MIRRORED},
    }
    return plan.empty_slice(endpoints, ENDPOINTS, family, ports, metadata)


def _named(wanted: Object, slice_: Object) -> Object:
    meta = {**wanted["metadata"], "name": slice_["metadata"]["name"]}
    meta["resourceVersion"] = slice_["metadata"]["resourceVersion"]
    del meta["generateName"]
    return {**wanted, "metadata": meta}


def _facts(slice_: Object) -> tuple[object, ...]:
    """Return what counts when slices are compared."""
    meta = slice_["metadata"]
    endpoints = {
        plan.endpoint_key(endpoint): (
            endpoint.get("nodeName"),
            (endpoint.get("conditions") or {}).get("ready"),
            (endpoint.get("targetRef") or {}).get("uid"),
        )
        for endpoint in slice_.get("endpoints") or ()
    }
    owners = [reference["uid"] for reference in meta.get("ownerReferences") or ()]
    return endpoints, meta.get("labels") or {}, meta.get("annotations") or {}, owners


class EndpointSliceMirroringController(Controller):
    """Works on keys of Endpoints, which are those of their services."""

    name = "endpointslice-mirroring-controller"
    kind = ENDPOINTS
    indexes = {ENDPOINT_SLICES: (by_endpoints,)}

    def __init__(self, runtime: Runtime, workers: int = 5, maximum: int = 1000, batch: float = 0.0) -> None:
        super().__init__(runtime)
        self.workers, self._maximum, self._batch = workers, maximum, batch
        self._recorder = runtime.recorder("endpoint-slice-mirroring-controller")

    def watches(self) -> Mapping[Kindlike, Mapper]:
        return {SERVICES: self._endpoints_of, ENDPOINT_SLICES: by_endpoints}

    def _endpoints_of(self, service: Object) -> Iterable[str]:
        key = key_of(service)
        return (key,) if key in self.objects else ()

    async def reconcile(self, key: str) -> None:
        """Make the slices that mirror Endpoints match them."""
        endpoints, service = self.objects.get(key), self.cache(SERVICES).get(key)
        existing = [
            slice_
            for slice_ in self.cache(ENDPOINT_SLICES).find(by_endpoints, key)
            if not is_being_deleted(slice_)
        ]
        if endpoints is None or not is_mirrored(endpoints, service):
            for slice_ in existing:
                await delete_if_present(self.client, ENDPOINT_SLICES, slice_)
            return
        mirrored = mirror(endpoints, existing, self._maximum)
        self._report(endpoints, mirrored)
        try:
            if not is_being_deleted(endpoints):
                for slice_ in mirrored.create:
                    await self.client.create(ENDPOINT_SLICES, slice_)
            for slice_ in mirrored.update:
                await self.client.update(ENDPOINT_SLICES, slice_)
            for slice_ in mirrored.delete:
                await delete_if_present(self.client, ENDPOINT_SLICES, slice_)
        except StatusError as error:
            if not is_namespace_terminating(error):
                raise

    def _report(self, endpoints: Object, mirrored: Mirror) -> None:
        if mirrored.invalid:
            text = f"Skipped {mirrored.invalid} invalid IP addresses when mirroring to EndpointSlices"
            self._recorder.warning(endpoints, "InvalidIPAddress", text)
        if mirrored.skipped:
            text = (
                f"A max of {self._maximum} addresses can be mirrored to EndpointSlices per Endpoints subset. "
                f"{mirrored.skipped + mirrored.invalid} addresses were skipped"
            )
            self._recorder.warning(endpoints, "TooManyAddressesToMirror", text)


CONTROLLER = Descriptor(
    name=EndpointSliceMirroringController.name,
    aliases=("endpointslicemirroring",),
    identity="endpointslicemirroring-controller",
    flags=(
        Flag("mirroring-concurrent-service-endpoint-syncs", 5, "how many Endpoints are worked on at a time"),
        Flag("mirroring-max-endpoints-per-subset", 1000, "the most addresses of a subset that are mirrored"),
        Flag("mirroring-endpointslice-updates-batch-period", Seconds(0), "how long changes are collected"),
    ),
    build=lambda runtime, options: EndpointSliceMirroringController(
        runtime,
        options.mirroring_concurrent_service_endpoint_syncs,
        options.mirroring_max_endpoints_per_subset,
        options.mirroring_endpointslice_updates_batch_period,
    ),
)
