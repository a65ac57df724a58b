"""Charges quotas: what is decided is written to their statuses before the write goes on.

The writes that wait for one namespace are judged together, one after the other, and charged with one write per
quota. That write succeeds only if nobody else, a controller or another server, changed the quota since it was read;
otherwise those that are not through yet are judged again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from pybernetes.api import errors, resource_list
from pybernetes.api.quota.decide import Limited, QuotaError, Write, charge
from pybernetes.api.quota.evaluator import Evaluator
from pybernetes.api.resource import Object
from pybernetes.api.resource_list import ResourceList
from pybernetes.control_plane.apiserver.admission.attributes import Attributes
from pybernetes.control_plane.apiserver.admission.lookup import Lookup
from pybernetes.control_plane.apiserver.admission.plugin import failure
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.storage.modify import KEEP, Outcome, modify

_PATIENCE = 10.0
_TRIES = 16


@dataclass(slots=True, eq=False)
class _Waiter:
    evaluator: Evaluator
    attributes: Attributes
    write: Write
    done: asyncio.Future[None]

    def admit(self) -> None:
        if not self.done.done():
            self.done.set_result(None)

    def refuse(self, error: Exception) -> None:
        if not self.done.done():
            self.done.set_exception(error)


class Reservations:
    """The writes that wait for room, by namespace."""

    def __init__(self, context: ServerContext, quotas: Lookup, limited: Sequence[Limited]) -> None:
        self._context, self._quotas, self._limited = context, quotas, limited
        self._waiting: dict[str, list[_Waiter]] = {}
        self._workers: dict[str, asyncio.Task[None]] = {}

    async def reserve(self, evaluator: Evaluator, attributes: Attributes) -> None:
        """Charge the write; StatusError if there is no room for it."""
        assert attributes.obj is not None
        write = Write(attributes.operation, attributes.subresource, attributes.obj, attributes.old)
        namespace = attributes.namespace
        waiter = _Waiter(evaluator, attributes, write, asyncio.get_running_loop().create_future())
        self._waiting.setdefault(namespace, []).append(waiter)
        if namespace not in self._workers:
            # A task of its own: a client that goes away must not take the others' turn with it.
            self._workers[namespace] = asyncio.create_task(self._work(namespace))
        try:
            async with asyncio.timeout(_PATIENCE):
                await waiter.done
        except TimeoutError:
            raise errors.internal("resource quota evaluation timed out") from None

    async def _work(self, namespace: str) -> None:
        try:
            while waiters := self._waiting.pop(namespace, None):
                try:
                    await self._settle(namespace, waiters)
                except Exception as error:
                    for waiter in waiters:
                        waiter.refuse(error)
        finally:
            del self._workers[namespace]

    async def _settle(self, namespace: str, waiters: list[_Waiter]) -> None:
        """Judge and charge until all are through."""
        quotas: Sequence[Object] = self._quotas.all(namespace)
        limited = self._limited
        for _ in range(_TRIES):
            used, waiters = self._judge(quotas, waiters, limited)
            failed = await self._write(quotas, used)
            if not failed:
                for waiter in waiters:
                    waiter.admit()
                return
            await self._context.fresh()
            # The quotas that took the charge need not be asked again, and one that is gone limits nothing.
            quotas = [quota for quota in self._quotas.all(namespace) if quota["metadata"]["name"] in failed]
            limited = ()
        for waiter in waiters:
            waiter.refuse(
                errors.modified("", "resourcequotas", quotas[0]["metadata"]["name"] if quotas else "")
            )

    def _judge(
        self, quotas: Sequence[Object], waiters: list[_Waiter], limited: Sequence[Limited]
    ) -> tuple[list[ResourceList], list[_Waiter]]:
        """Return what will be in use, and the writes that depend on that being written."""
        used = [quota.get("status", {}).get("used") or {} for quota in quotas]
        now, left = self._context.clock(), []
        for waiter in waiters:
            if waiter.done.done():
                continue  # its client has gone, or it was refused already
            try:
                after = charge(quotas, used, waiter.evaluator, waiter.write, now, limited)
            except QuotaError as error:
                text = error.message
                waiter.refuse(waiter.attributes.forbidden(text) if error.forbidden else failure(text))
                continue
            changed = any(new is not old for new, old in zip(after, used, strict=True))
            if waiter.attributes.dry_run or not changed:
                waiter.admit()
            else:
                used = after
                left.append(waiter)
        return used, left

    async def _write(self, quotas: Sequence[Object], used: Sequence[ResourceList]) -> set[str]:
        """Write the statuses and return the names of the quotas that somebody else changed."""
        failed: set[str] = set()
        kind = self._quotas.kind
        for quota, amounts in zip(quotas, used, strict=True):
            status, meta = quota.get("status", {}), quota["metadata"]
            if resource_list.equal(amounts, status.get("used") or {}):
                continue
            charged = {**quota, "status": {**status, "used": amounts}}
            key = kind.key(meta["namespace"], meta["name"])
            if not await self._charge(key, charged):
                failed.add(meta["name"])
        return failed

    async def _charge(self, key: str, charged: Object) -> bool:
        """Write a quota as it was judged; return False if somebody else changed it since."""
        tries, is_mine = 0, True

        def change(now: Object | None) -> Object | Outcome:
            nonlocal tries, is_mine
            tries += 1
            if now is None:
                return KEEP  # a quota that is gone limits nothing
            seen, judged = now["metadata"]["resourceVersion"], charged["metadata"]["resourceVersion"]
            is_mine = seen == judged and tries == 1
            return charged if is_mine else KEEP

        await modify(self._context.store, self._quotas.kind, key, change)
        return is_mine
