"""Run the programs of an administrator: iptables, nft, ip, ctr and the like."""

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
# The Debian package of a program that is not named like it.
_PACKAGES = {
    "nft": "nftables",
    "ip": "iproute2",
    "ctr": "containerd",
    **dict.fromkeys(
        ("iptables-save", "iptables-restore", "ip6tables", "ip6tables-save", "ip6tables-restore"), "iptables"
    ),
}

# The processes that were started last, for who must tell our own changes of the kernel from those of others.
recent: deque[int] = deque(maxlen=256)


class CommandError(OSError):
    """A program is missing or failed; the text says what it printed."""


class MissingProgram(CommandError):
    """A program is not installed; the text names the command that installs it."""


async def run(*command: str, text: str | None = None) -> str:
    """Return what a program prints, given a text to read; CommandError if it fails.

    A caller that is cancelled waits for the end of the program, which must not be cut short.
    """
    running = asyncio.ensure_future(_run(command, text))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.wait((running,))
        raise


async def _run(command: tuple[str, ...], text: str | None) -> str:
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
        package = _PACKAGES.get(command[0], command[0])
        raise MissingProgram(f"{command[0]} is not installed (apt install {package})") from None
    finally:
        if descriptor is not None:
            os.close(descriptor)
    recent.append(process.pid)
    output, errors = await process.communicate()
    if process.returncode:
        complaint = errors.decode(errors="replace").strip() or output.decode(errors="replace").strip()
        raise CommandError(f"{' '.join(command)}: {complaint[-2000:]}")
    return output.decode(errors="replace")
