"""Forwards ports of this machine to services of type LoadBalancer, by way of the API server: for whoever cannot reach their addresses."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pybernetes.api.resource import Object
from pybernetes.client import kubeconfig
from pybernetes.client.errors import StatusError
from pybernetes.client.refs import SERVICES
from pybernetes.tools.local.processes import pyb

_FIRST_FREE_FOR_ALL = 1024
_AGAIN_SECONDS = 1.0


class NothingToForward(ValueError):
    """There is no such service, or it may not be seen; the text says what there is."""


@dataclass(frozen=True, slots=True)
class Forward:
    """The ports of a service, as ``kubectl port-forward`` takes them."""

    namespace: str
    name: str
    ports: tuple[str, ...]


def forwards(services: Iterable[Object], names: Iterable[str] = (), namespace: str = "") -> list[Forward]:
    """Return what to forward: the services of these names, or all; NothingToForward if there are none.

    A port keeps its number if everybody may listen on it and no other service has it; otherwise the system chooses one.
    """
    wanted, taken, result = set(names), set[int](), []
    for service in services:
        meta, spec = service["metadata"], service["spec"]
        if spec.get("type") != "LoadBalancer" or (namespace and meta["namespace"] != namespace):
            continue
        if wanted and meta["name"] not in wanted:
            continue
        ports = []
        for port in spec.get("ports") or ():
            if port.get("protocol", "TCP") != "TCP":
                continue  # the API server forwards nothing else
            number = port["port"]
            keeps = number >= _FIRST_FREE_FOR_ALL and number not in taken
            ports.append(f"{number}:{number}" if keeps else f":{number}")
            taken.add(number)
        if ports:
            result.append(Forward(meta["namespace"], meta["name"], tuple(ports)))
    missing = wanted - {forward.name for forward in result}
    if missing or not result:
        what = ", ".join(sorted(missing)) or "any name"
        raise NothingToForward(f"there is no service of type LoadBalancer with a TCP port and {what}")
    return result


async def find(file: Path, names: Iterable[str], namespace: str) -> list[Forward]:
    """Return what to forward in a running cluster; whoever may see one namespace alone names it."""
    async with kubeconfig.load(file).client(user_agent="pyb-tunnel") as client:
        try:
            services = (await client.list(SERVICES, namespace)).items
        except StatusError as error:
            raise NothingToForward(str(error)) from None
    return forwards(services, names, namespace)


async def run(file: Path, names: Iterable[str], namespace: str, address: str) -> None:
    """Forward as the user of a kubeconfig until cancelled; one that ends, since its pod did, begins again with another."""
    forwards = await find(file, names, namespace)
    async with asyncio.TaskGroup() as group:
        for forward in forwards:
            group.create_task(_keep(file, forward, address))


async def _keep(file: Path, forward: Forward, address: str) -> None:
    command = pyb(
        "kubectl", f"--kubeconfig={file}", f"--namespace={forward.namespace}", "port-forward",
        f"--address={address}", f"service/{forward.name}", *forward.ports,
    )  # fmt: skip
    while True:
        process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
        try:
            assert process.stdout is not None
            async for line in process.stdout:  # of several services: each says whose port it speaks of
                print(
                    f"{forward.namespace}/{forward.name}: {line.decode(errors='replace').rstrip()}",
                    flush=True,
                )
            await process.wait()
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    process.terminate()
                await process.wait()
        await asyncio.sleep(_AGAIN_SECONDS)
