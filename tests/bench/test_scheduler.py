"""The benchmark of schedulers, with few pods: every workload comes to an end and says what it measured."""

from __future__ import annotations

import argparse
import asyncio
import json
from typing import Any

import pytest

from bench import scheduler as bench
from bench.harness.workloads import WORKLOADS
from tests.cluster import Cluster
from tests.control_plane.scheduler.helpers import scheduling


async def measured(cluster: Cluster, capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    options: argparse.Namespace = bench._parser().parse_args(
        [f"--kubeconfig={cluster.kubeconfig()}", "--json", "--timeout=120", *arguments]
    )
    assert await asyncio.wait_for(bench.Bench(options).run(), 150) == 0
    return json.loads(capsys.readouterr().out.splitlines()[-1])


@pytest.mark.parametrize("workload", list(WORKLOADS))
async def test_workloads(
    workload: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench, "_QUIET_SECONDS", 0.1)
    async with Cluster() as cluster, scheduling(cluster.client):
        result = await measured(cluster, capsys, "--nodes=12", "--pods=30", f"--workload={workload}")
        assert (result["workload"], result["nodes"], result["pods"]) == (workload, 12, 30)
        assert result["pods_per_second"] > 0
