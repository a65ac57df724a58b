"""Deletion that waits: for a grace period."""

from __future__ import annotations

from typing import Any

import pytest

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
