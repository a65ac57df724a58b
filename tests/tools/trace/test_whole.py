"""Every step of a pod's creation: API server, scheduler and kubelet tell theirs, and nothing is missing between them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from pybernetes.client.refs import PODS
from pybernetes.tools.trace import reading
from pybernetes.tools.trace.timeline import Trace
from tests.cluster import Cluster
from tests.control_plane.scheduler.helpers import scheduling
from tests.node.kubelet.crio import IMAGE, Crio, kubelet_on

STEPS = [
    "request", "admission", "write", "watch", "queue", "filter", "score", "bind", "node watch", "prepare", "volumes",
    "sandbox", "image", "create", "start", "image", "create", "start", "status", "status write",
]  # fmt: skip


def pod() -> dict[str, Any]:
    containers = [
        {"name": name, "image": IMAGE, "imagePullPolicy": "IfNotPresent"} for name in ("main", "side")
    ]
    spec = {"containers": containers, "tolerations": [{"operator": "Exists"}]}
    return {"metadata": {"name": "web", "namespace": "default"}, "spec": spec}


async def test_the_steps_account_for_all_of_the_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_LATE_SECONDS", 60.0)  # events of a busy machine come late
    runtime = Crio()
    runtime.network = True
    async with (
        Cluster() as cluster,
        scheduling(cluster.client),
        kubelet_on(runtime, tmp_path, cluster.rest_client()) as kubelet,
    ):
        seen: list[Trace] = []

        async def follow() -> None:
            async for told in reading.follow(cluster.rest_client(), "default", "web"):
                seen.append(told)

        following = asyncio.create_task(follow())
        await cluster.client.create(PODS, pod())
        await following
        told = seen[-1]
        assert [row.name for row in told.steps] == STEPS
        assert [row.detail for row in told.steps if row.name == "start"] == ["main", "side"]
        assert {row.source for row in told.steps} == {"mark"} and told.precise
        assert told.accounted is not None and told.accounted > 0.95
        assert [row.name for row in told.steps if (row.seconds or 0) < 0] == []
        assert len(kubelet.context.starts) == 0  # nothing is kept of a pod that runs
