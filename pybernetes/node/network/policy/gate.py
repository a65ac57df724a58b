"""Holds a new pod back until its rules are in: the socket that the last CNI plugin asks at."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import NamedTuple

import orjson

from pybernetes.node.network.policy import gate_plugin
from pybernetes.node.network.policy.objects import parse_addresses

log = logging.getLogger(__name__)
PLUGIN = "pybernetes-policy"
_LONGEST = 1 << 20
_SECONDS = 25.0  # less than the plugin waits, which is less than the kubelet does


class Request(NamedTuple):
    """A pod that is about to start."""

    key: str
    uid: str  # empty if the runtime does not tell
    addresses: tuple[str, ...]
    result: bytes  # what the plugin hands on


class Refused(Exception):
    """The pod must not start yet; the text says why."""


def parse(data: bytes) -> Request:
    """Return what the plugin asks; ValueError if it makes no sense."""
    arguments, _, configuration = data.partition(b"\n")
    values = dict(part.partition("=")[::2] for part in arguments.decode().split(";"))
    result = orjson.loads(configuration).get("prevResult")
    if not isinstance(result, dict) or not isinstance(result.get("ips"), list):
        raise ValueError("the plugins before this one gave the pod no address")
    texts = [
        str(entry.get("address")).partition("/")[0] for entry in result["ips"] if isinstance(entry, dict)
    ]
    key = f"{values.get('K8S_POD_NAMESPACE', '')}/{values.get('K8S_POD_NAME', '')}"
    return Request(key, values.get("K8S_POD_UID", ""), parse_addresses(texts), orjson.dumps(result))


class Gate:
    """The socket; ``admit`` returns when a pod may start, or raises Refused."""

    def __init__(self, admit: Callable[[Request], Awaitable[None]], path: Path | None) -> None:
        self._admit, self._path = admit, path
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        """Listen, if there is a path to listen at; only root may ask."""
        if self._path is None:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
        self._path.unlink(missing_ok=True)
        before = os.umask(0o177)
        try:
            self._server = await asyncio.start_unix_server(self._serve, str(self._path), limit=_LONGEST)
        finally:
            os.umask(before)

    async def close(self) -> None:
        """Stop listening: pods that start meanwhile wait for the next to listen."""
        if self._server is not None and self._path is not None:
            self._server.close()
            self._path.unlink(missing_ok=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_SECONDS):
                data = bytearray()
                while part := await reader.read(1 << 16):
                    data += part
                    if len(data) > _LONGEST:
                        raise Refused("the question is too long")
                request = parse(bytes(data))
                await self._admit(request)
            answer = b"+" + request.result
        except Refused as error:
            answer = f"-{error}".encode()
        except TimeoutError:
            answer = b"-the rules of the pod are not in yet"
        except Exception as error:
            log.warning("a pod's start cannot be understood: %s", error)
            answer = b"-the question cannot be understood"
        try:
            writer.write(answer)
            await writer.drain()
        except OSError:
            pass
        finally:
            writer.close()


def install(folder: Path, socket: Path) -> None:
    """Put the plugin where the runtime finds it; it asks at a socket."""
    source = Path(gate_plugin.__file__).read_text()
    text = f"#!{sys.executable} -IS\n" + source.replace(repr_of(gate_plugin.SOCKET), repr_of(str(socket)))
    path = folder / PLUGIN
    if not path.exists() or path.read_text() != text:
        temporary = folder / f".{PLUGIN}"
        temporary.write_text(text)
        temporary.chmod(0o755)
        temporary.replace(path)


def repr_of(text: str) -> str:
    """Return a text as the plugin's source has it."""
    return orjson.dumps(text).decode()
