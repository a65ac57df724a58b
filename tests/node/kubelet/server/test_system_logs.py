"""/logs: what of the machine's logs can be read."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pybernetes.lib.http.messages import Response
from pybernetes.node.kubelet.server.request import HttpError
from pybernetes.node.kubelet.server.system_logs import SystemLogs


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Logs of a machine; a pod that has the folder as its volume left some links there."""
    root = tmp_path / "log"
    (root / "pods/p/c").mkdir(parents=True)
    (root / "pods/p/c/0.log").write_text("container")
    (root / "containers").mkdir()
    (root / "syslog").write_text("system")
    (tmp_path / "secret").write_text("secret")
    os.mkfifo(root / "pipe")
    links: dict[str, Path | str] = {
        "containers/c.log": root / "pods/p/c/0.log",
        "containers/relative.log": "../pods/p/c/0.log",
        "containers/out.log": tmp_path / "secret",
        "up": "../secret",
        "host": "/",
        "loop": root / "loop",
    }
    for name, target in links.items():
        (root / name).symlink_to(target)
    return root


async def page(root: Path, path: str) -> str | None:
    request: Any = SimpleNamespace(path=f"/logs/{path}")
    try:
        answer = await SystemLogs(root).page(request)
    except HttpError:
        return None
    if isinstance(answer, Response):
        return bytes(answer.body).decode()
    return b"".join([piece async for piece in answer._body]).decode()


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("syslog", "system"),
        ("pods/p/c/0.log", "container"),
        ("containers/c.log", "container"),
        ("containers/relative.log", "container"),
        ("containers/out.log", None),
        ("up", None),
        ("host/etc/passwd", None),
        ("host", None),
        ("loop", None),
        ("pipe", None),
        ("../secret", None),
        ("missing", None),
    ],
)
async def test_no_link_leads_out_of_the_logs(root: Path, path: str, text: str | None) -> None:
    """The way out of a pod that mounts /var/log: a link there, read through the kubelet as root."""
    assert await page(root, path) == text


async def test_a_folder_is_listed(root: Path) -> None:
    text = await page(root, "")
    assert text is not None and '<a href="pods/">pods/</a>\n' in text and '<a href="host">host</a>\n' in text
