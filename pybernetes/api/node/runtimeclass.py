"""RuntimeClass: a container runtime that pods can choose."""

from __future__ import annotations

from pybernetes.api.core.pod.validation.resources import validate_requirements
from pybernetes.api.core.pod.validation.scheduling import validate_tolerations
from pybernetes.api.field import Errors, Path
from pybernetes.api.node import GROUP
from pybernetes.api.resource import Column, Object, Resource
from pybernetes.api.table import AGE, NAME
from pybernetes.api.text import go_format
from pybernetes.api.validation import checks, declarative, meta, names

_SCHEDULING = Path("scheduling")
DEPRECATED = {
    "beta.kubernetes.io/arch": 'deprecated since v1.14; use "kubernetes.io/arch" instead',
    "beta.kubernetes.io/os": 'deprecated since v1.14; use "kubernetes.io/os" instead',
    "failure-domain.beta.kubernetes.io/region": (
        'deprecated since v1.17; use "topology.kubernetes.io/region" instead'
    ),
    "failure-domain.beta.kubernetes.io/zone": (
        'deprecated since v1.17; use "topology.kubernetes.io/zone" instead'
    ),
    "beta.kubernetes.io/instance-type": (
        'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead'
    ),
    "app.kubernetes.io/created-by": "deprecated since v1.9",
    "scheduler.alpha.kubernetes.io/preferAvoidPods": (
        "deprecated since v1.22; use Taints and Tolerations instead"
    ),
    "node-role.kubernetes.io/master": 'use "node-role.kubernetes.io/control-plane" instead',
}


def _shown(toleration: Object) -> go_format.Struct:
    """Return a toleration as an error shows it."""
    texts = {name: toleration.get(name.lower(), "") for name in ("Key", "Operator", "Value", "Effect")}
    return go_format.Struct({**texts, "TolerationSeconds": toleration.get("tolerationSeconds")})


def validate(obj: Object, errors: Errors) -> None:
    """Check the handler, the overhead and where its pods may run."""
    overhead = obj.get("overhead")
    if overhead is not None:
        limits = {"limits": overhead.get("podFixed", {})}
        validate_requirements(limits, (), Path("overhead"), errors)
    scheduling = obj.get("scheduling", {})
    meta.check_labels(scheduling.get("nodeSelector", {}), _SCHEDULING / "nodeSelector", errors)
    tolerations = scheduling.get("tolerations", [])
    validate_tolerations(tolerations, _SCHEDULING / "tolerations", errors)
    fields = ("key", "operator", "value", "effect")
    for index in checks.repetitions(tuple(item.get(name, "") for name in fields) for item in tolerations):
        errors.duplicate((_SCHEDULING / "tolerations")[index], _shown(tolerations[index]))
    handler = obj.get("handler", "")
    if not handler:
        errors.required(Path("handler"))
    else:
        checks.name(names.dns_label, handler, Path("handler"), errors)


def warnings(obj: Object, old: Object | None) -> list[str]:
    """Warn about labels of nodes that are deprecated."""
    selector = obj.get("scheduling", {}).get("nodeSelector", {})
    return [f"scheduling.nodeSelector: {DEPRECATED[key]}" for key in selector if key in DEPRECATED]


def validate_update(new: Object, old: Object, errors: Errors) -> None:
    """Check that the handler stays."""
    declarative.immutable(new.get("handler", ""), old.get("handler", ""), Path("handler"), errors)


RESOURCE = Resource(
    group=GROUP,
    version="v1",
    kind="RuntimeClass",
    plural="runtimeclasses",
    namespaced=False,
    columns=(NAME, Column("Handler", lambda obj, now: obj.get("handler", "")), AGE),
    create_on_update=True,
    unconditional_update=False,
    validate=validate,
    validate_update=validate_update,
    warnings=warnings,
)
