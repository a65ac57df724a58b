"""A file that is followed: what is good is taken over, what is bad is told and counted, and changes nothing."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import pytest

from pybernetes.control_plane.apiserver.config_reloads import ConfigFile, ConfigReloads, content_hash, hashed
from pybernetes.lib.metrics.exposition import Exposition
from tests.servers import Server


class Configuration:
    """What a file says: a number."""

    def __init__(self, path: Path) -> None:
        self.path, self.value = path, 0

    async def take(self) -> None:
        self.value = int(self.path.read_text())


def samples(reloads: ConfigReloads) -> set[str]:
    out = Exposition()
    reloads.render(out)
    return {line for line in out.render().decode().splitlines() if line[0] != "#"}


def failed_reloads(server: Server, subject: str) -> list[str]:
    """Return the samples of a server's failures to take over a file."""
    name = f"apiserver_{subject}_config_controller_automatic_reloads_total{{"
    lines = server.call("GET", "/metrics")[1].splitlines()
    return [line for line in lines if line.startswith(name) and 'status="failure"' in line]


async def test_a_bad_file_keeps_the_old_configuration(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    now = 100.0
    path = tmp_path / "file"
    configuration, reloads = Configuration(path), ConfigReloads("encryption", "me", lambda: now)
    file = ConfigFile(str(path), configuration.take, reloads)
    assert samples(reloads) == set()
    path.write_text("1")
    await file.refresh()
    await file.refresh()  # it has not changed
    now = 200.0
    with caplog.at_level(logging.ERROR):
        path.write_text("nonsense")
        await file.refresh()
        path.unlink()
        await file.refresh()
        os.mkfifo(path)  # which nobody writes to: opening it would wait for ever
        await file.refresh()
        path.unlink()
    assert configuration.value == 1
    assert (
        caplog.text.count("the encryption configuration stays as it was") == 3 and "nonsense" in caplog.text
    )
    begin, server = "apiserver_encryption_config_controller_", f'apiserver_id_hash="{hashed("me")}"'
    assert samples(reloads) == {
        f'{begin}automatic_reloads_total{{{server},status="success"}} 1',
        f'{begin}automatic_reloads_total{{{server},status="failure"}} 3',
        f'{begin}automatic_reload_last_timestamp_seconds{{{server},status="success"}} 100',
        f'{begin}automatic_reload_last_timestamp_seconds{{{server},status="failure"}} 200',
        f'{begin}last_config_info{{{server},hash="{content_hash(b"1")}"}} 1',
    }
    path.write_text("2")
    await file.refresh()
    assert configuration.value == 2 and reloads.counts["success"][0] == 2


async def test_an_error_of_ours_ends_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Whatever a file makes go wrong, the next one is looked at."""
    path, reloads = tmp_path / "file", ConfigReloads("authorization")
    path.write_text("deep")

    async def take() -> None:
        raise RecursionError("too deep")

    with caplog.at_level(logging.ERROR):
        await ConfigFile(str(path), take, reloads).refresh()
    assert reloads.counts["failure"][0] == 1 and "too deep" in caplog.text
