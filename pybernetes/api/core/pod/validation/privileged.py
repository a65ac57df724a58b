"""Privileged containers in a cluster that allows none: ``--allow-privileged=false``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from pybernetes.api.core.pod.defaults import CONTAINER_LISTS
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object, Resource

Validate = Callable[[Object, Errors], None]
_TEMPLATE = ("spec", "template", "spec")
# Where the spec of pods is in the kinds that have one.
_SPECS: dict[tuple[str, str], tuple[str, ...]] = {
    ("", "Pod"): ("spec",),
    ("", "PodTemplate"): ("template", "spec"),
    ("", "ReplicationController"): _TEMPLATE,
    ("apps", "DaemonSet"): _TEMPLATE,
    ("apps", "Deployment"): _TEMPLATE,
    ("apps", "ReplicaSet"): _TEMPLATE,
    ("apps", "StatefulSet"): _TEMPLATE,
    ("batch", "Job"): _TEMPLATE,
    ("batch", "CronJob"): ("spec", "jobTemplate", *_TEMPLATE),
}


def check_privileged(spec: Object, path: Path, errors: Errors) -> None:
    """Refuse containers that are privileged, or processes of a Windows host."""
    for group in CONTAINER_LISTS:
        for index, container in enumerate(spec.get(group) or ()):
            context = container.get("securityContext") or {}
            if context.get("privileged"):
                where = (path / group)[index] / "securityContext" / "privileged"
                errors.forbidden(where, "disallowed by cluster policy")
            if (context.get("windowsOptions") or {}).get("hostProcess"):
                errors.forbidden(path, "hostProcess containers are disallowed by cluster policy")


def without_privileged(resources: Iterable[Resource]) -> list[Resource]:
    """Return the resources with one more rule for those that have pods in them."""
    return [
        replace(resource, validate=_both(resource.validate, place))
        if (place := _SPECS.get((resource.group, resource.kind)))
        else resource
        for resource in resources
    ]


def _both(validate: Validate | None, place: tuple[str, ...]) -> Validate:
    def check(obj: Object, errors: Errors) -> None:
        if validate is not None:
            validate(obj, errors)
        spec, path = obj, Path(place[0])
        for name in place:
            spec = spec.get(name) or {}
        for name in place[1:]:
            path = path / name
        check_privileged(spec, path, errors)

    return check
