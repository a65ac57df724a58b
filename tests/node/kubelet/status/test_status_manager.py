"""Writing statuses to the API server."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

from pybernetes.node.kubelet.status.status_manager import StatusManager, new_terminations, overruled, patch_of

POD: dict[str, Any] = {
    "metadata": {"uid": "u", "name": "n", "namespace": "x"},
    "spec": {"containers": []},
}


def test_patches_of_statuses_name_what_goes() -> None:
    before = {
        "reason": "x", "podIPs": [{"ip": "1"}],
        "conditions": [{"type": "Ready", "status": "False", "reason": "r"}, {"type": "PodResizePending", "status": "True"}],
    }  # fmt: skip
    after = {"podIPs": [{"ip": "2"}], "conditions": [{"type": "Ready", "status": "True"}]}
    patch = patch_of({"metadata": {"uid": "u"}}, after, before)["status"]
    assert patch["reason"] is None
    assert patch["podIPs"] == [{"ip": "2"}, {"$patch": "delete", "ip": "1"}]
    assert patch["conditions"] == [
        {"type": "Ready", "status": "True", "reason": None}, {"$patch": "delete", "type": "PodResizePending"},
    ]  # fmt: skip
    assert patch_of({"metadata": {"uid": "u"}}, after, after)["status"] == {}


def test_what_others_say_of_a_pod_is_set_right_if_it_stays_so() -> None:
    def status(ready: str) -> dict[str, Any]:
        return {"conditions": [{"type": "Ready", "status": ready}, {"type": "Gate", "status": ready}]}

    assert not overruled(status("True"), {})
    assert not overruled({"conditions": [{"type": "Gate", "status": "True"}]}, status("False"))
    assert overruled(status("True"), status("False"))

    async def run() -> None:
        timers: list[Any] = []
        shown = {"metadata": {**POD["metadata"]}, "status": status("False")}
        patches: list[dict[str, Any]] = []

        async def patch(ref: Any, name: str, body: dict[str, Any], namespace: str) -> Any:
            patches.append(body["status"])
            shown["status"] = status("True")
            return shown

        client: Any = SimpleNamespace(patch_status=patch)
        clock: Any = SimpleNamespace(call_later=lambda seconds, call: timers.append(call))
        statuses = StatusManager(client, clock, lambda pod: shown)
        statuses.set(POD, status("True"))
        await statuses.flush("u")
        assert len(patches) == 1
        statuses.seen("u")
        assert not timers
        shown["status"] = status("False")  # somebody else wrote, and again
        statuses.seen("u")
        statuses.seen("u")
        assert len(timers) == 1
        timers.pop()()
        await statuses.flush("u")
        assert len(patches) == 2 and not timers

    asyncio.run(run())


def test_a_container_ends_once() -> None:
    ended = {"terminated": {"exitCode": 3, "reason": "Error"}}
    running = {"containerStatuses": [{"name": "a", "state": {"running": {}}}]}
    over = {
        "containerStatuses": [{"name": "a", "state": ended}],
        "initContainerStatuses": [{"name": "i", "state": ended}],
    }
    terminations = list(new_terminations(running, over))
    assert [(kind, state["exitCode"]) for kind, state in terminations] == [
        ("init_container", 3),
        ("container", 3),
    ]
    assert list(new_terminations(over, over)) == []
    assert list(new_terminations({}, running)) == []
