"""ComponentStatus: the health of the parts of the control plane, asked for when it is read."""

from __future__ import annotations

from pybernetes.api.resource import Column, Object, Resource
from pybernetes.api.table import NAME


def component_status(name: str, healthy: bool, message: str = "", error: str = "") -> Object:
    """Return the object that says how one component is."""
    condition = {"type": "Healthy", "status": "True" if healthy else "False"}
    if message:
        condition["message"] = message
    if error:
        condition["error"] = error
    return {
        "kind": "ComponentStatus",
        "apiVersion": "v1",
        "metadata": {"name": name},
        "conditions": [condition],
    }


def _condition(obj: Object) -> Object:
    return next(
        (condition for condition in obj.get("conditions", ()) if condition.get("type") == "Healthy"), {}
    )


def _status(obj: Object, now: float) -> str:
    condition = _condition(obj)
    if not condition:
        return "Unknown"
    return "Healthy" if condition.get("status") == "True" else "Unhealthy"


RESOURCE = Resource(
    group="",
    version="v1",
    kind="ComponentStatus",
    plural="componentstatuses",
    short_names=("cs",),
    namespaced=False,
    verbs=("get", "list"),
    columns=(
        NAME,
        Column("Status", _status),
        Column("Message", lambda obj, now: _condition(obj).get("message", "")),
        Column("Error", lambda obj, now: _condition(obj).get("error", "")),
    ),
    deprecated="v1 ComponentStatus is deprecated in v1.19+",
)
