"""What a FederatedTypeConfig says: which kind is federated, and as which."""

from __future__ import annotations

from dataclasses import dataclass

from pybernetes.api.resource import Object
from pybernetes.client.refs import Ref
from pybernetes.control_plane.federation.kinds import TYPES_GROUP, TYPES_VERSION

NAMESPACES = "namespaces"
_ENABLED = "Enabled"
_NAMESPACED = "Namespaced"


@dataclass(frozen=True)
class TypeConfig:
    """A kind of the members, the kind of the host that stands for it, and whether it is carried over."""

    name: str
    target: Ref
    federated: Ref
    propagates: bool = True
    collects_status: bool = False

    @property
    def is_namespace(self) -> bool:
        """Whether this is about namespaces, whose federated objects live inside of themselves."""
        return self.name == NAMESPACES


def qualified(plural: str, group: str) -> str:
    """Return the name by which a kind is known: ``plural.group``, or the plural alone."""
    return f"{plural}.{group}" if group else plural


def read(obj: Object) -> TypeConfig:
    """Return what an object says; ValueError if it makes no sense."""
    name, spec = obj["metadata"]["name"], obj.get("spec") or {}
    plural, _, group = name.partition(".")
    target = _ref(spec.get("targetType"), "targetType", plural, group)
    if name != qualified(target.plural, target.group):
        raise ValueError("name: must be 'TARGET_PLURAL_NAME(.TARGET_GROUP_NAME)'")
    federated = _ref(spec.get("federatedType"), "federatedType", "", "")
    if name == NAMESPACES:  # so that a control plane can do with the rights of one namespace
        federated = federated._replace(namespaced=True)
    elif target.namespaced != federated.namespaced:
        raise ValueError(f"spec.federatedType.scope: has to be that of {target.kind}")
    return TypeConfig(
        name, target, federated, spec.get("propagation", _ENABLED) == _ENABLED, spec.get("statusCollection") == _ENABLED
    )  # fmt: skip


def _ref(value: Object | None, field: str, plural: str, group: str) -> Ref:
    value = value or {}
    for required in ("kind", "version"):
        if not value.get(required):
            raise ValueError(f"spec.{field}.{required}: Required value")
    kind = value["kind"]
    names = value.get("pluralName") or plural or plural_of(kind)
    return Ref(value.get("group") or group, value["version"], names, kind, value.get("scope") == _NAMESPACED)


def plural_of(kind: str) -> str:
    """Return the usual plural of a kind."""
    lower = kind.lower()
    if lower.endswith(("s", "x", "ch", "sh", "z", "o")):
        return f"{lower}es"
    return f"{lower[:-1]}ies" if lower.endswith("y") else f"{lower}s"


def for_target(target: Ref, group: str = TYPES_GROUP, version: str = TYPES_VERSION) -> TypeConfig:
    """Return how a kind is federated unless somebody says otherwise."""
    name = qualified(target.plural, target.group)
    federated = Ref(group, version, f"federated{target.plural}", f"Federated{target.kind}")
    return TypeConfig(name, target, federated._replace(namespaced=target.namespaced or name == NAMESPACES))


def to_object(config: TypeConfig, namespace: str) -> Object:
    """Return the FederatedTypeConfig that says this."""

    def resource(ref: Ref) -> Object:
        group = {"group": ref.group} if ref.group else {}
        scope = _NAMESPACED if ref.namespaced else "Cluster"
        return {**group, "version": ref.version, "kind": ref.kind, "pluralName": ref.plural, "scope": scope}

    spec = {
        "targetType": resource(config.target),
        "propagation": _ENABLED if config.propagates else "Disabled",
        "federatedType": resource(config.federated),
    }
    if config.collects_status:
        spec["statusCollection"] = _ENABLED
    return {"metadata": {"name": config.name, "namespace": namespace}, "spec": spec}
