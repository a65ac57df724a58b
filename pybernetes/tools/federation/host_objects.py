"""What a host cluster has for its federation: read by several verbs."""

from __future__ import annotations

from pybernetes.api.resource import Object
from pybernetes.client.client import Client
from pybernetes.client.errors import NotFound
from pybernetes.control_plane.federation import type_config
from pybernetes.control_plane.federation.kinds import CONFIG_NAME, FEDERATED_TYPE_CONFIGS, KUBEFED_CONFIGS
from pybernetes.control_plane.federation.type_config import TypeConfig
from pybernetes.tools.federation.errors import FederationError


async def is_limited(client: Client, namespace: str) -> bool:
    """Return whether the federation reaches no further than its namespace; FederationError if there is none."""
    try:
        config = await client.get(KUBEFED_CONFIGS, CONFIG_NAME, namespace)
    except NotFound:
        raise FederationError(
            f'A KubeFedConfig named "{CONFIG_NAME}" was not found in namespace "{namespace}". '
            "Is a KubeFed control plane running in this namespace?"
        ) from None
    return config["spec"]["scope"] == "Namespaced"


async def enabled_types(client: Client, namespace: str) -> list[TypeConfig]:
    """Return the kinds that are federated."""
    page = await client.list(FEDERATED_TYPE_CONFIGS, namespace)
    return [type_config.read(obj) for obj in page.items]


async def find_type(client: Client, name: str, namespace: str) -> TypeConfig | None:
    """Return how a kind is federated, if it is."""
    try:
        return type_config.read(await client.get(FEDERATED_TYPE_CONFIGS, name, namespace))
    except NotFound:
        return None


async def put(client: Client, kind: object, obj: Object) -> str:
    """Make an object be as given; return ``created``, ``updated`` or ``unchanged``."""
    meta = obj["metadata"]
    try:
        now = await client.get(kind, meta["name"], meta.get("namespace", ""))  # type: ignore[arg-type]
    except NotFound:
        await client.create(kind, obj, meta.get("namespace", ""))  # type: ignore[arg-type]
        return "created"
    new = {**now, **{name: value for name, value in obj.items() if name != "metadata"}}
    new["metadata"] = {
        **now["metadata"],
        **{name: meta[name] for name in ("labels", "annotations") if name in meta},
    }
    if new == now:
        return "unchanged"
    await client.update(kind, new)  # type: ignore[arg-type]
    return "updated"
