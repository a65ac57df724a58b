"""/logs: the log files of the machine, for those who may see them."""

from __future__ import annotations

import asyncio
import html
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import BinaryIO

from pybernetes.lib.files import opening
from pybernetes.lib.files.opening import Links, open_below
from pybernetes.lib.files.regular import open_regular
from pybernetes.lib.http.messages import Response
from pybernetes.lib.http.pulled_stream import PulledStream
from pybernetes.node.kubelet.server.request import Request, page_not_found

_BLOCK = 1 << 16


class SystemLogs:
    """The files below a folder. Pods may be able to write there: no link leads out of it, and pipes are not read."""

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()

    async def page(self, request: Request) -> Response | PulledStream:
        """Answer with a file, or with what is in a folder."""
        path = request.path.strip("/").removeprefix("logs").lstrip("/")
        try:
            with opening.folder(self._root) as root:
                return self._page(root, path)
        except (OSError, ValueError):
            raise page_not_found() from None

    def _page(self, root: int, path: str) -> Response | PulledStream:
        path = self._inside(root, path)
        try:
            folder = open_below(root, path, os.O_RDONLY | os.O_DIRECTORY, Links.INSIDE)
        except NotADirectoryError:
            return PulledStream(_pieces(open_regular(root, path, Links.INSIDE)))
        try:
            with os.scandir(folder) as entries:
                names = sorted(
                    f"{entry.name}/" if entry.is_dir(follow_symlinks=False) else entry.name
                    for entry in entries
                )
        finally:
            os.close(folder)
        lines = "".join(f'<a href="{html.escape(name)}">{html.escape(name)}</a>\n' for name in names)
        body = f'<!doctype html>\n<meta name="viewport" content="width=device-width">\n<pre>\n{lines}</pre>\n'
        return Response(body.encode(errors="replace"), content_type=b"text/html; charset=utf-8")

    def _inside(self, root: int, path: str) -> str:
        """Return where a link with the whole name of a file below the root leads, as those of containers' logs do."""
        head, name = os.path.split(path)
        folder = open_below(root, head, os.O_PATH | os.O_DIRECTORY, Links.INSIDE)
        try:
            target = Path(os.readlink(name, dir_fd=folder))
        except OSError:
            return path  # no link
        finally:
            os.close(folder)
        return str(target.relative_to(self._root)) if target.is_relative_to(self._root) else path


async def _pieces(file: BinaryIO) -> AsyncIterator[bytes]:
    with file:
        while block := await asyncio.to_thread(file.read, _BLOCK):
            yield block
