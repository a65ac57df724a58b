"""Much work at once: what it takes of a server's memory, and what is left of it afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

from bench.harness.machine import resident_megabytes
from pybernetes.client import kubeconfig, refs
from pybernetes.client.client import Client

_NAMESPACE = "burst"
_AT_ONCE = 16
_LISTS = 20
# By then history is let go, twice: what was seen at the first time goes at the second.
_REST_SECONDS = 15.0


async def run(path: Path, pid: int, pods: int) -> dict[str, float]:
    """Make pods, list and delete them; return the resident memory of a process along the way."""
    megabytes = {"at the beginning": resident_megabytes(pid)}
    async with kubeconfig.load(path).client(user_agent="burst") as client:
        await client.create(refs.NAMESPACES, {"metadata": {"name": _NAMESPACE}})
        numbers = iter(range(pods))
        await asyncio.gather(*(_make(client, numbers) for _ in range(_AT_ONCE)))
        megabytes[f"with {pods} pods"] = resident_megabytes(pid)
        for number in range(_LISTS):  # each another list: with a selector nothing is shared
            await client.list_page(refs.PODS, _NAMESPACE, labels=f"part notin ({number})")
        megabytes[f"after {_LISTS} lists of all"] = resident_megabytes(pid)
        await client.delete_collection(refs.PODS, _NAMESPACE)
    megabytes["when all are deleted"] = resident_megabytes(pid)
    await asyncio.sleep(_REST_SECONDS)
    megabytes["after a rest"] = resident_megabytes(pid)
    return megabytes


async def _make(client: Client, numbers: Iterator[int]) -> None:
    for number in numbers:
        spec = {
            "containers": [{"name": "web", "image": "example/web:1"}],
            "automountServiceAccountToken": False,
        }
        metadata = {"name": f"pod-{number}", "namespace": _NAMESPACE, "labels": {"part": str(number % 100)}}
        await client.create(refs.PODS, {"metadata": metadata, "spec": spec})
