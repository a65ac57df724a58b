"""Deletion that waits: for a grace period or finalizers."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from pybernetes.api.core import configmap
from pybernetes.control_plane.apiserver.storage import deletion
from pybernetes.control_plane.apiserver.storage.kind import Kind
from pybernetes.control_plane.apiserver.storage.modify import create_record
from pybernetes.control_plane.apiserver.storage.options import DeleteOptions
from pybernetes.control_plane.apiserver.storage.resource_version import stamp
from pybernetes.control_plane.store.open import open_store
from pybernetes.control_plane.store.protocol import Record
from pybernetes.lib import rfc3339
from tests.servers import Server

PODS = "/api/v1/namespaces/default/pods"


@pytest.mark.parametrize("grace", [3000, 10**12, 2**63 - 1])
@pytest.mark.parametrize("asked", [True, False])
def test_any_grace_period_ends_at_a_moment(server: Server, grace: int, asked: bool) -> None:
    """A pod that asks for longer than there are years can be deleted, and by force as well."""
    name = f"patient-{grace}-{asked}".lower()
    spec: dict[str, Any] = {"nodeName": "n", "containers": [{"name": "c", "image": "i"}]}
    if not asked:
        spec["terminationGracePeriodSeconds"] = grace
    status, answer = server.call("POST", PODS, {"metadata": {"name": name}, "spec": spec})
    assert status == 201, answer
    status, answer = server.call(
        "DELETE", f"{PODS}/{name}" + (f"?gracePeriodSeconds={grace}" if asked else "")
    )
    assert status == 200, answer
    meta = answer["metadata"]
    assert rfc3339.parse(meta["deletionTimestamp"]) <= 253402300799
    assert 3000 <= meta["deletionGracePeriodSeconds"] <= grace
    status, answer = server.call("DELETE", f"{PODS}/{name}?gracePeriodSeconds=2000")
    assert (status, answer["metadata"]["deletionGracePeriodSeconds"]) == (200, 2000)
    assert server.call("DELETE", f"{PODS}/{name}?gracePeriodSeconds=0")[0] == 200
    assert server.call("GET", f"{PODS}/{name}")[0] == 404


async def test_large_objects_are_read_beside_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """An object with 60,000 finalizers held the event loop for 80 ms with each attempt to delete it."""
    kind, threads = Kind(configmap.RESOURCE), set[str]()
    read = kind.object

    def noting(record: Record) -> Any:
        threads.add(threading.current_thread().name.partition("_")[0])
        return read(record)

    monkeypatch.setattr(kind, "object", noting)
    store = open_store("memory", stamp=stamp)
    await store.start()
    try:
        meta = {"name": "a", "finalizers": [f"example.com/{number}" for number in range(2000)]}
        obj = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": meta}
        await create_record(store, kind, kind.key("default", "a"), obj)
        context: Any = SimpleNamespace(store=store, clock=lambda: 1e9)
        for _ in range(2):
            deleted = await deletion.delete(context, kind, kind.key("default", "a"), "a", DeleteOptions())
            assert not deleted.gone and deleted.obj["metadata"]["deletionTimestamp"]
    finally:
        await store.close()
    assert threads == {"off-loop"}
