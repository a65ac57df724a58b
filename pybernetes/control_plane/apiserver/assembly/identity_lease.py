"""The lease by which others see which API servers there are, in kube-system; those of servers that are gone are deleted.

A lease is good for an hour, so that it is renewed every ten minutes: an idle server has better things to do.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import logging
import socket
import struct
import uuid

from pybernetes.api.errors import StatusError
from pybernetes.api.resource import Object
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.storage.damage import left_alone
from pybernetes.control_plane.apiserver.storage.ensure import ensure
from pybernetes.control_plane.apiserver.storage.modify import DELETE, KEEP, Outcome, modify
from pybernetes.control_plane.store.protocol import StoreError
from pybernetes.lib import rfc3339

log = logging.getLogger(__name__)
IDENTITY = "apiserver.kubernetes.io/identity"
_GROUP, _PLURAL, _NAMESPACE = "coordination.k8s.io", "leases", "kube-system"
_DURATION_SECONDS = 3600
_RENEW_SECONDS, _RETRY_SECONDS = 600.0, 7.0


def identity(hostname: str) -> str:
    """Return the name of a server's lease: the same after a restart."""
    hashed = b"".join(struct.pack(">H", len(part)) + part for part in (hostname.encode(), b"kube-apiserver"))
    digest = hashlib.sha256(hashed).digest()[:16]
    return "apiserver-" + base64.b32encode(digest).decode().rstrip("=").lower()


def expired(lease: Object, now: float) -> bool:
    """Return whether the server of a lease has been gone for longer than the lease is good for."""
    spec = lease.get("spec") or {}
    renewed, duration = spec.get("renewTime"), spec.get("leaseDurationSeconds")
    return not renewed or not duration or rfc3339.parse(renewed) + duration < now


class IdentityLease:
    """This server's lease, and the end of other servers' leases."""

    def __init__(self, context: ServerContext, address: str, hostname: str | None = None) -> None:
        self._context, self._address = context, address
        self._hostname = hostname or socket.gethostname()
        self.name = identity(self._hostname)
        self._holder = f"{self.name}_{uuid.uuid4()}"
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Write the lease, and keep it from now on; what cannot be written now is tried again."""
        self._task = asyncio.create_task(self._run(await self._try()))

    async def close(self) -> None:
        """Renew it no longer."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self, written: bool) -> None:
        while True:
            await asyncio.sleep(_RENEW_SECONDS if written else _RETRY_SECONDS)
            written = await self._try()

    async def _try(self) -> bool:
        try:
            await self._round()
        except (StoreError, StatusError) as error:
            log.warning("the lease of this server is not renewed: %s", error)
            return False
        return True

    async def _round(self) -> None:
        await self.renew()
        await self.collect()

    async def renew(self) -> None:
        """Write the lease, or renew it."""
        context = self._context
        kind = context.kinds.find(_GROUP, _PLURAL)
        now = rfc3339.micro(context.clock())
        spec = {"holderIdentity": self._holder, "leaseDurationSeconds": _DURATION_SECONDS, "renewTime": now}
        labels = {IDENTITY: "kube-apiserver", "kubernetes.io/hostname": self._hostname}
        annotations = {"kubernetes.io/peer-advertise-address": self._address}
        metadata = {"name": self.name, "labels": labels, "annotations": annotations}
        await ensure(context, _GROUP, _PLURAL, _NAMESPACE, {"metadata": metadata, "spec": spec})

        def change(lease: Object | None) -> Object | Outcome:
            if lease is None or lease.get("spec") == spec:
                return KEEP
            return {**lease, "spec": {**lease.get("spec", {}), **spec}}

        with left_alone():
            await modify(context.store, kind, kind.key(_NAMESPACE, self.name), change)

    async def collect(self) -> None:
        """Delete the leases of servers that are gone."""
        context = self._context
        kind, now = context.kinds.find(_GROUP, _PLURAL), context.clock()

        def change(lease: Object | None) -> Outcome:
            return DELETE if lease is not None and expired(lease, now) else KEEP

        for record in context.store.list(kind.collection(_NAMESPACE)).records:
            with left_alone():
                ours = kind.labels(record).get(IDENTITY) == "kube-apiserver"
                if ours and expired(kind.shared(record), now):
                    log.info("the lease %s of a server that is gone is deleted", record.key)
                    await modify(context.store, kind, record.key, change)
