"""What the profiles of kubectl debug do to a pod and to one of its containers."""

from __future__ import annotations

from pybernetes.tools.kubectl import TYPE_CHECKING

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


PROFILES = ("legacy", "general", "baseline", "restricted", "netadmin", "sysadmin")
_ADDED = {"general": ["SYS_PTRACE"], "netadmin": ["NET_ADMIN", "NET_RAW"]}
_RESTRICTED = {
    "allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}, "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}  # fmt: skip


def secure(container: Object, profile: str, style: str) -> None:
    """Give a container the security context of a profile; ``style`` is node, copy or ephemeral."""
    security = dict(container.pop("securityContext", None) or {})
    if profile in ("baseline", "restricted") or (profile, style) == ("general", "node"):
        security = dict(_RESTRICTED) if profile == "restricted" else {}
    elif profile in _ADDED:
        capabilities = security.get("capabilities") or {}
        added = [*(capabilities.get("add") or ()), *_ADDED[profile]]
        security["capabilities"] = {**capabilities, "add": added}
    elif profile == "sysadmin":
        security["privileged"] = True
    if security:
        container["securityContext"] = security


def use_host(spec: Object, container: Object, profile: str) -> None:
    """Give a pod on a node what a profile lets it see of the node."""
    if profile in ("legacy", "general", "sysadmin"):
        spec.setdefault("volumes", []).append({"name": "host-root", "hostPath": {"path": "/"}})
        container.setdefault("volumeMounts", []).append({"name": "host-root", "mountPath": "/host"})
    if profile in ("legacy", "general", "netadmin", "sysadmin"):
        spec.update({"hostNetwork": True, "hostPID": True, "hostIPC": True})


def strip(pod: Object, profile: str, keep: dict[str, bool]) -> None:
    """Remove from a copy of a pod what is not kept: labels, annotations, probes, init containers."""
    metadata, spec = pod["metadata"], pod["spec"]
    if profile == "legacy":
        metadata.pop("labels", None)
        return
    for key in ("labels", "annotations"):
        if not keep[key]:
            metadata.pop(key, None)
    if not keep["initContainers"]:
        spec.pop("initContainers", None)
    for probe in ("livenessProbe", "readinessProbe", "startupProbe"):
        for container in spec["containers"] if not keep[probe] else ():
            container.pop(probe, None)
    if spec.get("shareProcessNamespace") is None:
        spec["shareProcessNamespace"] = True


def may_not_work(container: Object, pod: Object) -> bool:
    """Return whether a container is given powers that the user of its pod cannot use."""
    user = ((pod.get("spec") or {}).get("securityContext") or {}).get("runAsUser")
    security = container.get("securityContext")
    if not user or not security or security.get("runAsUser") == 0:
        return False
    return bool(security.get("privileged") or (security.get("capabilities") or {}).get("add"))
