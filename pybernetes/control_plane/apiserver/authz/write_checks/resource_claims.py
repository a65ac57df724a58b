"""Devices: who may allocate a claim, who may report on its devices, and where claims may ask for admin access."""

from __future__ import annotations

from typing import Any

from pybernetes.api import errors
from pybernetes.api.dynamic_resources import GROUP
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.control_plane.apiserver.authn.user import User
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.forbidden import forbidden
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.request_info import RequestInfo
from pybernetes.control_plane.apiserver.storage.write_check import WriteCheck

_LABEL = "resource.kubernetes.io/admin-access"
_NODE_NAME = "authentication.kubernetes.io/node-name"
_ADMIN = f"admin access to devices requires the `{_LABEL}: true` label on the containing namespace"


def write_checks(context: ServerContext) -> dict[tuple[str, str], WriteCheck]:
    """Return the checks of claims and of their templates."""
    claims = Claims(context)
    return {
        (GROUP, "resourceclaims"): WriteCheck(after=claims.claim),
        (GROUP, "resourceclaimtemplates"): WriteCheck(after=claims.template),
    }


class Claims:
    """Looks at what a write of a claim changes."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context

    async def claim(self, request: Request, new: Object, old: Object | None) -> None:
        """Refuse admin access outside of its namespaces, and changes of the status without the permission for them."""
        problems = Errors()
        if old is None:
            self._requests(new.get("spec", {}), request, problems)
        elif request.request_info.subresource == "status":
            await self._status(request, new.get("status", {}), old.get("status", {}), problems)
        _refuse("ResourceClaim", new, problems)

    async def template(self, request: Request, new: Object, old: Object | None) -> None:
        """Refuse templates of claims with admin access outside of its namespaces."""
        problems = Errors()
        if old is None:
            self._requests(new.get("spec", {}).get("spec", {}), request, problems)
        _refuse("ResourceClaimTemplate", new, problems)

    def _requests(self, spec: dict[str, Any], request: Request, problems: Errors) -> None:
        for index, wanted in enumerate(spec.get("devices", {}).get("requests", ())):
            if wanted.get("exactly", {}).get("adminAccess"):
                path = (Path("spec") / "devices" / "requests")[index] / "adminAccess"
                self._admin(request, path, problems)
                return

    def _admin(self, request: Request, path: Path, problems: Errors) -> None:
        namespaces = self._context.kinds.find("", "namespaces")
        record = self._context.store.get(namespaces.key("", request.request_info.namespace))
        if record is None or namespaces.labels(record).get(_LABEL) != "true":
            problems.forbidden(path, _ADMIN)

    async def _status(self, request: Request, new: Object, old: Object, problems: Errors) -> None:
        results = new.get("allocation", {}).get("devices", {}).get("results", ())
        granted = old.get("allocation", {}).get("devices", {}).get("results", ())
        admin = next((index for index, result in enumerate(results) if result.get("adminAccess")), None)
        if admin is not None and not any(result.get("adminAccess") for result in granted):
            path = (Path("status") / "allocation" / "devices" / "results")[admin] / "adminAccess"
            self._admin(request, path, problems)
        verb = request.request_info.verb
        if any(new.get(part) != old.get(part) for part in ("allocation", "reservedFor")):
            question = request.request_info._replace(subresource="binding", namespace="", name="")
            why = await self._denied(request.user, question)
            if why:
                text = "changing status.allocation or status.reservedFor requires"
                problems.forbidden(
                    Path("status") / "allocation",
                    f'{text} resource="resourceclaims/binding", verb="{verb}" permission: {why}',
                )
        if "allocation" in new:
            await self._devices(request, new, old, problems)

    async def _devices(self, request: Request, new: Object, old: Object, problems: Errors) -> None:
        verbs = [f"arbitrary-node:{request.request_info.verb}"]
        if is_on_node(request.user, node_of(new["allocation"])):
            verbs.insert(0, f"associated-node:{request.request_info.verb}")
        for driver in sorted(changed_drivers(new, old)):
            reasons = []
            for verb in verbs:
                why = await self._denied(
                    request.user, request.request_info._replace(verb=verb, subresource="driver", name=driver)
                )
                if not why:
                    break
                reasons.append(why)
            else:
                problems.forbidden(
                    Path("status") / "devices",
                    'changing status.devices requires resource="resourceclaims/driver", '
                    f'verb="[{" ".join(verbs)}]" permission: {reasons[0]}',
                )

    async def _denied(self, user: User, question: RequestInfo) -> str:
        verdict = await self._context.authorize(user, question)
        return "" if verdict.allowed else forbidden(user, question, verdict.reason).message


def _refuse(kind: str, obj: Object, problems: Errors) -> None:
    if problems:
        raise errors.invalid(GROUP, kind, obj["metadata"].get("name", ""), problems)


def changed_drivers(new: Object, old: Object) -> set[str]:
    """Return the drivers whose devices were added, changed or removed in a claim's status."""

    def devices(status: Object) -> dict[tuple[str, ...], Object]:
        parts = ("driver", "pool", "device", "shareID")
        return {tuple(device.get(part, "") for part in parts): device for device in status.get("devices", ())}

    before, after = devices(old), devices(new)
    return {key[0] for key in before.keys() | after.keys() if before.get(key) != after.get(key)}


def node_of(allocation: Object) -> str:
    """Return the one node that an allocation is for, or an empty string."""
    terms = allocation.get("nodeSelector", {}).get("nodeSelectorTerms", ())
    if len(terms) != 1 or terms[0].get("matchExpressions") or len(terms[0].get("matchFields", ())) != 1:
        return ""
    field = terms[0]["matchFields"][0]
    values = field.get("values", ())
    named = field.get("key") == "metadata.name" and field.get("operator") == "In" and len(values) == 1
    return values[0] if named else ""


def is_on_node(user: User, node: str) -> bool:
    """Return whether a user is a service account whose token is bound to the node."""
    return (
        bool(node)
        and user.name.startswith("system:serviceaccount:")
        and tuple(user.extra.get(_NODE_NAME, ())) == (node,)
    )
