"""Whether kube-proxy says that it is healthy."""

from __future__ import annotations

import json
from typing import Any

from pybernetes.lib.clock import ManualClock
from pybernetes.lib.http.messages import Request
from pybernetes.node.proxy.health import Health


def test_health() -> None:
    clock = ManualClock()
    health = Health(clock, 60)

    def page(path: str) -> tuple[int, dict[str, Any]]:
        answer = health.page(Request(None, "GET", path, "", {}, b""))  # type: ignore[arg-type]
        return answer.status, json.loads(answer.body)

    assert page("/healthz")[0] == 503 and page("/livez")[0] == 200  # there is no Node yet
    health.node = {"metadata": {"name": "here"}}
    answer = health.page(Request(None, "GET", "/healthz", "", {}, b""))  # type: ignore[arg-type]
    assert (answer.status, answer.headers) == (503, ((b"Retry-After", b"1"),))  # there are no rules yet
    assert page("/livez")[0] == 200 and page("/healthz")[1]["healthy"]
    health.updated()
    assert page("/healthz")[0] == 200
    health.queued()
    clock._elapsed += 61
    assert page("/livez")[0] == 503 and not page("/healthz")[1]["healthy"]
    health.updated()
    assert page("/healthz") == (200, {**page("/healthz")[1], "nodeEligible": True})
    health.node = {
        "metadata": {"name": "here"},
        "spec": {"taints": [{"key": "ToBeDeletedByClusterAutoscaler"}]},
    }
    status, body = page("/healthz")
    assert status == 503 and body["healthy"] and not body["nodeEligible"]
    assert health.answers == {("healthz", 503): 5, ("livez", 200): 2, ("healthz", 200): 3, ("livez", 503): 1}
