"""Who the processes run as: not root."""

from __future__ import annotations

from pybernetes.api.core.pod.security_standards.checks.violations import (
    Violation,
    containers,
    context,
    in_user_namespace,
    named,
    setters,
)
from pybernetes.api.resource import Object


def non_root(metadata: Object, spec: Object) -> Violation | None:
    """Require that every container is refused to start as root."""
    reason = "runAsNonRoot != true"
    of_pod = context(spec).get("runAsNonRoot")
    given = {
        container.get("name", ""): context(container).get("runAsNonRoot") for container in containers(spec)
    }
    explicit = [name for name, value in given.items() if value is False]
    if of_pod is False or explicit:
        return Violation(
            reason, f"{setters(of_pod is False, explicit)} must not set securityContext.runAsNonRoot=false"
        )
    silent = [] if of_pod else [name for name, value in given.items() if value is None]
    if not silent:
        return None
    return Violation(reason, f"pod or {named(silent)} must set securityContext.runAsNonRoot=true")


def user(metadata: Object, spec: Object) -> Violation | None:
    """Require that nothing says that it runs as root."""

    def root(holder: Object) -> bool:
        given = context(holder).get("runAsUser")
        return given is not None and given == 0

    names = [container.get("name", "") for container in containers(spec) if root(container)]
    if not names and not root(spec):
        return None
    return Violation("runAsUser=0", f"{setters(root(spec), names)} must not set runAsUser=0")


def non_root_on_host(metadata: Object, spec: Object) -> Violation | None:
    """Require the same as ``non_root``, unless the pod is in a user namespace of its own."""
    return None if in_user_namespace(spec) else non_root(metadata, spec)


def user_on_host(metadata: Object, spec: Object) -> Violation | None:
    """Require the same as ``user``, unless the pod is in a user namespace of its own."""
    return None if in_user_namespace(spec) else user(metadata, spec)
