"""Waits until a new namespace can hold pods."""

from __future__ import annotations

import asyncio

from pybernetes.client.client import Client
from pybernetes.client.errors import NotFound
from pybernetes.client.refs import SERVICE_ACCOUNTS


async def default_service_account(client: Client, namespace: str, seconds: float = 30) -> None:
    """Wait for the service account that pods of a namespace need."""
    async with asyncio.timeout(seconds):
        while True:
            try:
                await client.get(SERVICE_ACCOUNTS, "default", namespace)
                return
            except NotFound:
                await asyncio.sleep(0.02)
