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
        file.seek(0 if tail is None else await asyncio.to_thread(tail_offset, path, tail))
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
            newlines_here = piece.count(b"\n")
            if newlines + newlines_here > lines:
                at = len(piece)
                for _ in range(lines - newlines + 1):
                    at = piece.rfind(b"\n", 0, at)
                return begin + at + 1
            newlines += newlines_here
            position = begin
        return 0


def _number(text: str) -> int | None:
    return int(text[:18]) if text.isdecimal() else None
