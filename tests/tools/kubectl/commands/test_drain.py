"""What drain says of the pods that it moves."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pybernetes.tools.kubectl.commands import drain
from pybernetes.tools.kubectl.errors import ApiError, CommandError
from pybernetes.tools.kubectl.resources.discovery import Resource
from pybernetes.tools.kubectl.resources.info import Info
from pybernetes.tools.kubectl.resources.waiting import TimedOut

PODS: list[dict[str, Any]] = [
    {"metadata": {"name": name, "namespace": "ns", "uid": name}}
    for name in ("held", "stuck", "slow", "quick")
]
LATE = "context deadline exceeded"


@pytest.mark.parametrize(
    ("delete", "told", "failed"),
    [
        (
            False,
            ['pod "slow" has DeletionTimestamp older than 3 seconds, skipping', "pod/quick evicted"],
            ["it is held", f'error when waiting for pod "stuck" in namespace "ns" to terminate: {LATE}'],
        ),
        (True, [], ["it is held"]),
    ],
)
def test_one_pod_does_not_keep_the_others(
    delete: bool, told: list[str], failed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def evict(context: Any, pod: dict[str, Any], deadline: float) -> None:
        if pod["metadata"]["name"] == "held":
            raise CommandError("it is held")

    def wait(context: Any, target: Info, deadline: float) -> bool:
        if target.name == "stuck":
            raise TimedOut("too long")
        return target.name == "quick"

    monkeypatch.setattr(drain, "_evict", evict)
    monkeypatch.setattr(drain, "_wait", wait)
    said: list[str] = []
    context: Any = SimpleNamespace(
        flags=SimpleNamespace(
            timeout=1.0, dry_run="none", disable_eviction=delete, skip_wait_for_delete_timeout=3
        ),
        out=said.append,
        discovery=SimpleNamespace(find=lambda word: Resource("", "v1", word, "pod", "Pod", True)),
    )
    errors = drain._remove(context, PODS)
    assert (said, [error.message for error in errors]) == (told, failed)


def test_a_budget_that_takes_longer_than_a_request_may() -> None:
    def refuse(*arguments: Any) -> None:
        details = {"retryAfterSeconds": 10}
        raise ApiError({"reason": "TooManyRequests", "message": "no", "details": details}, 429)

    context: Any = SimpleNamespace(
        flags=SimpleNamespace(timeout=0.0, dry_run="none", disable_eviction=False, grace_period=-1),
        out=[].append,
        client=SimpleNamespace(timeout=3.0, json=refuse),
        discovery=SimpleNamespace(find=lambda word: Resource("", "v1", word, "pod", "Pod", True)),
    )
    with pytest.raises(CommandError, match=f'error when evicting pods/"held" -n "ns": {LATE}'):
        drain._evict(context, PODS[0], 1e9)
