"""What a pod takes from its host: namespaces, ports, paths, addresses, processes."""

from __future__ import annotations

from pybernetes.api.core.pod.security_standards.checks.violations import (
    Violation,
    containers,
    context,
    named,
    plural,
    quoted,
    setters,
)
from pybernetes.api.resource import Object


def namespaces(metadata: Object, spec: Object) -> Violation | None:
    """Require that the host's network, processes and communication are not shared."""
    shared = [f"{name}=true" for name in ("hostNetwork", "hostPID", "hostIPC") if spec.get(name)]
    return Violation("host namespaces", ", ".join(shared)) if shared else None


def paths(metadata: Object, spec: Object) -> Violation | None:
    """Require that no volume is a path of the host."""
    names = [
        volume.get("name", "") for volume in spec.get("volumes") or () if volume.get("hostPath") is not None
    ]
    return Violation("hostPath volumes", named(names, "volume")) if names else None


def ports(metadata: Object, spec: Object) -> Violation | None:
    """Require that no container takes a port of the host."""
    users: list[str] = []
    taken: set[str] = set()
    for container in containers(spec):
        host_ports = [str(port["hostPort"]) for port in container.get("ports") or () if port.get("hostPort")]
        if host_ports:
            users.append(container.get("name", ""))
            taken.update(host_ports)
    if not users:
        return None
    verb = "uses" if len(users) == 1 else "use"
    detail = f"{named(users)} {verb} {plural('hostPort', taken)} {', '.join(sorted(taken))}"
    return Violation("hostPort", detail)


def _handlers(container: Object) -> list[Object]:
    lifecycle = container.get("lifecycle") or {}
    probes = [container.get(key) for key in ("livenessProbe", "readinessProbe", "startupProbe")]
    return [handler for handler in [*probes, lifecycle.get("postStart"), lifecycle.get("preStop")] if handler]


def handler_hosts(metadata: Object, spec: Object) -> Violation | None:
    """Require that probes and lifecycle handlers reach nobody but the pod."""
    users: set[str] = set()
    hosts: set[str] = set()
    for container in containers(spec):
        for handler in _handlers(container):
            for key in ("httpGet", "tcpSocket"):
                host = (handler.get(key) or {}).get("host")
                if host:
                    users.add(container.get("name", ""))
                    hosts.add(host)
    if not users:
        return None
    verb = "uses" if len(users) == 1 else "use"
    what = plural("probe or lifecycle host", hosts)
    return Violation(
        "probe or lifecycle host", f"{named(sorted(users))} {verb} {what} {quoted(sorted(hosts))}"
    )


def windows_processes(metadata: Object, spec: Object) -> Violation | None:
    """Require that no container runs as a process of a Windows host."""

    def asks(holder: Object) -> bool:
        return bool((context(holder).get("windowsOptions") or {}).get("hostProcess"))

    users = [container.get("name", "") for container in containers(spec) if asks(container)]
    if not users and not asks(spec):
        return None
    detail = f"{setters(asks(spec), users)} must not set securityContext.windowsOptions.hostProcess=true"
    return Violation("hostProcess", detail)
