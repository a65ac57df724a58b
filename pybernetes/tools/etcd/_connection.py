"""Where the etcd of a command is, and how it is reached."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from pybernetes.control_plane.store.drivers.etcd.client import EtcdClient

T = TypeVar("T")
DEFAULT = "127.0.0.1:2379"


def add_flags(parser: argparse.ArgumentParser, default: str | None = DEFAULT) -> None:
    """Add the flags that etcdctl has for this."""
    parser.add_argument("--endpoints", default=default, help="addresses of etcd, separated by commas")
    parser.add_argument("--cacert", help="file of the CA that signed etcd's certificate")
    parser.add_argument("--cert", help="file of the client certificate for etcd")
    parser.add_argument("--key", help="file of the client certificate's key")


def addresses(arguments: argparse.Namespace) -> list[str]:
    """Return the endpoints with their schemes."""
    secure = bool(arguments.cacert or arguments.cert)
    endpoints = [endpoint.strip() for endpoint in arguments.endpoints.split(",")]
    return [
        endpoint if "://" in endpoint else f"{'https' if secure else 'http'}://{endpoint}"
        for endpoint in endpoints
    ]


def run(arguments: argparse.Namespace, work: Callable[[EtcdClient], Awaitable[T]]) -> T:
    """Do something with a connection to etcd."""

    async def connected() -> T:
        client = EtcdClient(
            addresses(arguments), cafile=arguments.cacert, certfile=arguments.cert, keyfile=arguments.key
        )
        try:
            return await work(client)
        finally:
            await client.close()

    return asyncio.run(connected())
