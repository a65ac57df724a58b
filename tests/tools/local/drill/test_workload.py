"""Clients of a drill against a real API server that is killed and comes back."""

from __future__ import annotations

import asyncio
from pathlib import Path

from pybernetes.client import kubeconfig
from pybernetes.tools.local.drill import figures
from pybernetes.tools.local.drill.linearizability import DONE, SWAP
from pybernetes.tools.local.drill.workload import Workload
from tests.servers import running
from tests.support import eventually


def test_clients_go_on_and_nothing_is_lost_when_a_server_is_killed(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        config = kubeconfig.load(server.kubeconfig)
        url = f"https://127.0.0.1:{server.port}"

        def written(workload: Workload) -> int:
            operations = [one for every in workload.record.operations.values() for one in every]
            return sum(operation.kind == SWAP and operation.outcome == DONE for operation in operations)

        async def drill() -> figures.Figures:
            workload = Workload(config, [url])
            await workload.start()
            await eventually(lambda: written(workload) >= 30)
            server.process.kill()
            await eventually(lambda: workload.record.errors.total() >= 5)
            before = written(workload)
            again = running(tmp_path, port=server.port)
            await asyncio.to_thread(again.__enter__)
            try:
                await eventually(lambda: written(workload) >= before + 30)
                return figures.figures(await workload.stop())
            finally:
                await asyncio.to_thread(again.__exit__, None, None, None)

        seen = asyncio.run(drill())
    assert seen.is_good, seen
    assert seen.acknowledged >= 60 and seen.longest_gap > 0.1 and seen.errors


def test_clients_begin_when_a_server_answers(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        server.process.kill()
        server.process.wait()
        workload = Workload(kubeconfig.load(server.kubeconfig), [f"https://127.0.0.1:{server.port}"])

        async def drill() -> figures.Figures:
            beginning = asyncio.create_task(workload.start())
            again = running(tmp_path, port=server.port)
            await asyncio.to_thread(again.__enter__)
            try:
                await beginning
                await eventually(lambda: any(workload.record.operations.values()))
                return figures.figures(await workload.stop())
            finally:
                await asyncio.to_thread(again.__exit__, None, None, None)

        assert asyncio.run(drill()).is_good
