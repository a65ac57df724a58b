"""The program, against a real API server: it only reads, and says what is wrong."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from pathlib import Path

import pytest

from pybernetes.client.refs import NODES, PODS
from pybernetes.client.rest_transport import RestTransport
from pybernetes.cmd import what_if
from pybernetes.tools.what_if.reading import Progress
from tests.cluster import Cluster
from tests.control_plane.scheduler.helpers import add_node
from tests.scheduling.builders import node
from tests.tools.what_if.clusters import POLICY, deployment, running

SHAPE = "--shape=cpu=2,memory=4Gi"


async def test_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    methods: Counter[str] = Counter()
    send = RestTransport.send

    async def counting(self: RestTransport, method: str, *rest: object, **more: object) -> object:
        methods[method] += 1
        return await send(self, method, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(RestTransport, "send", counting)
    monkeypatch.setattr("pybernetes.tools.what_if.reading.PAGE", 3)
    file = tmp_path / "web.json"
    file.write_text(json.dumps(deployment("web", 3, "2")))
    async with Cluster() as cluster:
        for number in range(4):
            await add_node(cluster.client, node(f"n{number}"))
        for number in range(7):
            await cluster.client.create(PODS, running(f"app-{number}", f"n{number % 4}"))
        version = (await cluster.client.list(NODES)).resource_version
        kubeconfig = str(cluster.kubeconfig())

        async def run(*words: str) -> tuple[int, str]:
            code = await asyncio.to_thread(what_if.main, [*words, "--kubeconfig", kubeconfig])
            captured = capsys.readouterr()
            assert captured.err == ""
            return code, captured.out

        code, out = await run("schedule", "-f", str(file), "-o", "json")
        answer = json.loads(out)
        assert code == 0 and len([pod for pod in answer["pods"] if pod["state"] == "placed"]) == 3
        assert answer["explanations"][0]["filters"] == [] and len(answer["nodes"]) == 4
        assert (
            sum(answer["explanations"][0]["scores"][0]["plugins"].values())
            == answer["explanations"][0]["scores"][0]["total"]
        )
        code, out = await run("schedule", "-f", str(file), "--count", "9")
        assert code == 1 and "would stay pending:" in out and "Insufficient cpu" in out and "\x1b" not in out
        assert (await run("drain", "n0"))[0] == 0
        assert (await run("lose", "n0", "n1"))[0] == 0
        assert (await run("add", SHAPE))[0] == 0
        assert (
            "nodes of this shape would be enough"
            in (await run("fit", "-f", str(file), SHAPE, "--count", "20"))[1]
        )
        policy = tmp_path / "policy.json"
        policy.write_text(json.dumps(POLICY))
        code, out = await run("rebalance", "--policy", str(policy))
        assert code == 0 and out.startswith("The descheduler would evict ")
        assert (await cluster.client.list(NODES)).resource_version == version
    assert set(methods) == {"GET"} and methods["GET"] > 6 * 20


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["drain", "nowhere"], 'nodes "nowhere" not found'),
        (["add", "--shape", "cpu=x"], "--shape: cpu: Invalid value: 'x'"),
        (["add", SHAPE, "--count", "0"], "--count: Invalid value: 0: must be from 1"),
        (["schedule", "-f", "/nowhere"], "cannot read /nowhere"),
        (["scale", "web", "--replicas", "1"], "KIND/NAME: Invalid value: 'web'"),
        (["drain", "n0", "--config", "/nowhere"], "open /nowhere: no such file"),
        (["drain", "n0", "--context", "none"], "none"),
        (["rebalance", "--policy", "/nowhere"], "/nowhere"),
    ],
)
async def test_what_is_wrong_is_told(words: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    async with Cluster() as cluster:
        arguments = [*words, "--kubeconfig", str(cluster.kubeconfig())]
        assert await asyncio.to_thread(what_if.main, arguments) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("pyb what-if: ") and told in captured.err and captured.out == ""


async def test_without_rights_it_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    async with Cluster("--authorization-mode=RBAC", tokens="nobody,nobody,2\n") as cluster:
        arguments = ["drain", "n0", "--kubeconfig", str(cluster.kubeconfig("nobody"))]
        assert await asyncio.to_thread(what_if.main, arguments) == 2
    assert "forbidden" in capsys.readouterr().err


class Screen:
    """Something to write to that is a terminal, or is not."""

    def __init__(self, terminal: bool) -> None:
        self.text, self._terminal = "", terminal

    def isatty(self) -> bool:
        return self._terminal

    def write(self, text: str) -> int:
        self.text += text
        return len(text)

    def flush(self) -> None:
        pass


@pytest.mark.parametrize("terminal", [True, False])
def test_progress_is_for_terminals(terminal: bool) -> None:
    screen = Screen(terminal)
    progress = Progress(screen)  # type: ignore[arg-type]
    for plural, count in (("nodes", 5), ("pods", 7), ("services", 2), ("pods", 1)):
        progress.count(plural, count)
    assert ("5 nodes, 8 pods, 2 others" in screen.text) == terminal
    progress.end()
    assert screen.text.endswith("\r\x1b[K") == terminal
