"""The roles and bindings that upstream v1.37 starts with, read from the tables beside this file."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.resources import files

from pybernetes.api.rbac import GROUP
from pybernetes.api.resource import Object
from pybernetes.control_plane.apiserver.authz.verdict import Rule

AUTOUPDATE = "rbac.authorization.kubernetes.io/autoupdate"
CONTROLLER = "system:controller:"
_ALIASES = {
    "read": ("get", "list", "watch"),
    "write": ("create", "delete", "deletecollection", "patch", "update"),
    "core": ("",),
}
_EVENTS = "create update patch | core events.k8s.io | events"
_LABEL = "rbac.authorization.k8s.io/aggregate-to-"
# Roles made of others: who has the label of one of them counts as part of it.
_GATHERED = ("view", "edit", "admin")
_PART_OF = {
    "system:aggregate-to-admin": "admin",
    "system:aggregate-to-edit": "edit",
    "system:aggregate-to-view": "view",
    "edit": "admin",
    "view": "edit",
}
# Who has which cluster role; every controller has its own besides.
_CLUSTER_BINDINGS = {
    "cluster-admin": ("group system:masters",),
    "system:basic-user": ("group system:authenticated",),
    "system:cluster-trust-bundle-discovery": ("group system:serviceaccounts",),
    "system:discovery": ("group system:authenticated",),
    "system:kube-controller-manager": ("user system:kube-controller-manager",),
    "system:kube-dns": ("account kube-dns",),
    "system:kube-scheduler": ("user system:kube-scheduler",),
    "system:monitoring": ("group system:monitoring",),
    "system:node": (),  # the Node authorizer knows better; the binding is for those who go without it
    "system:node-proxier": ("user system:kube-proxy",),
    "system:public-info-viewer": ("group system:authenticated", "group system:unauthenticated"),
    "system:service-account-issuer-discovery": ("group system:serviceaccounts",),
    "system:volume-scheduler": ("user system:kube-scheduler",),
}
# The name of a binding in a namespace, the role in it, and who has it.
_BINDINGS = (
    ("kube-public", "system:controller:bootstrap-signer", "", ("account bootstrap-signer",)),
    ("kube-system", "system:controller:bootstrap-signer", "", ("account bootstrap-signer",)),
    ("kube-system", "system:controller:cloud-provider", "", ("account cloud-provider",)),
    ("kube-system", "system:controller:token-cleaner", "", ("account token-cleaner",)),
    ("kube-system", "system::extension-apiserver-authentication-reader", "extension-apiserver-authentication-reader",
     ("user system:kube-controller-manager", "user system:kube-scheduler")),
    ("kube-system", "system::leader-locking-kube-controller-manager", "",
     ("user system:kube-controller-manager", "account kube-controller-manager", "account leader-election-controller")),
    ("kube-system", "system::leader-locking-kube-scheduler", "",
     ("user system:kube-scheduler", "account kube-scheduler")),
)  # fmt: skip


@cache
def table(name: str) -> dict[str, list[Rule]]:
    """Return the rules of each role in a table."""
    roles: dict[str, list[str]] = {}
    rules: list[str] = []
    for line in files(__package__).joinpath(f"{name}.txt").read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        if not line.startswith(" "):
            rules = roles[line] = []
        elif line.startswith("     "):
            rules[-1] += " " + line.strip()
        else:
            rules.append(line.strip())
    return {name: [_rule(text) for text in texts] for name, texts in roles.items()}


def _rule(text: str) -> Rule:
    columns = [
        sorted(word for part in column.split() for word in _ALIASES.get(part, (part,)))
        for column in (_EVENTS if text == "events" else text).split("|")
    ]
    if len(columns) == 2:
        return {"verbs": columns[0], "nonResourceURLs": columns[1]}
    rule = {"verbs": columns[0], "apiGroups": columns[1], "resources": columns[2]}
    if len(columns) > 3:
        rule["resourceNames"] = columns[3]
    return rule


def node_rules() -> list[Rule]:
    """Return what every node may do, beside what is decided object by object."""
    return table("cluster_roles")["system:node"]


def objects() -> Iterator[tuple[str, Object]]:
    """Return every default role and binding, with the plural of its kind."""
    roles = dict(table("cluster_roles"))
    for name, rules in table("controllers").items():
        roles[CONTROLLER + name] = rules
    for gathered in _GATHERED:  # in an order in which the parts are there before the whole
        roles[gathered] = _gather(gathered, roles)
    for name, rules in sorted(roles.items()):
        yield "clusterroles", _cluster_role(name, rules)
    accounts = {CONTROLLER + name: (f"account {name}",) for name in table("controllers")}
    for name, subjects in sorted((_CLUSTER_BINDINGS | accounts).items()):
        yield "clusterrolebindings", _binding("", name, "ClusterRole", name, subjects)
    for place, rules in table("roles").items():
        namespace, _, name = place.partition("/")
        yield "roles", {"metadata": _metadata(name, namespace), "rules": rules}
    for namespace, name, role, subjects in _BINDINGS:
        yield "rolebindings", _binding(namespace, name, "Role", role or name, subjects)


def _gather(name: str, roles: dict[str, list[Rule]]) -> list[Rule]:
    """Return the rules of all parts, each rule once, as the controller that keeps such roles up to date does it."""
    rules: list[Rule] = []
    for part in sorted(part for part, whole in _PART_OF.items() if whole == name):
        rules += [rule for rule in roles[part] if rule not in rules]
    return rules


def _metadata(name: str, namespace: str = "") -> Object:
    metadata: Object = {"name": name}
    if namespace:
        metadata["namespace"] = namespace
    metadata["labels"] = {"kubernetes.io/bootstrapping": "rbac-defaults"}
    metadata["annotations"] = {AUTOUPDATE: "true"}
    return metadata


def _cluster_role(name: str, rules: list[Rule]) -> Object:
    role: Object = {"metadata": _metadata(name), "rules": rules}
    if name in _PART_OF:
        role["metadata"]["labels"][_LABEL + _PART_OF[name]] = "true"
    if name in _GATHERED:
        role["aggregationRule"] = {"clusterRoleSelectors": [{"matchLabels": {_LABEL + name: "true"}}]}
    return role


def _binding(namespace: str, name: str, kind: str, role: str, subjects: tuple[str, ...]) -> Object:
    binding: Object = {
        "metadata": _metadata(name, namespace),
        "roleRef": {"apiGroup": GROUP, "kind": kind, "name": role},
    }
    if subjects:
        binding["subjects"] = [_subject(*text.split()) for text in subjects]
    return binding


def _subject(kind: str, name: str) -> Object:
    if kind == "account":
        return {"kind": "ServiceAccount", "name": name, "namespace": "kube-system"}
    return {"kind": kind.capitalize(), "apiGroup": GROUP, "name": name}
