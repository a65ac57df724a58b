"""SelfSubjectRulesReview: what may I do in this namespace? ``kubectl auth can-i --list`` asks it."""

from __future__ import annotations

from typing import Any

from pybernetes.api import errors
from pybernetes.control_plane.apiserver.authz.verdict import listed
from pybernetes.control_plane.apiserver.context import ServerContext
from pybernetes.control_plane.apiserver.request import Request
from pybernetes.control_plane.apiserver.storage.kind import Kind
from pybernetes.control_plane.apiserver.virtual_resources import _access
from pybernetes.lib.http.messages import Response

_RESOURCE = ("verbs", "apiGroups", "resources", "resourceNames")
_PATH = ("verbs", "nonResourceURLs")


async def handle(context: ServerContext, request: Request, kind: Kind) -> Response:
    """List what the authorizers can list."""
    review = await _access.read(context, request, kind)
    namespace = review.get("spec", {}).get("namespace", "")
    if not namespace:
        raise errors.bad_request("no namespace on request")
    rules = context.authorization.rules(request.user, namespace)
    status: dict[str, Any] = {
        "resourceRules": [_part(rule, _RESOURCE) for rule in rules.rules if rule.get("resources")],
        "nonResourceRules": [_part(rule, _PATH) for rule in rules.rules if rule.get("nonResourceURLs")],
        "incomplete": rules.incomplete,
    }
    if rules.problems:
        status["evaluationError"] = listed(rules.problems)
    # Upstream answers with a new object that has nothing but the status.
    answer = {"kind": kind.resource.kind, "apiVersion": kind.resource.api_version, "metadata": {}, "spec": {}}
    return _access.answer(context, request, kind, {**answer, "status": status})


def _part(rule: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: rule[name] for name in names if rule.get(name)}
