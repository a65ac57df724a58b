"""The environment variables of a container: a pure function of what was fetched for it."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from pybernetes.api.resource import Object
from pybernetes.node.kubelet.containers import downward_api
from pybernetes.node.kubelet.containers.environment_files import EnvironmentFiles
from pybernetes.node.kubelet.containers.errors import ConfigError
from pybernetes.node.kubelet.containers.expansion import Room, expand


@dataclass(frozen=True, slots=True)
class EnvironmentInputs:
    """What the environment of a container may refer to. The lookups return None if there is no such object."""

    config_map: Callable[[str], Object | None]
    secret: Callable[[str], Object | None]
    services: Iterable[Object] = ()
    addresses: tuple[str, ...] = ()
    host: tuple[str, ...] = ()
    allocatable: Mapping[str, str] = field(default_factory=dict)
    volumes: Mapping[str, str] = field(default_factory=dict)  # volume name → path on the host


def environment(pod: Object, container: Object, inputs: EnvironmentInputs) -> dict[str, str]:
    """Return names and values in the order of the definition, those of services last.

    Raise ConfigError if something is missing, TooLong if they are longer than any program can have them.
    """
    services = service_variables(
        inputs.services, pod["metadata"]["namespace"], pod["spec"].get("enableServiceLinks", True)
    )
    variables: dict[str, str] = {}
    room = Room()
    files = EnvironmentFiles(inputs.volumes, room)
    for source in container.get("envFrom", ()):
        taken = _from_all(source, inputs, pod)
        room.take(*taken, *taken.values())
        variables.update(taken)
    for variable in container.get("env", ()):
        value: str | None = ""
        if variable.get("value"):
            value = expand(variable["value"], variables, services)
        elif variable.get("valueFrom"):
            value = _value(pod, container, variable["valueFrom"], inputs, files)
        if value is not None:
            room.take(variable["name"], value)
            variables[variable["name"]] = value
    return {**variables, **{name: value for name, value in services.items() if name not in variables}}


def _from_all(source: Object, inputs: EnvironmentInputs, pod: Object) -> dict[str, str]:
    prefix = source.get("prefix", "")
    if "configMapRef" in source:
        data = _look(inputs.config_map, "configmap", source["configMapRef"], pod)
        return {prefix + key: value for key, value in (data or {}).get("data", {}).items()}
    data = _look(inputs.secret, "secret", source.get("secretRef") or {}, pod)
    return {prefix + key: _decoded(value) for key, value in (data or {}).get("data", {}).items()}


def _look(find: Callable[[str], Object | None], what: str, reference: Object, pod: Object) -> Object | None:
    name = reference.get("name", "")
    obj = find(name)
    if obj is None and not reference.get("optional"):
        raise ConfigError(f'{what} "{name}" not found')
    return obj


def _decoded(value: str) -> str:
    return base64.b64decode(value).decode(errors="replace")


def _value(
    pod: Object, container: Object, source: Object, inputs: EnvironmentInputs, files: EnvironmentFiles
) -> str | None:
    try:
        if "fieldRef" in source:
            return downward_api.field_value(
                pod, source["fieldRef"]["fieldPath"], inputs.addresses, inputs.host
            )
        if "resourceFieldRef" in source:
            return downward_api.resource_value(pod, source["resourceFieldRef"], container, inputs.allocatable)
    except downward_api.FieldError as error:
        raise ConfigError(str(error)) from None
    namespace = pod["metadata"]["namespace"]
    if "configMapKeyRef" in source:
        reference = source["configMapKeyRef"]
        obj = _look(inputs.config_map, "configmap", reference, pod)
        value = (obj or {}).get("data", {}).get(reference["key"])
        kind = "ConfigMap"
    elif "secretKeyRef" in source:
        reference = source["secretKeyRef"]
        obj = _look(inputs.secret, "secret", reference, pod)
        raw = (obj or {}).get("data", {}).get(reference["key"])
        value, kind = _decoded(raw) if raw is not None else None, "Secret"
    elif "fileKeyRef" in source:
        return files.value(source["fileKeyRef"])
    else:
        return ""
    if value is None and not reference.get("optional"):
        raise ConfigError(f"couldn't find key {reference['key']} in {kind} {namespace}/{reference['name']}")
    return value


def service_variables(services: Iterable[Object], namespace: str, links: bool) -> dict[str, str]:
    """Return the variables that tell a container where services are; those of the API server are always there."""
    chosen: dict[str, Object] = {}
    for service in services:
        meta = service["metadata"]
        if service["spec"].get("clusterIP") in (None, "", "None") or not service["spec"].get("ports"):
            continue
        master = meta["namespace"] == "default" and meta["name"] == "kubernetes"
        if master:
            chosen.setdefault(meta["name"], service)
        elif links and meta["namespace"] == namespace:
            chosen[meta["name"]] = service
    variables: dict[str, str] = {}
    for name in sorted(chosen):
        variables.update(_variables_of(chosen[name]))
    return variables


def _variables_of(service: Object) -> dict[str, str]:
    address, ports = service["spec"]["clusterIP"], service["spec"]["ports"]
    prefix = _variable(service["metadata"]["name"])
    variables = {f"{prefix}_SERVICE_HOST": address, f"{prefix}_SERVICE_PORT": str(ports[0]["port"])}
    for port in ports:
        if port.get("name"):
            variables[f"{prefix}_SERVICE_PORT_{_variable(port['name'])}"] = str(port["port"])
    host = f"[{address}]" if ":" in address else address
    for index, port in enumerate(ports):
        protocol = port.get("protocol", "TCP")
        url = f"{protocol.lower()}://{host}:{port['port']}"
        if index == 0:
            variables[f"{prefix}_PORT"] = url
        name = f"{prefix}_PORT_{port['port']}_{protocol.upper()}"
        variables[name] = url
        variables[f"{name}_PROTO"] = protocol.lower()
        variables[f"{name}_PORT"] = str(port["port"])
        variables[f"{name}_ADDR"] = address
    return variables


def _variable(name: str) -> str:
    return name.replace("-", "_").upper()
