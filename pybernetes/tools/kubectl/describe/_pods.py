"""Containers, volumes, tolerations and templates, as pods and their controllers show them."""

from __future__ import annotations

from typing import Any

from pybernetes.tools.kubectl.command_line.flags import quoted
from pybernetes.tools.kubectl.describe._volumes import volumes
from pybernetes.tools.kubectl.describe._writer import Writer, selector_text, shown
from pybernetes.tools.kubectl.output.times import rfc1123z

Object = dict[str, Any]


def containers(
    writer: Writer, title: str, listed: list[Object] | None, statuses: list[Object] | None, pod: Object | None,
    space: str = "",
) -> None:  # fmt: skip
    """Writes containers with their states, if these are known."""
    known = {each["name"]: each for each in statuses or ()}
    writer.line(f"{space}{title}:{'' if listed else ' <none>'}")
    for each in listed or ():
        _container(writer, each, known.get(each["name"]), pod, space)


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
    found = []
    for port in ports:
        text = f"{port.get(key, 0)}/{port.get('protocol', '')}"
        found.append(f"{text} ({port['name']})" if port.get("name") else text)
    return ", ".join(found)


def resources(writer: Writer, value: Object | None, level: int) -> None:
    """Writes limits and requests."""
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
    """A probe in one line."""
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
    for each in listed:
        kind, key = ("ConfigMap", "configMapRef") if "configMapRef" in each else ("Secret", "secretRef")
        source = each.get(key) or {}
        prefix = f" with prefix '{each['prefix']}'" if each.get("prefix") else ""
        writer.line(
            f"{source.get('name', '')}\t{kind}{prefix}\tOptional: {shown(bool(source.get('optional')))}", 3
        )


def _env(writer: Writer, container: Object, pod: Object | None) -> None:
    listed = container.get("env") or []
    writer.line(f"Environment:{'' if listed else chr(9) + '<none>'}", 2)
    for each in listed:
        source = each.get("valueFrom")
        name = each["name"]
        if not source:
            for place, line in enumerate(str(each.get("value", "")).split("\n")):
                writer.line(f"{name + ':' if not place else ''}\t{line}", 3)
        elif "fieldRef" in source:
            field = source["fieldRef"]
            found = field_value(pod, field.get("fieldPath", "")) if pod else ""
            writer.line(f"{name}:\t{found} ({field.get('apiVersion', 'v1')}:{field.get('fieldPath')})", 3)
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
    """What a field of a pod is, as an environment variable would have it."""
    if path.startswith(("metadata.annotations['", "metadata.labels['")):
        kind, _, key = path.partition("['")
        return ((pod["metadata"].get(kind.partition(".")[2])) or {}).get(key.rstrip("']"), "")
    found: Any = pod
    for word in path.split("."):
        found = (found or {}).get(word) if isinstance(found, dict) else None
    if isinstance(found, dict):
        return "\n".join(f"{key}={quoted(str(item))}" for key, item in sorted(found.items()))
    return "" if found is None else str(found)


def _resource_value(container: Object, field: Object) -> str:
    from pybernetes.api.quantity import parse

    kind, _, name = str(field.get("resource")).partition(".")
    text = ((container.get("resources") or {}).get(kind) or {}).get(name)
    if text is None:
        return "node allocatable" if kind == "limits" and name in ("cpu", "memory") else "0"
    value = parse(text) / parse(field.get("divisor") or "1")
    return str(-(-value.numerator // value.denominator))


def _mounts(writer: Writer, container: Object) -> None:
    mounts = sorted(container.get("volumeMounts") or [], key=lambda each: each["mountPath"])
    writer.line(f"Mounts:{'' if mounts else chr(9) + '<none>'}", 2)
    for each in mounts:
        marks = "ro" if each.get("readOnly") else "rw"
        if each.get("subPath"):
            marks += f",path={quoted(each['subPath'])}"
        writer.line(f"{each['mountPath']} from {each['name']} ({marks})", 3)
    devices = sorted(container.get("volumeDevices") or [], key=lambda each: each["devicePath"])
    if devices:
        writer.line(f"Devices:{'' if mounts else chr(9) + '<none>'}", 2)
        for each in devices:
            writer.line(f"{each['devicePath']} from {each['name']}", 3)


def tolerations(writer: Writer, title: str, listed: list[Object] | None) -> None:
    """Writes tolerations, one to a line."""
    writer.put(f"{title}:\t")
    if not listed:
        writer.line("<none>")
        return
    for place, each in enumerate(sorted(listed, key=lambda item: item.get("key", ""))):
        text = each.get("key", "")
        text += f"={each['value']}" if each.get("value") else ""
        text += f":{each['effect']}" if each.get("effect") else ""
        if each.get("operator") == "Exists" and not each.get("value"):
            text += " op=Exists" if text else "op=Exists"
        if each.get("tolerationSeconds") is not None:
            text += f" for {each['tolerationSeconds']}s"
        writer.line(("\t" if place else "") + text)


def spread(writer: Writer, listed: list[Object] | None, space: str = "") -> None:
    """Writes topology spread constraints."""
    if not listed:
        return
    writer.put(f"{space}Topology Spread Constraints:\t")
    for place, each in enumerate(sorted(listed, key=lambda item: item.get("topologyKey", ""))):
        text = (
            f"{each['topologyKey']}:{each['whenUnsatisfiable']} when max skew {each['maxSkew']} is exceeded"
        )
        if each.get("labelSelector") is not None:
            text += f" for selector {selector_text(each['labelSelector'])}"
        writer.line((f"{space}\t" if place else "") + text)


def template(writer: Writer, value: Object | None) -> None:
    """Writes a pod template."""
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
    """Writes the conditions of a controller."""
    listed = (value.get("status") or {}).get("conditions")
    if listed:
        writer.put("Conditions:\n  Type\tStatus\tReason\n")
        writer.line("----\t------\t------", 1)
        for each in listed:
            writer.line(f"{each['type']} \t{each['status']}\t{each.get('reason', '')}", 1)
