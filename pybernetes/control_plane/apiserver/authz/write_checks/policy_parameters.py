"""Who writes an admission policy must be able to read the parameters that it will read for everybody."""

from __future__ import annotations

from pybernetes.api import errors
from pybernetes.api.admissionregistration import GROUP
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.control_plane.apiserver.authn.user import MASTERS, User
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.request_info import RequestInfo
from pybernetes.control_plane.apiserver.storage.kinds import Kinds
from pybernetes.control_plane.apiserver.storage.write_check import WriteCheck


def write_checks(context: ServerContext) -> dict[tuple[str, str], WriteCheck]:
    """Return the checks of both sorts of policy and of their bindings."""
    return {
        (GROUP, "validatingadmissionpolicies"): WriteCheck(after=Parameters(context).policy),
        (GROUP, "mutatingadmissionpolicies"): WriteCheck(after=Parameters(context).policy),
        (GROUP, "validatingadmissionpolicybindings"): WriteCheck(
            after=Parameters(context, "validatingadmissionpolicies").binding
        ),
        (GROUP, "mutatingadmissionpolicybindings"): WriteCheck(
            after=Parameters(context, "mutatingadmissionpolicies").binding
        ),
    }


class Parameters:
    """Asks whether the writer may read the parameters."""

    def __init__(self, context: ServerContext, policies: str = "") -> None:
        self._context, self._policies = context, policies

    async def policy(self, request: Request, new: Object, old: Object | None) -> None:
        """Refuse a policy for a kind that its writer may not read in all namespaces."""
        kind = new.get("spec", {}).get("paramKind")
        before = old.get("spec", {}).get("paramKind") if old is not None else None
        user: User = request.user
        if kind is None or kind == before or MASTERS in user.groups:
            return
        group, version, resource, _ = resolve(self._context.kinds, kind)
        question = RequestInfo(
            "get", is_resource=True, group=group, version=version, resource=resource, namespace="*", name="*"
        )
        if not (await self._context.authorize(user, question)).allowed:
            shown = f"(kind={kind.get('kind', '')}, apiVersion={kind.get('apiVersion', '')})"
            why = f'user {show(user)} must have "get" permission on all objects of the referenced paramKind {shown}'
            raise self._forbidden(request, new, "paramKind", why)

    async def binding(self, request: Request, new: Object, old: Object | None) -> None:
        """Refuse a binding to parameters that its writer may not read."""
        spec, before = new.get("spec", {}), old.get("spec", {}) if old is not None else {}
        reference, user = spec.get("paramRef"), request.user
        same = reference == before.get("paramRef") and spec.get("policyName") == before.get("policyName")
        if reference is None or (old is not None and same) or MASTERS in user.groups:
            return
        policies = self._context.kinds.find(GROUP, self._policies)
        record = self._context.store.get(policies.key("", spec.get("policyName", "")))
        kind = policies.object(record).get("spec", {}).get("paramKind") if record is not None else None
        group, version, resource, known = (
            resolve(self._context.kinds, kind) if kind else ("*", "*", "*", True)
        )
        shown = f"&{{{kind.get('apiVersion', '')} {kind.get('kind', '')}}}" if kind else ""
        name = reference.get("name", "")
        verb = "get" if name else "list"
        question = RequestInfo(
            verb, is_resource=True, group=group, version=version, resource=resource,
            namespace=reference.get("namespace", ""), name=name,
        )  # fmt: skip
        if (await self._context.authorize(user, question)).allowed:
            return
        unknown = f'to determine minimum required permissions and user {show(user)} does not have "{verb}" permission for all groups, versions and resources'
        if record is None:
            why = f"unable to get policy {spec.get('policyName', '')} {unknown}"
        elif not known:
            why = f"unable to resolve paramKind {shown} {unknown}"
        else:
            why = f'user {show(user)} does not have "{verb}" permission on the object referenced by paramRef'
        raise self._forbidden(request, new, "paramRef", why)

    def _forbidden(self, request: Request, obj: Object, field: str, why: str) -> errors.StatusError:
        problems = Errors()
        problems.forbidden(Path("spec") / field, why)
        kind = self._context.kinds.find(GROUP, request.request_info.resource).resource.kind
        return errors.invalid(GROUP, kind, obj["metadata"].get("name", ""), problems)


def resolve(kinds: Kinds, kind: dict[str, str]) -> tuple[str, str, str, bool]:
    """Return group, version and resource of a kind, "*" for the resource if nothing is served under that name."""
    group, _, version = kind.get("apiVersion", "").rpartition("/")
    for known in kinds:
        resource = known.resource
        if (resource.group, resource.version, resource.kind) == (group, version, kind.get("kind")):
            return group, version, resource.plural, True
    return group, version, "*", False


def show(user: User) -> str:
    """Return a user as Go prints the struct."""
    extra = " ".join(f"{key}:[{' '.join(values)}]" for key, values in sorted(user.extra.items()))
    return f"&{{{user.name} {user.uid} [{' '.join(user.groups)}] map[{extra}]}}"
