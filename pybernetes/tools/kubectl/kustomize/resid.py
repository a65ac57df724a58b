"""Names of objects: group, version and kind, and with them name and namespace."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.kustomize.schema import is_cluster_scoped

if TYPE_CHECKING:
    from typing import Any

_FIRST = [
    "Namespace",
    "ResourceQuota",
    "StorageClass",
    "CustomResourceDefinition",
    "ServiceAccount",
    "PodSecurityPolicy",
    "Role",
    "ClusterRole",
    "RoleBinding",
    "ClusterRoleBinding",
    "ConfigMap",
    "Secret",
    "Endpoints",
    "Service",
    "LimitRange",
    "PriorityClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Deployment",
    "StatefulSet",
    "CronJob",
    "PodDisruptionBudget",
]
_LAST = ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"]
NO_NAMESPACE = "_non_namespaceable_"


class Gvk:
    """Group, version and kind; for a selector, those that are not empty count."""

    __slots__ = ("group", "version", "kind")

    def __init__(self, group: str = "", version: str = "", kind: str = "") -> None:
        self.group, self.version, self.kind = group, version, kind

    @classmethod
    def of(cls, api_version: str, kind: str) -> Gvk:
        """Return what an apiVersion and a kind say."""
        group, slash, version = api_version.partition("/")
        return cls(group, version, kind) if slash else cls("", group, kind)

    @classmethod
    def from_value(cls, value: dict[str, Any]) -> Gvk:
        """Return the group, version and kind of a selector."""
        return cls(value.get("group", ""), value.get("version", ""), value.get("kind", ""))

    @property
    def api_version(self) -> str:
        """Group and version in one word."""
        return f"{self.group}/{self.version}" if self.group else self.version

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Gvk) and self.parts() == other.parts()

    def __hash__(self) -> int:
        return hash(self.parts())

    def parts(self) -> tuple[str, str, str]:
        """Return all three."""
        return self.group, self.version, self.kind

    def __str__(self) -> str:
        return f"{self.kind or '[noKind]'}.{self.version or '[noVer]'}.{self.group or '[noGrp]'}"

    def is_selected(self, selector: Gvk) -> bool:
        """Return whether all that a selector names is the same."""
        return (
            (not selector.kind or selector.kind == self.kind)
            and (not selector.version or selector.version == self.version)
            and (not selector.group or selector.group == self.group)
        )

    def order(self) -> tuple[int, str]:
        """Return the place in a list of field specifications."""
        return type_order(self.kind, _FIRST, _LAST), self.sort_text()

    def sort_text(self) -> str:
        """Return the text that kinds of one place are sorted by."""
        return f"{self.group or '~G'}_{self.version or '~V'}_{self.kind or '~K'}"


def type_order(kind: str, first: list[str], last: list[str]) -> int:
    """Return the place of a kind: before the others, among them, or after them."""
    if kind in last:
        return 1 + len(last) - 1 - last[::-1].index(kind)
    return len(first) - 1 - first[::-1].index(kind) - len(first) if kind in first else 0


def default_orders() -> tuple[list[str], list[str]]:
    """Return the kinds that come first and those that come last when nothing else is said."""
    return _FIRST, _LAST


class ResId:
    """Which object: kind, name and namespace."""

    __slots__ = ("gvk", "name", "namespace", "cluster_scoped")

    def __init__(self, gvk: Gvk, name: str = "", namespace: str = "", scope_known: bool = True) -> None:
        self.gvk, self.name, self.namespace = gvk, name, namespace
        self.cluster_scoped = scope_known and is_cluster_scoped(gvk.api_version, gvk.kind)

    @property
    def effective_namespace(self) -> str:
        """The namespace, with the default one for none."""
        return NO_NAMESPACE if self.cluster_scoped else self.namespace or "default"

    def identity(self) -> tuple[str, str, str, str, str]:
        """Return what is the same for two ids of one object."""
        return self.gvk.group, self.gvk.version, self.gvk.kind, self.name, self.effective_namespace

    def exact(self) -> tuple[str, str, str, str, str]:
        """Return what is the same for two ids that are written alike."""
        return self.gvk.group, self.gvk.version, self.gvk.kind, self.name, self.namespace

    def same(self, other: ResId) -> bool:
        """Return whether two ids mean one object."""
        return self.identity() == other.identity()

    def is_selected_by(self, selector: ResId) -> bool:
        """Return whether all that a selector names is the same."""
        return (
            (not selector.name or selector.name == self.name)
            and (not selector.namespace or selector.effective_namespace == self.effective_namespace)
            and self.gvk.is_selected(selector.gvk)
        )

    def __str__(self) -> str:
        return f"{self.gvk}/{self.name or '[noName]'}.{self.namespace or '[noNs]'}"
