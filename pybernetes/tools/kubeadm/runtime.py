"""The container runtime of this machine, over CRI."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from pybernetes.node.kubelet.cri.client import CriClient, CriError
from pybernetes.tools.kubeadm.errors import KubeadmError

Result = TypeVar("Result")
_SECONDS = 10.0
_TRIES = 5


async def _with(socket: str, work: Callable[[CriClient], Awaitable[Result]]) -> Result:
    client = CriClient(socket)
    try:
        async with asyncio.timeout(_SECONDS):
            await client.version()
        return await work(client)
    except TimeoutError:
        raise KubeadmError(f'the container runtime at "{socket}" does not answer') from None
    except CriError as error:
        raise KubeadmError(f'validate CRI v1 runtime API for endpoint "{socket}": {error}') from None
    finally:
        await client.close()


async def check(socket: str) -> None:
    """Ask the runtime whether it is there; KubeadmError if not."""

    async def nothing(client: CriClient) -> None:
        return None

    await _with(socket, nothing)


async def knows_runtime_config(socket: str) -> bool:
    """Return whether the runtime tells how it manages control groups; KubeadmError if it is not there."""

    async def ask(client: CriClient) -> bool:
        try:
            await client.runtime_config()
        except CriError as error:
            if error.code != "UNIMPLEMENTED":
                raise
            return False
        return True

    return await _with(socket, ask)


async def pull(socket: str, images: Iterable[str], *, always: bool = False, serial: bool = True) -> list[str]:
    """Pull images that are not there, or all, one after the other or all at once; return what went wrong."""

    async def work(client: CriClient) -> list[str]:
        if serial:
            problems = [await _pull(client, image, always) for image in images]
        else:
            problems = list(await asyncio.gather(*(_pull(client, image, always) for image in images)))
        return [problem for problem in problems if problem]

    return await _with(socket, work)


async def _pull(client: CriClient, image: str, always: bool) -> str:
    """Pull an image; return what went wrong, empty if nothing did."""
    if not always and await client.image_status(image) is not None:
        return ""
    for attempt in range(_TRIES):
        try:
            await client.pull_image(image, None, None)
            break
        except CriError as error:
            if attempt == _TRIES - 1 or "not found" in str(error) or "no such host" in str(error):
                return f"failed to pull image {image}: {error}"
        await asyncio.sleep(0.5)
    return ""


async def remove_pods(socket: str) -> int:
    """Stop and remove every pod of Kubernetes; return how many there were."""

    async def work(client: CriClient) -> int:
        sandboxes = await client.list_pod_sandboxes()
        for sandbox in sandboxes:
            await client.stop_pod_sandbox(sandbox.id)
            await client.remove_pod_sandbox(sandbox.id)
        return len(sandboxes)

    return await _with(socket, work)
