"""/logs: the log files of the machine, for those who may see them."""

from __future__ import annotations

import asyncio
import html
from collections.abc import AsyncIterator
from pathlib import Path

from pybernetes.lib.http.messages import Response
from pybernetes.lib.http.pulled_stream import PulledStream
from pybernetes.node.kubelet.server.request import Request, page_not_found

_BLOCK = 1 << 16


class SystemLogs:
    """The files below a folder."""

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()

    async def page(self, request: Request) -> Response | PulledStream:
        """Answer with a file, or with what is in a folder."""
        path = (self._root / request.path.strip("/").removeprefix("logs").lstrip("/")).resolve()
        if path != self._root and self._root not in path.parents:
            raise page_not_found()
        if path.is_dir():
            names = sorted(f"{entry.name}/" if entry.is_dir() else entry.name for entry in path.iterdir())
            lines = "".join(f'<a href="{html.escape(name)}">{html.escape(name)}</a>\n' for name in names)
            body = f'<!doctype html>\n<meta name="viewport" content="width=device-width">\n<pre>\n{lines}</pre>\n'
            return Response(body.encode(), content_type=b"text/html; charset=utf-8")
        if not path.is_file():
            raise page_not_found()
        return PulledStream(_pieces(path))


async def _pieces(path: Path) -> AsyncIterator[bytes]:
    with path.open("rb") as file:
        while block := await asyncio.to_thread(file.read, _BLOCK):
            yield block
