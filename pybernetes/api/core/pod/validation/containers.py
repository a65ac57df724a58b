"""Checks of containers: regular, init and ephemeral ones."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from pybernetes.api.core.pod.pod_level_resources import is_restartable
from pybernetes.api.core.pod.validation.environment import validate_env, validate_env_from
from pybernetes.api.core.pod.validation.mounts import validate_devices, validate_mounts
from pybernetes.api.core.pod.validation.probes import PROBES, validate_lifecycle, validate_probe
from pybernetes.api.core.pod.validation.resources import validate_requirements
from pybernetes.api.core.pod.validation.restarts import validate_resize_policy, validate_restart_policy
from pybernetes.api.core.pod.validation.security import validate_container_security
from pybernetes.api.field import Errors, Path
from pybernetes.api.resource import Object
from pybernetes.api.validation import checks, names

PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_MESSAGE_POLICIES = ("File", "FallbackToLogsOnError")
_PROTOCOLS = ("SCTP", "TCP", "UDP")
_NOT_FOR_EPHEMERAL = ("ports", "resources", "resizePolicy", "restartPolicy", "restartPolicyRules", *PROBES,
                      "lifecycle")  # fmt: skip


class Context(NamedTuple):
    """What the checks of a container need to know about its pod."""

    volumes: dict[str, Object]
    claims: Collection[str]
    grace: int
    restart_policy: str
    host_users: bool


def _common(container: Object, context: Context, path: Path, errors: Errors) -> None:
    """Check what all types of containers have."""
    checks.required_name(names.dns_label, container.get("name", ""), path / "name", errors)
    if not container.get("image"):
        errors.required(path / "image")
    policy = container.get("terminationMessagePolicy", "")
    if policy not in _MESSAGE_POLICIES:
        checks.required_one_of(policy, _MESSAGE_POLICIES, path / "terminationMessagePolicy", errors)
    if "ports" in container:
        _ports(container["ports"], path / "ports", errors)
    if "env" in container:
        validate_env(container["env"], path / "env", errors)
    if "envFrom" in container:
        validate_env_from(container["envFrom"], path / "envFrom", errors)
    validate_mounts(container, context.volumes, path, errors)
    validate_devices(container, context.volumes, path, errors)
    policy = container.get("imagePullPolicy", "")
    if policy not in PULL_POLICIES:
        checks.required_one_of(policy, PULL_POLICIES, path / "imagePullPolicy", errors)
    if container.get("resources"):
        validate_requirements(container["resources"], context.claims, path / "resources", errors)
    if "resizePolicy" in container:
        policies = container["resizePolicy"]
        validate_resize_policy(policies, context.restart_policy, path / "resizePolicy", errors)
    if "securityContext" in container:
        security = container["securityContext"]
        validate_container_security(security, context.host_users, path / "securityContext", errors)


def _ports(ports: list[Object], path: Path, errors: Errors) -> None:
    seen: set[str] = set()
    for index, port in enumerate(ports):
        here = path[index]
        name = port.get("name")
        if name:
            problems = names.port_name(name)
            for problem in problems:
                errors.invalid(here / "name", name, problem)
            if not problems and name in seen:
                errors.duplicate(here / "name", name)
            seen.add(name)
        number, host = port.get("containerPort", 0), port.get("hostPort", 0)
        if not number:
            errors.required(here / "containerPort")
        elif not 0 < number < 65536:
            checks.port_or_name(number, here / "containerPort", errors)
        if host and not 0 < host < 65536:
            checks.port_or_name(host, here / "hostPort", errors)
        checks.required_one_of(port.get("protocol", ""), _PROTOCOLS, here / "protocol", errors)


def _host_ports(containers: list[Object], path: Path, errors: Errors) -> None:
    """Check that no two of these containers want the same port of the node."""
    seen: set[str] = set()
    for index, container in enumerate(containers):
        for position, port in enumerate(container.get("ports", ())):
            if not port.get("hostPort"):
                continue
            key = f"{port.get('protocol', '')}/{port.get('hostIP', '')}/{port['hostPort']}"
            if key in seen:
                errors.duplicate((path[index] / "ports")[position] / "hostPort", key)
            seen.add(key)


def _lifecycle_and_probes(container: Object, grace: int, path: Path, errors: Errors) -> None:
    if "lifecycle" in container:
        validate_lifecycle(container["lifecycle"], grace, path / "lifecycle", errors)
    for key in PROBES:
        if key in container:
            validate_probe(container[key], key, grace, path / key, errors)


def validate_containers(containers: list[Object], context: Context, path: Path, errors: Errors) -> None:
    """Check the regular containers."""
    if not containers:
        errors.required(path)
        return
    seen: set[str] = set()
    for index, container in enumerate(containers):
        here = path[index]
        _common(container, context, here, errors)
        name = container.get("name", "")
        if name in seen:
            errors.duplicate(here / "name", name)
        seen.add(name)
        _lifecycle_and_probes(container, context.grace, here, errors)
        validate_restart_policy(container, here, errors)
    _host_ports(containers, path, errors)


def validate_init_containers(
    containers: list[Object], regular: list[Object], context: Context, path: Path, errors: Errors
) -> None:
    """Check the init containers, sidecars among them."""
    seen = {container.get("name", "") for container in regular}
    for index, container in enumerate(containers):
        here = path[index]
        _common(container, context, here, errors)
        validate_restart_policy(container, here, errors, is_init=True)
        name = container.get("name", "")
        if name in seen:
            errors.duplicate(here / "name", name)
        elif name:
            seen.add(name)
        # They run one after the other, so each is checked by itself; upstream counts from 0 for each.
        _host_ports([container], path, errors)
        if is_restartable(container):
            _lifecycle_and_probes(container, context.grace, here, errors)
            continue
        for key in ("lifecycle", *PROBES):
            if key in container:
                errors.forbidden(
                    here / key, "may not be set for init containers without restartPolicy=Always"
                )
        for position, policy in enumerate(container.get("resizePolicy", ())):
            if policy.get("restartPolicy") == "RestartContainer":
                text = "must not be set to 'RestartContainer' for non-sidecar initContainers"
                errors.invalid((here / "resizePolicy")[position] / "restartPolicy", "RestartContainer", text)


def validate_ephemeral_containers(spec: Object, context: Context, path: Path, errors: Errors) -> None:
    """Check the ephemeral containers, which may have far fewer fields."""
    others = {item.get("name", "") for key in ("containers", "initContainers") for item in spec.get(key, ())}
    seen = set(others)
    for index, container in enumerate(spec["ephemeralContainers"]):
        here = path[index]
        _common(container, context, here, errors)
        validate_image_spaces(container, here, errors)
        name, target = container.get("name", ""), container.get("targetContainerName")
        if name in seen:
            errors.duplicate(here / "name", name)
        seen.add(name)
        if target and target not in others:
            errors.not_found(here / "targetContainerName", target)
        for key in _NOT_FOR_EPHEMERAL:
            if container.get(key) or (key in container and key != "resources"):
                errors.forbidden(here / key, "cannot be set for an Ephemeral Container")
        for position, mount in enumerate(container.get("volumeMounts", ())):
            for key in ("subPath", "subPathExpr"):
                if mount.get(key):
                    text = "cannot be set for an Ephemeral Container"
                    errors.forbidden((here / "volumeMounts")[position] / key, text)


def validate_image_spaces(container: Object, path: Path, errors: Errors) -> None:
    """Check, in pods only, that the image has no spaces around it."""
    image = container.get("image", "")
    if image != image.strip():
        errors.invalid(path / "image", image, "must not have leading or trailing whitespace")
