"""Saves etcd's own snapshot through its maintenance service."""

from __future__ import annotations

import asyncio
import hashlib
import os
from pathlib import Path

from aetcd.rpc import rpc_pb2 as rpc

from pybernetes.control_plane.store.drivers.etcd import bolt_file
from pybernetes.control_plane.store.drivers.etcd.client import EtcdClient
from pybernetes.control_plane.store.protocol import SnapshotStatus, StoreError, Unavailable
from pybernetes.lib.grpc.channel import RpcError


async def save(client: EtcdClient, path: Path) -> SnapshotStatus:
    """Stream a snapshot of the current member to a new file."""
    if path.exists():
        raise StoreError(f"{path} exists")
    await client.call(lambda endpoint: endpoint.maintenance.Status, rpc.StatusRequest())  # finds who is there
    part = path.with_name(path.name + ".part")
    try:
        with open(part, "wb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            async for piece in client.current.maintenance.Snapshot(rpc.SnapshotRequest()):
                file.write(piece.blob)
            file.flush()
            os.fsync(file.fileno())
        if part.stat().st_size % 512 != hashlib.sha256().digest_size:
            raise StoreError("etcd sent an incomplete snapshot")
        status = await asyncio.get_running_loop().run_in_executor(None, bolt_file.status, part)
        os.link(part, path)
    except RpcError as error:
        raise Unavailable(f"cannot save a snapshot of {client.current.address}: {error.details}") from None
    except FileExistsError:
        raise StoreError(f"{path} exists") from None
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror}") from error
    finally:
        part.unlink(missing_ok=True)
    return status
