"""The plugin that a new pod waits at, as the runtime runs it."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest

from pybernetes.node.network.policy import gate
from pybernetes.node.network.policy.gate import Gate, Refused, Request

RESULT = {
    "cniVersion": "0.4.0",
    "ips": [{"version": "4", "address": "10.0.0.7/24"}, {"address": "fd00::7/64"}],
}
ARGUMENTS = "IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=web-0;K8S_POD_UID=u1"


async def plugin(folder: Path, command: str, configuration: object) -> tuple[int, str]:
    """Run the plugin that was put into a folder."""
    process = await asyncio.create_subprocess_exec(
        str(folder / gate.PLUGIN), stdin=-1, stdout=-1, env={"CNI_COMMAND": command, "CNI_ARGS": ARGUMENTS}
    )
    output, _ = await process.communicate(json.dumps(configuration).encode())
    return process.returncode or 0, output.decode()


async def test_a_pod_starts_when_its_rules_are_in_and_not_before(tmp_path: Path) -> None:
    gate.install(tmp_path, tmp_path / "socket")
    gate.install(tmp_path, tmp_path / "socket")
    asked: asyncio.Queue[Request] = asyncio.Queue()
    open_ = asyncio.Event()

    async def admit(request: Request) -> None:
        asked.put_nowait(request)
        await open_.wait()

    served = Gate(admit, tmp_path / "socket")
    await served.start()
    assert (tmp_path / "socket").stat().st_mode & 0o777 == 0o600
    try:
        adding = asyncio.create_task(plugin(tmp_path, "ADD", {"prevResult": RESULT}))
        request = await asked.get()
        assert request[:3] == ("shop/web-0", "u1", ("10.0.0.7", "fd00::7")) and not adding.done()
        open_.set()
        code, output = await adding
        assert code == 0 and json.loads(output) == RESULT
    finally:
        await served.close()


async def test_without_an_answer_a_pod_does_not_start_but_may_go(tmp_path: Path) -> None:
    gate.install(tmp_path, tmp_path / "socket")
    code, output = await plugin(tmp_path, "ADD", {"prevResult": RESULT})
    assert code == 1 and "does not answer" in json.loads(output)["msg"] and json.loads(output)["code"] == 11
    assert (await plugin(tmp_path, "DEL", {}))[0] == 0
    code, output = await plugin(tmp_path, "VERSION", {})
    assert code == 0 and "0.4.0" in json.loads(output)["supportedVersions"]


async def test_a_refusal_tells_why(tmp_path: Path) -> None:
    gate.install(tmp_path, tmp_path / "socket")

    async def admit(request: Request) -> None:
        raise Refused('not "now"')

    served = Gate(admit, tmp_path / "socket")
    await served.start()
    try:
        for configuration, message in (
            ({"prevResult": RESULT}, "not 'now'"),
            ({}, "cannot be understood"),
            ({"prevResult": {"ips": 7}}, "cannot be understood"),
            ({"x": "y" * (2 << 20)}, ""),
        ):
            code, output = await plugin(tmp_path, "ADD", configuration)
            assert code == 1 and message in json.loads(output)["msg"]
    finally:
        await served.close()
    assert not os.path.exists(tmp_path / "socket")


@pytest.mark.parametrize("data", [b"", b"\n", b"x\n{}", b"\n[]", b"\xff\n{}", b'\n{"prevResult": []}'])
def test_what_makes_no_sense(data: bytes) -> None:
    with pytest.raises((ValueError, AttributeError)):
        gate.parse(data)
