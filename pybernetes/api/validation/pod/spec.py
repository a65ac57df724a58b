"""Checks of a whole PodSpec."""

from __future__ import annotations

from typing import Any

from pybernetes.api.field import Errors, Path
from pybernetes.api.validation import meta, names

Fields = dict[str, Any]


def validate_pod_template(template: Fields, path: Path, errors: Errors) -> None:
    """Checks a PodTemplateSpec, defaults applied."""
    metadata, spec = template.get("metadata", {}), template.get("spec", {})
    if "labels" in metadata:
        meta.labels(metadata["labels"], path / "labels", errors)
    if "annotations" in metadata:
        meta.annotations(metadata["annotations"], path / "annotations", errors)
    validate_pod_spec(spec, None, path / "spec", errors)
    if spec.get("ephemeralContainers"):
        errors.forbidden(
            path / "spec" / "ephemeralContainers", "ephemeral containers not allowed in pod template"
        )


def validate_pod_spec(spec: Fields, metadata: Fields | None, path: Path, errors: Errors) -> None:
    """Checks a PodSpec, defaults applied; a template has no metadata of the pod."""
    containers = spec.get("containers")
    if not containers:
        errors.required(path / "containers")
    for index, container in enumerate(containers or ()):
        here = (path / "containers")[index]
        if not container.get("name"):
            errors.required(here / "name")
        else:
            for problem in names.dns_label(container["name"]):
                errors.invalid(here / "name", container["name"], problem)
        if not container.get("image"):
            errors.required(here / "image")
