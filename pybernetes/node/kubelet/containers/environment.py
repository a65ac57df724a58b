"""The environment variables of a container: a pure function of what was fetched for it."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pybernetes.node.kubelet.containers import downward_api
from pybernetes.node.kubelet.containers.expansion import expand

Fields = dict[str, Any]


class ConfigError(Exception):
    """A container cannot be made from its definition: CreateContainerConfigError."""


@dataclass(frozen=True, slots=True)
class EnvironmentInputs:
    """What a container may refer to. The lookups give None if there is no such object."""

    config_map: Callable[[str], Fields | None]
    secret: Callable[[str], Fields | None]
    services: Iterable[Fields] = ()
    addresses: tuple[str, ...] = ()
    host: tuple[str, ...] = ()
    allocatable: Mapping[str, str] = field(default_factory=dict)
    volumes: Mapping[str, str] = field(default_factory=dict)  # volume name → path on the host


def environment(pod: Fields, container: Fields, around: EnvironmentInputs) -> dict[str, str]:
    """Names and values, in the order of the definition, the services' last."""
    services = service_variables(
        around.services, pod["metadata"]["namespace"], pod["spec"].get("enableServiceLinks", True)
    )
    found: dict[str, str] = {}
    for source in container.get("envFrom", ()):
        found.update(_from_all(source, around, pod))
    for variable in container.get("env", ()):
        if variable.get("value"):
            found[variable["name"]] = expand(variable["value"], found, services)
        elif variable.get("valueFrom"):
            value = _value(pod, container, variable["valueFrom"], around)
            if value is not None:
                found[variable["name"]] = value
        else:
            found[variable["name"]] = ""
    return {**found, **{name: value for name, value in services.items() if name not in found}}


def _from_all(source: Fields, around: EnvironmentInputs, pod: Fields) -> dict[str, str]:
    prefix = source.get("prefix", "")
    if "configMapRef" in source:
        data = _look(around.config_map, "configmap", source["configMapRef"], pod)
        return {prefix + key: value for key, value in (data or {}).get("data", {}).items()}
    data = _look(around.secret, "secret", source.get("secretRef") or {}, pod)
    return {prefix + key: _decoded(value) for key, value in (data or {}).get("data", {}).items()}


def _look(find: Callable[[str], Fields | None], what: str, reference: Fields, pod: Fields) -> Fields | None:
    name = reference.get("name", "")
    obj = find(name)
    if obj is None and not reference.get("optional"):
        raise ConfigError(f'{what} "{name}" not found')
    return obj


def _decoded(value: str) -> str:
    return base64.b64decode(value).decode(errors="replace")


def _value(pod: Fields, container: Fields, source: Fields, around: EnvironmentInputs) -> str | None:
    try:
        if "fieldRef" in source:
            return downward_api.field_value(
                pod, source["fieldRef"]["fieldPath"], around.addresses, around.host
            )
        if "resourceFieldRef" in source:
            return downward_api.resource_value(pod, source["resourceFieldRef"], container, around.allocatable)
    except downward_api.FieldError as error:
        raise ConfigError(str(error)) from None
    namespace = pod["metadata"]["namespace"]
    if "configMapKeyRef" in source:
        reference = source["configMapKeyRef"]
        obj = _look(around.config_map, "configmap", reference, pod)
        value = (obj or {}).get("data", {}).get(reference["key"])
        kind = "ConfigMap"
    elif "secretKeyRef" in source:
        reference = source["secretKeyRef"]
        obj = _look(around.secret, "secret", reference, pod)
        raw = (obj or {}).get("data", {}).get(reference["key"])
        value, kind = _decoded(raw) if raw is not None else None, "Secret"
    elif "fileKeyRef" in source:
        return _file_key(source["fileKeyRef"], around)
    else:
        return ""
    if value is None and not reference.get("optional"):
        raise ConfigError(f"couldn't find key {reference['key']} in {kind} {namespace}/{reference['name']}")
    return value


def _file_key(reference: Fields, around: EnvironmentInputs) -> str | None:
    """A variable that a container before this one left in a file of a volume."""
    from pybernetes.node.kubelet.volumes.safe_paths import read_below

    volume = around.volumes.get(reference["volumeName"])
    if volume is None:
        raise ConfigError(f'cannot find the volume "{reference["volumeName"]}" referenced by FileKeyRef')
    try:
        text = read_below(volume, reference["path"])
    except OSError:
        text = ""
    for line in text.splitlines():
        name, separator, value = line.strip().partition("=")
        if separator and name.removeprefix("export ").strip() == reference["key"]:
            return value.strip().strip("'\"")
    if reference.get("optional"):
        return None
    raise ConfigError(
        f'environment variable key "{reference["key"]}" not found in file "{reference["path"]}"'
    )


def service_variables(services: Iterable[Fields], namespace: str, links: bool) -> dict[str, str]:
    """What tells a container where services are; that of the API server is always there."""
    chosen: dict[str, Fields] = {}
    for service in services:
        meta = service["metadata"]
        if service["spec"].get("clusterIP") in (None, "", "None") or not service["spec"].get("ports"):
            continue
        master = meta["namespace"] == "default" and meta["name"] == "kubernetes"
        if master:
            chosen.setdefault(meta["name"], service)
        elif links and meta["namespace"] == namespace:
            chosen[meta["name"]] = service
    found: dict[str, str] = {}
    for name in sorted(chosen):
        found.update(_variables_of(chosen[name]))
    return found


def _variables_of(service: Fields) -> dict[str, str]:
    address, ports = service["spec"]["clusterIP"], service["spec"]["ports"]
    prefix = _variable(service["metadata"]["name"])
    found = {f"{prefix}_SERVICE_HOST": address, f"{prefix}_SERVICE_PORT": str(ports[0]["port"])}
    for port in ports:
        if port.get("name"):
            found[f"{prefix}_SERVICE_PORT_{_variable(port['name'])}"] = str(port["port"])
    host = f"[{address}]" if ":" in address else address
    for index, port in enumerate(ports):
        protocol = port.get("protocol", "TCP")
        url = f"{protocol.lower()}://{host}:{port['port']}"
        if index == 0:
            found[f"{prefix}_PORT"] = url
        name = f"{prefix}_PORT_{port['port']}_{protocol.upper()}"
        found[name] = url
        found[f"{name}_PROTO"] = protocol.lower()
        found[f"{name}_PORT"] = str(port["port"])
        found[f"{name}_ADDR"] = address
    return found


def _variable(name: str) -> str:
    return name.replace("-", "_").upper()
