"""PodTemplate: a stored template for pods."""

from __future__ import annotations

from pybernetes.api.core.pod.defaults import default_pod_template
from pybernetes.api.core.pod.validation.spec import validate_pod_template
from pybernetes.api.core.pod.validation.warnings import pod_template_warnings
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Column, Object, Resource
from pybernetes.api.table import NAME

_TEMPLATE = Path("template")


def default(obj: Object) -> None:
    """Complete the template."""
    default_pod_template(obj.setdefault("template", {}))


def validate(obj: Object, errors: Errors) -> None:
    """Check the template."""
    validate_pod_template(obj.get("template", {}), _TEMPLATE, errors)


def warnings(obj: Object, old: Object | None) -> list[str]:
    """Warn about a template that is new or changed."""
    template = obj.get("template", {})
    return (
        []
        if old is not None and old.get("template") == template
        else pod_template_warnings(template, _TEMPLATE)
    )


def _containers(obj: Object, key: str) -> str:
    containers = obj.get("template", {}).get("spec", {}).get("containers", ())
    return ",".join(container.get(key, "") for container in containers)


def _labels(obj: Object, now: float) -> str:
    labels = obj.get("template", {}).get("metadata", {}).get("labels", {})
    return ",".join(f"{key}={labels[key]}" for key in sorted(labels)) or "<none>"


RESOURCE = Resource(
    group="",
    version="v1",
    kind="PodTemplate",
    plural="podtemplates",
    generation=True,
    columns=(
        NAME,
        Column(
            "Containers",
            lambda obj, now: _containers(obj, "name"),
            description="The names of the containers.",
        ),
        Column(
            "Images", lambda obj, now: _containers(obj, "image"), description="The images of the containers."
        ),
        Column("Pod Labels", _labels, description="The labels of the pods."),
    ),
    default=default,
    validate=validate,
    warnings=warnings,
)
