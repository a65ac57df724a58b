"""Evictions, and the budgets that hold them back."""

from __future__ import annotations

from tests.servers import Server

MERGE = {"Content-Type": "application/merge-patch+json"}


def path(namespace: str, name: str = "", plural: str = "configmaps") -> str:
    return f"/api/v1/namespaces/{namespace}/{plural}" + (f"/{name}" if name else "")


def test_a_budget_holds_evictions_back(server: Server, namespace: str) -> None:
    pods = path(namespace, plural="pods")
    spec = {"containers": [{"name": "a", "image": "b"}], "nodeName": "somewhere"}
    server.call("POST", pods, {"metadata": {"name": "e", "labels": {"app": "e"}}, "spec": spec})
    ready = {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}
    server.call("PATCH", f"{pods}/e/status", ready, headers=MERGE)
    budgets = f"/apis/policy/v1/namespaces/{namespace}/poddisruptionbudgets"
    budget = {
        "metadata": {"name": "b"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "e"}}},
    }
    assert server.call("POST", budgets, budget)[0] == 201
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "e"}}
    status, answer = server.call("POST", f"{pods}/e/eviction", eviction)
    assert (status, answer["reason"]) == (429, "TooManyRequests")
    allowed = {"status": {"observedGeneration": 1, "disruptionsAllowed": 1, "currentHealthy": 2, "desiredHealthy": 1,
                          "expectedPods": 2}}  # fmt: skip
    assert server.call("PATCH", f"{budgets}/b/status", allowed, headers=MERGE)[0] == 200
    assert server.call("POST", f"{pods}/e/eviction", eviction)[0] == 201
    assert server.call("GET", f"{pods}/e")[1]["metadata"]["deletionTimestamp"]
    assert server.call("GET", f"{budgets}/b")[1]["status"]["disruptionsAllowed"] == 0


def test_pods_that_are_not_ready_go_as_a_budget_says(server: Server, namespace: str) -> None:
    """With AlwaysAllow they need no room in the budget; otherwise they go only where enough others are healthy."""
    pods, budgets = (
        path(namespace, plural="pods"),
        f"/apis/policy/v1/namespaces/{namespace}/poddisruptionbudgets",
    )
    spec = {"containers": [{"name": "a", "image": "b"}], "nodeName": "somewhere"}
    for name, policy, wanted in (("always", "AlwaysAllow", 201), ("budget", "IfHealthyBudget", 429)):
        server.call("POST", pods, {"metadata": {"name": name, "labels": {"app": name}}, "spec": spec})
        running = {
            "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "False"}]},
        }
        server.call("PATCH", f"{pods}/{name}/status", running, headers=MERGE)
        selector = {"matchLabels": {"app": name}}
        budget = {"minAvailable": 1, "selector": selector, "unhealthyPodEvictionPolicy": policy}
        server.call("POST", budgets, {"metadata": {"name": name}, "spec": budget})
        none = {"status": {"observedGeneration": 1, "disruptionsAllowed": 0, "currentHealthy": 0, "desiredHealthy": 1,
                           "expectedPods": 1}}  # fmt: skip
        assert server.call("PATCH", f"{budgets}/{name}/status", none, headers=MERGE)[0] == 200
        eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
        assert server.call("POST", f"{pods}/{name}/eviction", eviction)[0] == wanted
