"""5.1: who may do what. Roles and bindings that Kubernetes itself makes (`system:`) are left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pybernetes.api.resource import Object
from pybernetes.tools.audit_security.check import Check, Finding, nobody
from pybernetes.tools.audit_security.cluster_inputs import OWN_NAMESPACES, ClusterInputs, name_of

_BUILT_IN = ("admin", "cluster-admin", "edit", "view")
_BOOTSTRAP = "kubernetes.io/bootstrapping"
_READ = ("get", "list", "watch")


def roles(inputs: ClusterInputs) -> Iterator[Object]:
    """Yield the roles that users of the cluster made."""
    for plural in ("clusterroles", "roles"):
        for role in inputs.objects.get(plural, ()):
            meta = role["metadata"]
            if not (
                meta["name"].startswith("system:")
                or meta["name"] in _BUILT_IN
                or _BOOTSTRAP in meta.get("labels", {})
            ):
                yield role


def grants(rule: Object, verbs: tuple[str, ...], group: str, resource: str) -> bool:
    """Return whether a rule gives one of the verbs on a resource."""

    def covers(values: list[str], wanted: tuple[str, ...]) -> bool:
        return "*" in values or any(value in wanted for value in values)

    resources = (resource, f"*/{resource.partition('/')[2]}") if "/" in resource else (resource,)
    return (
        covers(rule.get("verbs", []), verbs)
        and covers(rule.get("apiGroups", []), (group,))
        and covers(rule.get("resources", []), resources)
    )


def _roles_with(what: str, *wanted: tuple[tuple[str, ...], str, str]) -> Callable[[ClusterInputs], Finding]:
    def examine(inputs: ClusterInputs) -> Finding:
        return nobody(
            (
                name_of(role)
                for role in roles(inputs)
                for rule in role.get("rules") or ()
                if any(grants(rule, *right) for right in wanted)
            ),
            what,
        )

    return examine


def _administrators(inputs: ClusterInputs) -> Finding:
    bindings = [*inputs.objects.get("clusterrolebindings", ()), *inputs.objects.get("rolebindings", ())]
    return nobody(
        (
            name_of(binding)
            for binding in bindings
            if binding["roleRef"]["name"] == "cluster-admin"
            and _BOOTSTRAP not in binding["metadata"].get("labels", {})
        ),
        "cluster-admin is given by",
    )


def _wildcards(inputs: ClusterInputs) -> Finding:
    return nobody(
        (
            name_of(role)
            for role in roles(inputs)
            for rule in role.get("rules") or ()
            if "*" in rule.get("verbs", []) or "*" in rule.get("resources", [])
        ),
        "wildcards in",
    )


def _default_accounts(inputs: ClusterInputs) -> Finding:
    bound = (
        f"{subject.get('namespace', '')}/default"
        for plural in ("clusterrolebindings", "rolebindings")
        for binding in inputs.objects.get(plural, ())
        for subject in binding.get("subjects") or ()
        if subject.get("kind") == "ServiceAccount" and subject.get("name") == "default"
    )
    return nobody(bound, "rights for")


def _mounted_tokens(inputs: ClusterInputs) -> Finding:
    accounts = {
        name_of(account): account.get("automountServiceAccountToken")
        for account in inputs.objects.get("serviceaccounts", ())
    }

    def mounts(pod: Object) -> bool:
        own = pod["spec"].get("automountServiceAccountToken")
        if own is not None:
            return bool(own)
        account = f"{pod['metadata']['namespace']}/{pod['spec'].get('serviceAccountName', 'default')}"
        return accounts.get(account) is not False

    return nobody((name_of(pod) for pod in inputs.pods() if mounts(pod)), "pods with a token")


def _masters(inputs: ClusterInputs) -> Finding:
    names = (
        name_of(binding)
        for plural in ("clusterrolebindings", "rolebindings")
        for binding in inputs.objects.get(plural, ())
        for subject in binding.get("subjects") or ()
        if subject.get("kind") == "Group"
        and subject.get("name") == "system:masters"
        and _BOOTSTRAP not in binding["metadata"].get("labels", {})
        and binding["metadata"].get("namespace", "") not in OWN_NAMESPACES
    )
    return nobody(names, "system:masters is named by")


_ADMISSION, _CERTIFICATES = "admissionregistration.k8s.io", "certificates.k8s.io"
CHECKS = (
    Check("5.1.1", "cluster-admin is given to nobody without need", _administrators),
    Check("5.1.2", "few may read secrets", _roles_with("secrets may be read with", (_READ, "", "secrets"))),
    Check("5.1.3", "roles have no wildcards", _wildcards),
    Check("5.1.4", "few may create pods", _roles_with("pods may be created with", (("create",), "", "pods"))),
    Check("5.1.5", "default service accounts have no rights", _default_accounts),
    Check("5.1.6", "tokens are mounted only where needed", _mounted_tokens),
    Check("5.1.7", "the group system:masters is not used", _masters),
    Check("5.1.8", "few may bind, impersonate and escalate", _roles_with(
        "given by",
        *((("bind", "escalate"), "rbac.authorization.k8s.io", kind) for kind in ("roles", "clusterroles")),
        *((("impersonate",), "", kind) for kind in ("users", "groups", "serviceaccounts")))),
    Check("5.1.9", "few may create persistent volumes", _roles_with("given by", (("create",), "", "persistentvolumes"))),
    Check("5.1.10", "few may use the proxy of nodes", _roles_with("given by", (("get", "create"), "", "nodes/proxy"))),
    Check("5.1.11", "few may approve certificates", _roles_with(
        "given by", (("update", "patch"), _CERTIFICATES, "certificatesigningrequests/approval"))),
    Check("5.1.12", "few may change webhooks", _roles_with("given by", *(
        (("create", "update", "patch"), _ADMISSION, f"{kind}webhookconfigurations") for kind in ("mutating", "validating")))),
    Check("5.1.13", "few may make service account tokens", _roles_with(
        "given by", (("create",), "", "serviceaccounts/token"))),
)  # fmt: skip
