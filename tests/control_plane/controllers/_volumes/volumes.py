"""Claims and volumes against a real API server."""

from __future__ import annotations

from typing import Any

from pybernetes.api.resource import Object
from pybernetes.client import Client
from pybernetes.control_plane.controllers import (
    ephemeral_volume,
    persistentvolume_protection,
    persistentvolumeclaim_protection,
)
from pybernetes.control_plane.controllers.garbage_collector import garbage_collector
from pybernetes.control_plane.controllers.persistentvolume_binder import persistentvolume_binder
from tests.control_plane.controllers.managers import get_or_none
from tests.support import eventually

ALL = (
    persistentvolume_binder.CONTROLLER, persistentvolume_protection.CONTROLLER,
    persistentvolumeclaim_protection.CONTROLLER, ephemeral_volume.CONTROLLER, garbage_collector.CONTROLLER,
)  # fmt: skip


def claim(name: str, size: str = "1Gi", **spec: Any) -> Object:
    wanted = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}, **spec}
    return {"metadata": {"name": name, "namespace": "default"}, "spec": wanted}


def volume(name: str, size: str = "1Gi", **spec: Any) -> Object:
    own = {
        "capacity": {"storage": size},
        "accessModes": ["ReadWriteOnce"],
        "hostPath": {"path": f"/volumes/{name}"},
        **spec,
    }
    return {"metadata": {"name": name}, "spec": own}


async def phase(client: Client, kind: Any, name: str) -> str:
    obj = await get_or_none(client.get(kind, name, "default"))
    return obj["status"].get("phase", "") if obj is not None else "gone"


async def becomes(client: Client, kind: Any, name: str, expected: str) -> None:
    async def so() -> bool:
        return await phase(client, kind, name) == expected

    await eventually(so)
