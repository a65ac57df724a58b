"""Whether the service behind an APIService can be asked at all, and how that is told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from pybernetes.api.resource import Object
from pybernetes.api.text import go_format

AVAILABLE = "Available"


class Verdict(NamedTuple):
    """The condition without its time."""

    status: str
    reason: str
    message: str


PASSED = Verdict("True", "Passed", "all checks passed")


def check(api_service: Object, service: Object | None, slices: Sequence[Object]) -> Verdict | None:
    """Return what is missing for the service to be asked, or None if nothing is."""
    wanted = api_service["spec"]["service"]
    name = f"service/{wanted['name']} in {go_format.quote(wanted['namespace'])}"
    if service is None:
        return Verdict("False", "ServiceNotFound", f"{name} is not present")
    if service["spec"].get("type", "ClusterIP") != "ClusterIP":
        return None
    names = [
        port.get("name", "") for port in service["spec"].get("ports", ()) if port["port"] == wanted["port"]
    ]
    if not names:
        return Verdict("False", "ServicePortError", f"{name} is not listening on port {wanted['port']}")
    if not slices:
        return Verdict("False", "EndpointsNotFound", f"cannot find endpointslices for {name}")
    if not any(_serves(piece, names[0]) for piece in slices):
        text = f"endpointslices for {name} have no addresses with port name {go_format.quote(names[0])}"
        return Verdict("False", "MissingEndpoints", text)
    return None


def _serves(piece: Object, port_name: str) -> bool:
    names = [port.get("name", "") for port in piece.get("ports") or ()]
    return port_name in names and any(
        endpoint.get("addresses") and endpoint.get("conditions", {}).get("ready", True)
        for endpoint in piece.get("endpoints") or ()
    )


def is_available(api_service: Object) -> bool:
    """Return whether requests may be passed on."""
    conditions = api_service.get("status", {}).get("conditions", ())
    return any(condition["type"] == AVAILABLE and condition["status"] == "True" for condition in conditions)


def with_verdict(api_service: Object, verdict: Verdict, now: str) -> Object | None:
    """Return the object with its condition brought up to date, or None if it says so already."""
    conditions: list[dict[str, Any]] = list(api_service.get("status", {}).get("conditions", ()))
    old = next((condition for condition in conditions if condition["type"] == AVAILABLE), None)
    if old is not None and Verdict(old["status"], old.get("reason", ""), old.get("message", "")) == verdict:
        return None
    since = old["lastTransitionTime"] if old is not None and old["status"] == verdict.status else now
    new = {"type": AVAILABLE, "status": verdict.status, "lastTransitionTime": since,
           "reason": verdict.reason, "message": verdict.message}  # fmt: skip
    if old is None:
        kept = [*conditions, new]
    else:
        kept = [new if condition is old else condition for condition in conditions]
    return {**api_service, "status": {**api_service.get("status", {}), "conditions": kept}}
