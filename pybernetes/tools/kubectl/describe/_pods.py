"""Containers, volumes, tolerations and templates, as pods and their controllers show them."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.describe._volumes import volumes
from pybernetes.tools.kubectl.describe._writer import Writer, selector_text, shown
from pybernetes.tools.kubectl.errors import quoted
from pybernetes.tools.kubectl.output.times import rfc1123z

if TYPE_CHECKING:
    from typing import Any

    from pybernetes.api.resource import Object


def containers(
    writer: Writer, title: str, listed: list[Object] | None, statuses: list[Object] | None, pod: Object | None,
    space: str = "",
) -> None:  # fmt: skip
    """Write containers with their states, if these are known."""
    known = {status["name"]: status for status in statuses or ()}
    writer.line(f"{space}{title}:{'' if listed else ' <none>'}")
    for container in listed or ():
        _container(writer, container, known.get(container["name"]), pod, space)


def _container(
    writer: Writer, container: Object, status: Object | None, pod: Object | None, space: str
) -> None:
    writer.line(f"{' ' if space else ''}{container['name']}:", 1)
    if status is not None:
        writer.field("Container ID", status.get("containerID", ""), 2)
    writer.field("Image", container.get("image", ""), 2)
    if status is not None:
        writer.field("Image ID", status.get("imageID", ""), 2)
    for title, key in (("Port", "containerPort"), ("Host Port", "hostPort")):
        text = _ports(container.get("ports") or [], key)
        writer.field(f"{title}s" if "," in text else title, text or "<none>", 2)
    profile = (container.get("securityContext") or {}).get("seccompProfile")
    if profile:
        writer.field("SeccompProfile", profile.get("type", ""), 2)
        if profile.get("type") == "Localhost":
            writer.field("LocalhostProfile", profile.get("localhostProfile", ""), 3)
    for title, key in (("Command", "command"), ("Args", "args")):
        if container.get(key):
            writer.line(f"{title}:", 2)
            for word in container[key]:
                for line in word.split("\n"):
                    writer.line(line, 3)
    if status is not None:
        _state(writer, "State", status.get("state") or {})
        if (status.get("lastState") or {}).get("terminated"):
            _state(writer, "Last State", status["lastState"])
        writer.field("Ready", "True" if status.get("ready") else "False", 2)
        writer.field("Restart Count", status.get("restartCount", 0), 2)
    resources(writer, container.get("resources"), 2)
    for title, key in (
        ("Liveness", "livenessProbe"),
        ("Readiness", "readinessProbe"),
        ("Startup", "startupProbe"),
    ):
        if container.get(key):
            writer.field(title, probe(container[key]), 2)
    if container.get("envFrom"):
        _env_from(writer, container["envFrom"])
    _env(writer, container, pod)
    _mounts(writer, container)


def _ports(ports: list[Object], key: str) -> str:
    texts = []
    for port in ports:
        text = f"{port.get(key, 0)}/{port.get('protocol', '')}"
        texts.append(f"{text} ({port['name']})" if port.get("name") else text)
    return ", ".join(texts)


def resources(writer: Writer, value: Object | None, level: int) -> None:
    """Write limits and requests."""
    for title, key in (("Limits", "limits"), ("Requests", "requests")):
        listed = (value or {}).get(key)
        if listed:
            writer.line(f"{title}:", level)
            for name in sorted(listed):
                writer.field(name, listed[name], level + 1)


def _state(writer: Writer, title: str, state: Object) -> None:
    if "running" in state:
        writer.field(title, "Running", 2)
        writer.field("Started", rfc1123z((state["running"] or {}).get("startedAt")), 3)
    elif "terminated" in state:
        ended = state["terminated"]
        writer.field(title, "Terminated", 2)
        writer.some("Reason", ended.get("reason"), 3)
        writer.some("Message", ended.get("message"), 3)
        writer.field("Exit Code", ended.get("exitCode", 0), 3)
        if ended.get("signal"):
            writer.field("Signal", ended["signal"], 3)
        writer.field("Started", rfc1123z(ended.get("startedAt")), 3)
        writer.field("Finished", rfc1123z(ended.get("finishedAt")), 3)
    else:
        writer.field(title, "Waiting", 2)
        writer.some("Reason", (state.get("waiting") or {}).get("reason"), 3)


def probe(value: Object) -> str:
    """Return a probe in one line."""
    numbers = (
        f"delay={value.get('initialDelaySeconds', 0)}s timeout={value.get('timeoutSeconds', 0)}s "
        f"period={value.get('periodSeconds', 0)}s successThreshold={value.get('successThreshold', 0)} "
        f"failureThreshold={value.get('failureThreshold', 0)}"
    )
    if "exec" in value:
        return f"exec {shown(value['exec'].get('command') or [])} {numbers}"
    if "httpGet" in value:
        get = value["httpGet"]
        path = get.get("path", "")
        return f"http-get {get.get('scheme', '').lower()}://{get.get('host', '')}:{get.get('port', '')}{path} {numbers}"
    if "tcpSocket" in value:
        return (
            f"tcp-socket {value['tcpSocket'].get('host', '')}:{value['tcpSocket'].get('port', '')} {numbers}"
        )
    if "grpc" in value:
        return f"grpc <pod>:{value['grpc'].get('port')} {value['grpc'].get('service', '')} {numbers}"
    return f"unknown {numbers}"


def _env_from(writer: Writer, listed: list[Object]) -> None:
    writer.line("Environment Variables from:", 2)
    for reference in listed:
        kind, key = ("ConfigMap", "configMapRef") if "configMapRef" in reference else ("Secret", "secretRef")
        source = reference.get(key) or {}
        prefix = f" with prefix '{reference['prefix']}'" if reference.get("prefix") else ""
        writer.line(
            f"{source.get('name', '')}\t{kind}{prefix}\tOptional: {shown(bool(source.get('optional')))}", 3
        )


def _env(writer: Writer, container: Object, pod: Object | None) -> None:
    listed = container.get("env") or []
    writer.line(f"Environment:{'' if listed else chr(9) + '<none>'}", 2)
    for variable in listed:
        source = variable.get("valueFrom")
        name = variable["name"]
        if not source:
            for place, line in enumerate(str(variable.get("value", "")).split("\n")):
                writer.line(f"{name + ':' if not place else ''}\t{line}", 3)
        elif "fieldRef" in source:
            field = source["fieldRef"]
            current = field_value(pod, field.get("fieldPath", "")) if pod else ""
            writer.line(f"{name}:\t{current} ({field.get('apiVersion', 'v1')}:{field.get('fieldPath')})", 3)
        elif "resourceFieldRef" in source:
            field = source["resourceFieldRef"]
            writer.line(f"{name}:\t{_resource_value(container, field)} ({field.get('resource')})", 3)
        else:
            key, words = (
                ("secretKeyRef", "in secret")
                if "secretKeyRef" in source
                else ("configMapKeyRef", "of config map")
            )
            ref = source.get(key) or {}
            optional = shown(bool(ref.get("optional")))
            writer.line(
                f"{name}:\t<set to the key '{ref.get('key')}' {words} '{ref.get('name')}'>\tOptional: {optional}",
                3,
            )


def field_value(pod: Object, path: str) -> str:
    """Return what a field of a pod is, as an environment variable would have it."""
    if path.startswith(("metadata.annotations['", "metadata.labels['")):
        kind, _, key = path.partition("['")
        return ((pod["metadata"].get(kind.partition(".")[2])) or {}).get(key.rstrip("']"), "")
    current: Any = pod
    for word in path.split("."):
        current = (current or {}).get(word) if isinstance(current, dict) else None
    if isinstance(current, dict):
        return "\n".join(f"{key}={quoted(str(item))}" for key, item in sorted(current.items()))
    return "" if current is None else str(current)


def _resource_value(container: Object, field: Object) -> str:
    from pybernetes.api.quantity import parse

    kind, _, name = str(field.get("resource")).partition(".")
    text = ((container.get("resources") or {}).get(kind) or {}).get(name)
    if text is None:
        return "node allocatable" if kind == "limits" and name in ("cpu", "memory") else "0"
    value = parse(text) / parse(field.get("divisor") or "1")
    return str(-(-value.numerator // value.denominator))


def _mounts(writer: Writer, container: Object) -> None:
    mounts = sorted(container.get("volumeMounts") or [], key=lambda mount: mount["mountPath"])
    writer.line(f"Mounts:{'' if mounts else chr(9) + '<none>'}", 2)
    for mount in mounts:
        marks = "ro" if mount.get("readOnly") else "rw"
        if mount.get("subPath"):
            marks += f",path={quoted(mount['subPath'])}"
        writer.line(f"{mount['mountPath']} from {mount['name']} ({marks})", 3)
    devices = sorted(container.get("volumeDevices") or [], key=lambda device: device["devicePath"])
    if devices:
        writer.line(f"Devices:{'' if mounts else chr(9) + '<none>'}", 2)
        for device in devices:
            writer.line(f"{device['devicePath']} from {device['name']}", 3)


def tolerations(writer: Writer, title: str, listed: list[Object] | None) -> None:
    """Write tolerations, one to a line."""
    writer.put(f"{title}:\t")
    if not listed:
        writer.line("<none>")
        return
    for place, toleration in enumerate(sorted(listed, key=lambda item: item.get("key", ""))):
        text = toleration.get("key", "")
        text += f"={toleration['value']}" if toleration.get("value") else ""
        text += f":{toleration['effect']}" if toleration.get("effect") else ""
        if toleration.get("operator") == "Exists" and not toleration.get("value"):
            text += " op=Exists" if text else "op=Exists"
        if toleration.get("tolerationSeconds") is not None:
            text += f" for {toleration['tolerationSeconds']}s"
        writer.line(("\t" if place else "") + text)


def spread(writer: Writer, listed: list[Object] | None, space: str = "") -> None:
    """Write topology spread constraints."""
    if not listed:
        return
    writer.put(f"{space}Topology Spread Constraints:\t")
    for place, constraint in enumerate(sorted(listed, key=lambda item: item.get("topologyKey", ""))):
        text = f"{constraint['topologyKey']}:{constraint['whenUnsatisfiable']} when max skew {constraint['maxSkew']} is exceeded"
        if constraint.get("labelSelector") is not None:
            text += f" for selector {selector_text(constraint['labelSelector'])}"
        writer.line((f"{space}\t" if place else "") + text)


def template(writer: Writer, value: Object | None) -> None:
    """Write a pod template."""
    writer.line("Pod Template:")
    if value is None:
        writer.put("<unset>", 1)
        return
    metadata, spec = value.get("metadata") or {}, value.get("spec") or {}
    writer.labels("  Labels", metadata.get("labels"))
    if metadata.get("annotations"):
        writer.annotations("  Annotations", metadata["annotations"])
    writer.some("Service Account", spec.get("serviceAccountName"), 1)
    if spec.get("initContainers"):
        containers(writer, "Init Containers", spec["initContainers"], None, None, "  ")
    containers(writer, "Containers", spec.get("containers"), None, None, "  ")
    volumes(writer, spec.get("volumes"), "  ")
    spread(writer, spec.get("topologySpreadConstraints"), "  ")
    writer.some("Priority Class Name", spec.get("priorityClassName"), 1)
    writer.labels("  Node-Selectors", spec.get("nodeSelector"))
    tolerations(writer, "  Tolerations", spec.get("tolerations"))


def conditions(writer: Writer, value: Object) -> None:
    """Write the conditions of a controller."""
    listed = (value.get("status") or {}).get("conditions")
    if listed:
        writer.put("Conditions:\n  Type\tStatus\tReason\n")
        writer.line("----\t------\t------", 1)
        for condition in listed:
            writer.line(f"{condition['type']} \t{condition['status']}\t{condition.get('reason', '')}", 1)
