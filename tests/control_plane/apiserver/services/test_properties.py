"""No service, however strange, makes the allocator fail in another way than by a Status."""

from __future__ import annotations

import copy
from random import Random
from typing import Any

from hypothesis import HealthCheck, given, settings

from pybernetes.api.core.service.service import RESOURCE
from pybernetes.api.errors import StatusError
from pybernetes.control_plane.apiserver.services.allocator import ServiceAllocator
from pybernetes.control_plane.apiserver.services.options import ServiceOptions
from pybernetes.control_plane.store.drivers.memory import MemoryStore
from tests import strategies
from tests.support import run

relaxed = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@relaxed
@given(old=strategies.kind(RESOURCE), new=strategies.kind(RESOURCE))
def test_only_statuses(old: dict[str, Any], new: dict[str, Any]) -> None:
    async def write() -> None:
        store = MemoryStore()
        await store.start()
        allocator = ServiceAllocator(store, ServiceOptions.parse("10.0.0.0/24,fd00::/112"), random=Random(1))
        for dry_run in (True, False):
            try:
                await allocator.allocate_create(copy.deepcopy(old), dry_run=dry_run)
                await (await allocator.allocate_update(copy.deepcopy(new), old, dry_run=dry_run)).commit()
            except StatusError as error:
                assert error.code in (422, 500)
            await allocator.release(old)
        await allocator.start()

    assert RESOURCE.default and RESOURCE.prepare_create and RESOURCE.prepare_update
    for obj in (old, new):
        obj.setdefault("metadata", {}).setdefault("name", "x")
        RESOURCE.default(obj)
    RESOURCE.prepare_create(old)
    RESOURCE.prepare_update(new, old)
    run(write())
