"""Logs that are plain files of other programs: what shows a pod that is no container, such as the parts of a local cluster."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

from pybernetes.node.kubelet.server.request import Request

_PIECE = 64 * 1024
_FOLLOW_SECONDS = 0.5


async def read(path: Path, request: Request) -> AsyncIterator[bytes]:
    """Return the pieces of a file, as far as a request wants it; what is followed has no end."""
    tail, limit = _number(request.parameter("tailLines")), _number(request.parameter("limitBytes"))
    with path.open("rb") as file:
        file.seek(tail_offset(path, tail) if tail is not None else 0)
        while limit is None or limit > 0:
            piece = file.read(_PIECE if limit is None else min(_PIECE, limit))
            if piece:
                limit = None if limit is None else limit - len(piece)
                yield piece
            elif request.flag("follow"):
                await asyncio.sleep(_FOLLOW_SECONDS)
                yield b""  # a client that is gone is noticed here
            else:
                return


def tail_offset(path: Path, lines: int) -> int:
    """Return where the last lines of a file begin."""
    with path.open("rb") as file:
        position = file.seek(0, 2)
        if not lines:
            return position
        newlines = 0
        while position > 0:
            begin = max(0, position - _PIECE)
            file.seek(begin)
            piece = file.read(position - begin)
            for index in range(len(piece) - 1, -1, -1):
                if piece[index] == 10:
                    newlines += 1
                    if newlines > lines:
                        return begin + index + 1
            position = begin
        return 0


def _number(text: str) -> int | None:
    return int(text[:18]) if text.isdecimal() else None
