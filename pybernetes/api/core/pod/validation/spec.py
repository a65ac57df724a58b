"""Checks of a whole PodSpec: in a pod, and in the templates of workloads."""

from __future__ import annotations

from pybernetes.api.core.pod.validation import containers, dns, scheduling
from pybernetes.api.core.pod.validation.annotations import validate_annotations, validate_profiles_match
from pybernetes.api.core.pod.validation.environment import validate_file_keys
from pybernetes.api.core.pod.validation.resources import (
    validate_pod_claims,
    validate_pod_resources,
    validate_requirements,
)
from pybernetes.api.core.pod.validation.security import validate_pod_security
from pybernetes.api.core.pod.validation.volumes import validate_volumes
from pybernetes.api.core.pod.validation.windows import (
    CONTAINER_LISTS,
    each_container,
    validate_host_process,
    validate_os,
)
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.api.validation import checks, meta, names

_RESTART_POLICIES = ("Always", "OnFailure", "Never")
_PREEMPTION_POLICIES = ("PreemptLowerPriority", "Never")
# Texts that are checked only when they are not empty.
_NAMES = (
    ("serviceAccountName", names.dns_subdomain),
    ("nodeName", names.dns_subdomain),
    ("hostname", names.dns_label),
    ("subdomain", names.dns_label),
    ("priorityClassName", names.dns_subdomain),
)
_MAX_INT32 = 2**31 - 1


def validate_pod_template(template: Object, path: Path, errors: Errors) -> None:
    """Check a PodTemplateSpec, defaults applied."""
    metadata, spec = template.get("metadata", {}), template.get("spec", {})
    if "labels" in metadata:
        meta.check_labels(metadata["labels"], path / "labels", errors)
    annotations = metadata.get("annotations")
    if annotations:
        meta.check_annotations(annotations, path / "annotations", errors)
        validate_annotations(annotations, spec, path / "annotations", errors)
    validate_pod_spec(spec, None, path / "spec", errors)
    if annotations:
        validate_profiles_match(annotations, spec, path / "spec", errors)
    if spec.get("ephemeralContainers"):
        text = "ephemeral containers not allowed in pod template"
        errors.forbidden(path / "spec" / "ephemeralContainers", text)


def validate_pod_spec(spec: Object, metadata: Object | None, path: Path, errors: Errors) -> None:
    """Check a PodSpec, defaults applied; ``metadata`` is the pod's, and absent for a template."""
    volumes: dict[str, Object] = {}
    if "volumes" in spec:
        volumes = validate_volumes(spec["volumes"], metadata, path / "volumes", errors)
    claims: set[str] = set()
    if "resourceClaims" in spec:
        claims = {claim["name"] for claim in spec["resourceClaims"] if claim.get("name")}
        validate_pod_claims(spec["resourceClaims"], metadata, path / "resourceClaims", errors)
    context = containers.Context(
        volumes, claims, spec.get("terminationGracePeriodSeconds", 0), spec.get("restartPolicy", ""),
        spec.get("hostUsers", True),
    )  # fmt: skip
    _containers(spec, context, path, errors)
    if "resources" in spec:
        validate_pod_resources(spec, claims, path / "resources", errors)
    if spec.get("hostNetwork"):
        _host_ports(spec, metadata is not None, path / "containers", errors)
    policy = spec.get("restartPolicy", "")
    if policy not in _RESTART_POLICIES:
        checks.required_one_of(policy, _RESTART_POLICIES, path / "restartPolicy", errors)
    dns.validate_dns_policy(spec, path, errors)
    if "nodeSelector" in spec:
        meta.check_labels(spec["nodeSelector"], path / "nodeSelector", errors)
    if spec.get("securityContext"):
        validate_pod_security(spec["securityContext"], spec, path / "securityContext", errors)
    if spec.get("shareProcessNamespace") and spec.get("hostPID"):
        text = "ShareProcessNamespace and HostPID cannot both be enabled"
        errors.invalid(path / "shareProcessNamespace", True, text)
    if "affinity" in spec:
        scheduling.validate_affinity(spec["affinity"], path / "affinity", errors)
    dns.validate_dns_config(spec, path, errors)
    scheduling.validate_gates(spec, path, errors)
    if "topologySpreadConstraints" in spec:
        here = path / "topologySpreadConstraints"
        scheduling.validate_topology_spread(spec["topologySpreadConstraints"], here, errors)
    validate_host_process(spec, path, errors)
    if spec.get("hostUsers") is False:
        _user_namespace(spec, path, errors)
    if "hostnameOverride" in spec:
        dns.validate_hostname_override(spec, path, errors)
    _texts(spec, path, errors)
    if "os" in spec:
        validate_os(spec, path, errors)
    _file_keys(spec, path, errors)


def _containers(spec: Object, context: containers.Context, path: Path, errors: Errors) -> None:
    regular = spec.get("containers", [])
    containers.validate_containers(regular, context, path / "containers", errors)
    if "initContainers" in spec:
        here = path / "initContainers"
        containers.validate_init_containers(spec["initContainers"], regular, context, here, errors)
    if "ephemeralContainers" in spec:
        containers.validate_ephemeral_containers(spec, context, path / "ephemeralContainers", errors)


def _host_ports(spec: Object, is_pod: bool, path: Path, errors: Errors) -> None:
    """Check that on the network of the node the port of a container is the port of the node."""
    for index, container in enumerate(spec.get("containers", ())):
        for position, port in enumerate(container.get("ports", ())):
            host = port.get("hostPort", 0)
            if (is_pod or host) and host != port.get("containerPort", 0):
                here = (path[index] / "ports")[position] / "hostPort"
                errors.invalid(here, host, "must match `containerPort` when `hostNetwork` is true")


def _user_namespace(spec: Object, path: Path, errors: Errors) -> None:
    text = "when `hostUsers` is false"
    # Upstream names two of these fields with a capital letter.
    for key, shown in (("hostNetwork", "hostNetwork"), ("hostPID", "HostPID"), ("hostIPC", "HostIPC")):
        if spec.get(key):
            errors.forbidden(path / shown, text)
    for container, here in each_container(spec, path):
        if "volumeDevices" in container:
            errors.forbidden(here / "volumeDevices", text)


def _texts(spec: Object, path: Path, errors: Errors) -> None:
    """Check the single names and numbers, and the lists that few pods have."""
    for key, check in _NAMES:
        value = spec.get(key)
        if value:
            checks.name(check, value, path / key, errors)
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is not None and not 1 <= deadline <= _MAX_INT32:
        errors.invalid(path / "activeDeadlineSeconds", deadline, checks.within(1, _MAX_INT32))
    if "tolerations" in spec:
        scheduling.validate_tolerations(spec["tolerations"], path / "tolerations", errors)
    if "hostAliases" in spec:
        dns.validate_host_aliases(spec["hostAliases"], path / "hostAliases", errors)
    if "runtimeClassName" in spec:
        checks.name(names.dns_subdomain, spec["runtimeClassName"], path / "runtimeClassName", errors)
    if "preemptionPolicy" in spec:
        policy = spec["preemptionPolicy"]
        checks.required_one_of(policy, _PREEMPTION_POLICIES, path / "preemptionPolicy", errors)
    if "overhead" in spec:
        validate_requirements({"limits": spec["overhead"]}, (), path / "overhead", errors)


def _file_keys(spec: Object, path: Path, errors: Errors) -> None:
    if not any("env" in item for key in CONTAINER_LISTS for item in spec.get(key, ())):
        return
    for container, here in each_container(spec, path):
        if "env" in container:
            validate_file_keys(container, spec.get("volumes", []), here, errors)
