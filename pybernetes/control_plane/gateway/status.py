"""The statuses of classes, Gateways, routes and Ingresses, as functions of what they came to."""

from __future__ import annotations

from typing import Any

from pybernetes.api.resource import Object
from pybernetes.control_plane.gateway.conditions import Condition, merged
from pybernetes.control_plane.gateway.gateways import GatewayPlan, RouteStatus
from pybernetes.control_plane.gateway.kinds import CONTROLLER

# What the Gateway API calls the parts of it that are here.
FEATURES = (
    "GRPCRoute", "GRPCRouteNamedRouteRule", "GRPCRouteRequestHeaderModifier", "Gateway", "GatewayAddressEmpty",
    "GatewayHTTPListenerIsolation", "GatewayPort8080", "HTTPRoute", "HTTPRoute303RedirectStatusCode",
    "HTTPRoute307RedirectStatusCode", "HTTPRoute308RedirectStatusCode", "HTTPRouteBackendProtocolH2C",
    "HTTPRouteBackendProtocolWebSocket", "HTTPRouteBackendRequestHeaderModification", "HTTPRouteBackendTimeout", "HTTPRouteCORS",
    "HTTPRouteDestinationPortMatching", "HTTPRouteHostRewrite", "HTTPRouteMethodMatching", "HTTPRouteNamedRouteRule",
    "HTTPRouteParentRefPort", "HTTPRoutePathRedirect", "HTTPRoutePathRewrite", "HTTPRoutePortRedirect",
    "HTTPRouteQueryParamMatching", "HTTPRouteRequestMirror", "HTTPRouteRequestMultipleMirrors",
    "HTTPRouteRequestPercentageMirror", "HTTPRouteRequestTimeout", "HTTPRouteResponseHeaderModification",
    "HTTPRouteSchemeRedirect", "ReferenceGrant", "TLSRoute", "TLSRouteModeMixed", "TLSRouteModeTerminate",
)  # fmt: skip


def of_class(class_: Object, now: str) -> Object:
    """Return the status of a GatewayClass."""
    meta, old = class_["metadata"], class_.get("status") or {}
    bad = "parametersRef" in class_["spec"]
    wanted = (
        Condition("Accepted", False, "InvalidParameters", "spec.parametersRef: there are no parameters")
        if bad
        else Condition("Accepted", True, "Accepted", "the gateway of Pybernetes looks after it")
    )
    conditions = merged(old.get("conditions") or (), [wanted], meta.get("generation", 0), now)
    return {
        **old,
        "conditions": conditions,
        "supportedFeatures": [{"name": name} for name in sorted(FEATURES)],
    }


def of_gateway(gateway: Object, plan: GatewayPlan, addresses: list[Object], problem: str, now: str) -> Object:
    """Return the status of a Gateway; ``problem`` is what the proxy has against it."""
    meta, old = gateway["metadata"], gateway.get("status") or {}
    generation = meta.get("generation", 0)
    usable = [listener.is_usable for listener in plan.listeners]
    accepted = Condition("Accepted", True, "Accepted")
    if plan.refused:
        accepted = Condition("Accepted", False, *plan.refused)
    elif not all(usable):
        accepted = Condition(
            "Accepted", any(usable), "ListenersNotValid", "see the conditions of its listeners"
        )
    programmed = Condition("Programmed", True, "Programmed")
    if plan.refused or not any(usable):
        programmed = Condition("Programmed", False, "Invalid", accepted.message)
    elif problem:
        programmed = Condition("Programmed", False, "Pending", problem)
    elif not addresses:
        programmed = Condition(
            "Programmed", False, "AddressNotAssigned", "no load balancer has given an address yet"
        )
    before = {entry["name"]: entry for entry in old.get("listeners") or ()}
    held = (plan.refused or ("Pending", problem)) if plan.refused or problem else None
    listeners = [
        {
            "name": listener.name, "supportedKinds": listener.supported_kinds(), "attachedRoutes": listener.attached,
            "conditions": merged(
                before.get(listener.name, {}).get("conditions") or (), listener.conditions(held), generation, now
            ),
        }
        for listener in plan.listeners
    ]  # fmt: skip
    conditions = merged(old.get("conditions") or (), [accepted, programmed], generation, now)
    return {**old, "conditions": conditions, "listeners": listeners, "addresses": addresses}


def of_route(route: Object, gateway: tuple[str, str], wanted: RouteStatus | None, now: str) -> Object:
    """Return the status of a route with what is said about one Gateway; all else in it stays."""
    meta, old = route["metadata"], route.get("status") or {}

    def concerns(entry: Object) -> bool:
        parent = entry["parentRef"]
        namespace = parent.get("namespace") or meta["namespace"]
        return entry["controllerName"] == CONTROLLER and (namespace, parent["name"]) == gateway

    before = {_place(entry["parentRef"]): entry for entry in old.get("parents") or () if concerns(entry)}
    kept = [entry for entry in old.get("parents") or () if not concerns(entry)]
    made = [
        {
            "parentRef": reference, "controllerName": CONTROLLER,
            "conditions": merged(
                before.get(_place(reference), {}).get("conditions") or (), conditions, meta.get("generation", 0), now
            ),
        }
        for reference, conditions in (wanted.parents if wanted else ())
    ]  # fmt: skip
    return {**old, "parents": [*kept, *made]}


def _place(reference: Object) -> tuple[Any, ...]:
    return tuple(reference.get(field) for field in ("namespace", "name", "sectionName", "port"))


def of_ingress(ingress: Object, addresses: list[Object]) -> Object:
    """Return the status of an Ingress."""
    given = [
        {"ip": address["value"]} if address["type"] == "IPAddress" else {"hostname": address["value"]}
        for address in addresses
    ]
    return {**(ingress.get("status") or {}), "loadBalancer": {"ingress": given} if given else {}}
