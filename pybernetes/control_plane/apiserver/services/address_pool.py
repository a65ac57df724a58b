"""Addresses of services, taken by creating their IPAddress objects."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from uuid import uuid4

import orjson

from pybernetes.api.networking import ipaddress
from pybernetes.api.resource import Object
from pybernetes.api.validation.addresses import parse_sloppy
from pybernetes.control_plane.apiserver.services import objects
from pybernetes.control_plane.apiserver.services.options import ServiceOptions
from pybernetes.control_plane.apiserver.services.ranges import AddressRange
from pybernetes.control_plane.apiserver.storage.kind import Kind
from pybernetes.control_plane.apiserver.storage.modify import DELETE, KEEP, Outcome, create_record, modify
from pybernetes.control_plane.store.protocol import KeyExists, Store

_ADDRESSES = Kind(ipaddress.RESOURCE)
ADDRESSES = _ADDRESSES.prefix
CIDRS = "/registry/servicecidrs/"


class AddressError(ValueError):
    """An address cannot be had; the text is Kubernetes' own."""


class RangeFull(AddressError):
    """There is no address left."""


ALLOCATED = "provided IP is already allocated"
MISMATCHED = "the provided network does not match the current range"
FULL = "range is full"


class AddressPool:
    """All ranges of the cluster: those of the ServiceCIDR objects, or of the flags before there are any."""

    def __init__(
        self, store: Store, options: ServiceOptions, timestamp: Callable[[], str], random: Random
    ) -> None:
        self._store = store
        self._options = options
        self._timestamp = timestamp
        self._random = random
        self._cached: tuple[int, list[AddressRange]] = (-1, [])

    def ranges(self, family: str) -> list[AddressRange]:
        """Return the ranges of a family that addresses may be taken from, the default one first."""
        changed = self._store.changed(CIDRS)
        if self._cached[0] != changed:
            self._cached = (changed, self._load())
        return [range_ for range_ in self._cached[1] if range_.family == family]

    def _load(self) -> list[AddressRange]:
        records = self._store.list(CIDRS).records
        if not records:
            return list(self._options.ranges)
        ranges: dict[str, AddressRange] = {}
        loaded = sorted((orjson.loads(record.value) for record in records), key=_default_first)
        for cidr in (
            cidr for obj in loaded if _is_ready(obj) for cidr in obj.get("spec", {}).get("cidrs", ())
        ):
            try:
                ranges.setdefault(cidr, AddressRange(cidr))
            except ValueError:
                continue  # a range that no address can be taken from
        return list(ranges.values())

    async def take(self, ip: str, family: str, service: Object, dry_run: bool) -> None:
        """Take a certain address; AddressError if it is not free or not in a range."""
        name = str(parse_sloppy(ip))
        ranges = self.ranges(family)
        if not any(name in range_ for range_ in ranges):
            if dry_run and ranges:
                valid = ranges[0].cidr
                text = (
                    f"the provided IP ({name}) is not in the valid range. The range of valid IPs is {valid}"
                )
                raise AddressError(text)
            raise AddressError(MISMATCHED)
        if not dry_run and not await self._create(name, service):
            raise AddressError(ALLOCATED)

    async def take_any(self, family: str, service: Object, dry_run: bool) -> str:
        """Take a free address; RangeFull if there is none."""
        for range_ in self.ranges(family):
            if dry_run:
                # No address that a real request would get can be promised: the network's own says so.
                return str(range_.network.network_address)
            for name in range_.candidates(self._random):
                if self._store.get(ADDRESSES + name) is None and await self._create(name, service):
                    return name
        raise RangeFull(FULL)

    async def _create(self, name: str, service: Object) -> bool:
        meta = service["metadata"]
        obj = objects.ip_address(
            name, meta.get("namespace", ""), meta.get("name", ""), str(uuid4()), self._timestamp()
        )
        try:
            await create_record(self._store, _ADDRESSES, ADDRESSES + name, obj)
        except KeyExists:
            return False
        return True

    async def note(self, name: str, service: Object) -> None:
        """Write down an address that a service has already."""
        await self._create(name, service)

    async def release(self, ip: str, namespace: str, name: str) -> None:
        """Give an address back, if it is this service's."""

        def change(address: Object | None) -> Outcome:
            parent = {} if address is None else address.get("spec", {}).get("parentRef", {})
            mine = (parent.get("namespace", ""), parent.get("name", "")) == (namespace, name)
            return DELETE if mine else KEEP

        await modify(self._store, _ADDRESSES, f"{ADDRESSES}{parse_sloppy(ip)}", change)

    async def free(self, ip: str) -> None:
        """Give an address back, whose-ever it is."""
        await modify(self._store, _ADDRESSES, ADDRESSES + ip, lambda address: DELETE)


def _default_first(obj: Object) -> tuple[bool, str]:
    name = obj["metadata"].get("name", "")
    return name != objects.KUBERNETES, name


def _is_ready(obj: Object) -> bool:
    """Return whether addresses may be taken from a ServiceCIDR; without a condition it counts as ready."""
    if obj["metadata"].get("deletionTimestamp"):
        return False
    conditions = obj.get("status", {}).get("conditions", ())
    return next(
        (condition.get("status") == "True" for condition in conditions if condition.get("type") == "Ready"),
        True,
    )
