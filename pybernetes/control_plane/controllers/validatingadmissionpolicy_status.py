"""Status of ValidatingAdmissionPolicies: expressions that do not fit the types of what they are about."""

from __future__ import annotations

from pybernetes.api import schema
from pybernetes.api.cel import typecheck
from pybernetes.api.cel.typecheck import Kind
from pybernetes.api.cel.types import Type
from pybernetes.api.registry import builtin
from pybernetes.api.resource import Object
from pybernetes.client.errors import StatusError
from pybernetes.client.refs import VALIDATING_ADMISSION_POLICIES
from pybernetes.control_plane.controllers._controller_manager.descriptor import Descriptor
from pybernetes.lib.event_loop import off_loop
from pybernetes.runtime.controller import Controller

NAME = "validatingadmissionpolicy-status-controller"
_GVK = "x-kubernetes-group-version-kind"


class Types:
    """The kinds and types that a policy names: built-in ones are known, others are asked for."""

    def __init__(self) -> None:
        self._kinds = {
            (resource.group, resource.version, resource.plural): Kind(
                resource.group, resource.version, resource.kind
            )
            for resource in builtin()
        }
        self._types: dict[Kind, Type | None] = {}

    def unknown(self, spec: Object) -> list[tuple[str, str]]:
        """Return the groups and versions of a policy that are not known yet."""
        wanted = []
        if "paramKind" in spec:
            group, _, version = spec["paramKind"]["apiVersion"].rpartition("/")
            wanted.append((group, version))
        for rule in spec.get("matchConstraints", {}).get("resourceRules", ()):
            wanted += [
                (group, version)
                for group in rule.get("apiGroups", ())
                for version in rule.get("apiVersions", ())
            ]
        known = {key[:2] for key in self._kinds}
        return [pair for pair in dict.fromkeys(wanted) if pair not in known and "*" not in pair]

    def add(self, group: str, version: str, resources: Object, document: Object) -> None:
        """Add the OpenAPI document of a group and version."""
        for resource in resources.get("resources", ()):
            if "/" not in resource["name"]:
                self._kinds[group, version, resource["name"]] = Kind(group, version, resource["kind"])
        for type_schema in document.get("components", {}).get("schemas", {}).values():
            for gvk in type_schema.get(_GVK, ()):
                kind = Kind(gvk["group"], gvk["version"], gvk["kind"])
                if kind[:2] == (group, version):
                    self._types[kind] = typecheck.of_schema(type_schema)

    def kinds_of(self, group: str, version: str, resource: str) -> list[Kind]:
        """Return the kind of a resource, if it is known."""
        kinds = self._kinds.get((group, version, resource))
        return [] if kinds is None else [kinds]

    def type_of(self, kind: Kind) -> Type | None:
        """Return the type of a kind, if it is known."""
        if kind in self._types:
            return self._types[kind]
        try:
            return typecheck.of_type(schema.kind_type(*kind))
        except KeyError:
            return None


class ValidatingAdmissionPolicyStatusController(Controller):
    """Works on names of policies."""

    name = NAME
    kind = VALIDATING_ADMISSION_POLICIES

    def concerns(self, old: Object | None, new: Object | None) -> bool:
        return new is not None and not _is_done(new)

    async def reconcile(self, key: str) -> None:
        """Check the expressions of a policy once for each of its generations."""
        policy = self.objects.get(key)
        if policy is None or _is_done(policy):
            return
        known = Types()
        for group, version in known.unknown(policy["spec"]):
            await self._ask(known, group, version)
        checked: Object = {}
        # A tenth of a millisecond for each expression and kind, of which there can be thousands.
        warnings = await off_loop.beside(typecheck.warnings, policy, known.kinds_of, known.type_of)
        if warnings:
            checked["expressionWarnings"] = warnings
        status = {"observedGeneration": policy["metadata"].get("generation", 0), "typeChecking": checked}
        wanted = {"metadata": {"name": key}, "status": status}
        await self.client.apply(
            VALIDATING_ADMISSION_POLICIES, wanted, manager=NAME, force=True, subresource="status"
        )

    async def _ask(self, known: Types, group: str, version: str) -> None:
        where = f"apis/{group}/{version}" if group else f"api/{version}"
        try:
            resources = await self.client.call("GET", f"/{where}")
            document = await self.client.call("GET", f"/openapi/v3/{where}")
        except StatusError:
            return  # what nobody serves cannot be checked
        known.add(group, version, resources, document)


def _is_done(policy: Object) -> bool:
    observed = (policy.get("status") or {}).get("observedGeneration", 0)
    return bool(policy["metadata"].get("generation", 0) <= observed)


CONTROLLER = Descriptor(
    name=NAME,
    aliases=(),
    identity=NAME,
    build=lambda runtime, options: ValidatingAdmissionPolicyStatusController(runtime),
)
