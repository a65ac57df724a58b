"""Checks of pods themselves, beyond what holds for every PodSpec."""

from __future__ import annotations

from pybernetes.api.core.pod.validation.annotations import validate_annotations, validate_profiles_match
from pybernetes.api.core.pod.validation.containers import validate_image_spaces
from pybernetes.api.core.pod.validation.spec import validate_pod_spec
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.api.validation import numbers

_SPEC = Path("spec")
_ANNOTATIONS = Path("metadata") / "annotations"


def validate_pod(pod: Object, errors: Errors) -> None:
    """Check a pod, new or changed."""
    spec, metadata = pod.get("spec", {}), pod["metadata"]
    if "annotations" in metadata:
        validate_annotations(metadata["annotations"], spec, _ANNOTATIONS, errors)
    validate_pod_spec(spec, metadata, _SPEC, errors)
    if not spec.get("serviceAccountName"):
        _no_tokens(spec, errors)
    seconds = spec.get("terminationGracePeriodSeconds", 0)
    if seconds < 0:
        numbers.nonnegative(seconds, _SPEC / "terminationGracePeriodSeconds", errors)
    for key in ("containers", "initContainers"):
        for index, container in enumerate(spec.get(key, ())):
            image = container.get("image", "")
            if image != image.strip():
                validate_image_spaces(container, (_SPEC / key)[index], errors)


def _no_tokens(spec: Object, errors: Errors) -> None:
    for index, volume in enumerate(spec.get("volumes", ())):
        for position, source in enumerate(volume.get("projected", {}).get("sources", ())):
            if "serviceAccountToken" in source:
                here = ((_SPEC / "volumes")[index] / "projected" / "sources")[
                    position
                ] / "serviceAccountToken"
                errors.forbidden(here, "must not be specified when serviceAccountName is not set")


def validate_pod_create(pod: Object, errors: Errors) -> None:
    """Check what only a new pod may not have."""
    spec = pod.get("spec", {})
    if spec.get("ephemeralContainers"):
        errors.forbidden(_SPEC / "ephemeralContainers", "cannot be set on create")
    if spec.get("nodeName") and spec.get("schedulingGates"):
        text = "cannot be set until all schedulingGates have been cleared"
        errors.forbidden(_SPEC / "nodeName", text)
    annotations = pod["metadata"].get("annotations")
    if annotations:
        validate_profiles_match(annotations, spec, _SPEC, errors)
