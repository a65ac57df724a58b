"""Checks of a PodSpec, one file per topic; workload kinds call ``validate_pod_template``."""

from pybernetes.api.core.pod.validation.spec import validate_pod_spec, validate_pod_template

__all__ = ["validate_pod_spec", "validate_pod_template"]
