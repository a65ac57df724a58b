"""Runs the programs that set up the kernel."""

from __future__ import annotations

import asyncio
import os
from collections import deque

# The usual places: a daemon's PATH often lacks the ones for administrators.
_ENVIRONMENT = {
    **os.environ,
    "PATH": os.environ.get("PATH", "") + ":/usr/local/sbin:/usr/sbin:/sbin",
    "LC_ALL": "C",
}

# The processes that were started last: changes in the kernel that they made are our own.
recent: deque[int] = deque(maxlen=256)


class CommandError(Exception):
    """A program is missing or failed; the text is its complaint."""


async def run(*command: str, text: str | None = None) -> str:
    """What a program prints, given a text to read; CommandError if it fails."""
    # A file in memory instead of a pipe: a program that fails may end without reading everything.
    descriptor = os.memfd_create("input") if text is not None else None
    try:
        if descriptor is not None and text is not None:
            with open(descriptor, "wb", closefd=False) as file:
                file.write(text.encode())
            os.lseek(descriptor, 0, os.SEEK_SET)
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=descriptor if descriptor is not None else asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=_ENVIRONMENT,
        )
    except FileNotFoundError:
        raise CommandError(f"{command[0]} is not installed (apt install {_package(command[0])})") from None
    finally:
        if descriptor is not None:
            os.close(descriptor)
    recent.append(process.pid)
    out, err = await process.communicate()
    if process.returncode:
        complaint = err.decode(errors="replace").strip() or out.decode(errors="replace").strip()
        raise CommandError(f"{' '.join(command)}: {complaint[-2000:]}")
    return out.decode(errors="replace")


def _package(program: str) -> str:
    known = {"nft": "nftables", "ip": "iproute2", "conntrack": "conntrack"}
    return known.get(program, "iptables")
