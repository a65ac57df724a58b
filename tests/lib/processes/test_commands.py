"""Programs that are run: what they print, how they fail, and that they are not cut short."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from pybernetes.lib.processes import commands


async def test_what_a_program_prints() -> None:
    assert await commands.run("cat", text="a text\n" * 100_000) == "a text\n" * 100_000


async def test_the_process_is_noted() -> None:
    before = list(commands.recent)
    await commands.run("true")
    assert list(commands.recent)[:-1] == before[-255:]


@pytest.mark.parametrize(
    ("command", "text"),
    [
        (("sh", "-c", "echo why >&2; exit 3"), "sh -c echo why >&2; exit 3: why"),
        (("sh", "-c", "echo why; exit 3"), "sh -c echo why; exit 3: why"),
        (("no-such-program",), "no-such-program is not installed (apt install no-such-program)"),
    ],
)
async def test_failures_are_for_people(command: tuple[str, ...], text: str) -> None:
    with pytest.raises(commands.CommandError) as error:
        await commands.run(*command, text="not read")
    assert str(error.value) == text


async def test_a_program_is_not_cut_short(tmp_path: Path) -> None:
    begun, ended = tmp_path / "begun", tmp_path / "ended"
    script = f"touch {begun}; read line < {tmp_path / 'go'}; touch {ended}"
    await commands.run("mkfifo", str(tmp_path / "go"))
    task = asyncio.create_task(commands.run("sh", "-c", script))
    async with asyncio.timeout(60):
        while not begun.exists():
            await asyncio.sleep(0)
    task.cancel()
    await asyncio.sleep(0)
    await commands.run("sh", "-c", f"echo go > {tmp_path / 'go'}")
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended.exists()
