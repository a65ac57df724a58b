"""Runs the programs that configure the kernel."""

from __future__ import annotations

import asyncio
import os
from collections import deque

# The PATH of a daemon often lacks the folders of programs for administrators.
_ENVIRONMENT = {
    **os.environ,
    "PATH": os.environ.get("PATH", "") + ":/usr/local/sbin:/usr/sbin:/sbin",
    "LC_ALL": "C",
}

# The processes that were started last: changes of the kernel by them are our own.
recent: deque[int] = deque(maxlen=256)


class CommandError(Exception):
    """A program is missing or failed; the text says what it printed."""


async def run(*command: str, text: str | None = None) -> str:
    """Return what a program prints, given a text to read; CommandError if it fails."""
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
    output, errors = await process.communicate()
    if process.returncode:
        complaint = errors.decode(errors="replace").strip() or output.decode(errors="replace").strip()
        raise CommandError(f"{' '.join(command)}: {complaint[-2000:]}")
    return output.decode(errors="replace")


def _package(program: str) -> str:
    packages = {"nft": "nftables", "ip": "iproute2", "conntrack": "conntrack"}
    return packages.get(program, "iptables")
