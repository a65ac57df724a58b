"""Security contexts of pods and containers in terms of CRI."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from cri_api.v1 import api_pb2 as messages

from pybernetes.api.resource import Object
from pybernetes.node.kubelet.containers.environment import ConfigError
from pybernetes.node.kubelet.cri.messages import Message

_MASKED = ("/proc/asound", "/proc/acpi", "/proc/interrupts", "/proc/kcore", "/proc/keys", "/proc/latency_stats",
           "/proc/timer_list", "/proc/timer_stats", "/proc/sched_debug", "/proc/scsi", "/sys/firmware",
           "/sys/devices/virtual/powercap")  # fmt: skip
_READ_ONLY = ("/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger")


def namespaces(spec: Object, target: str = "") -> Message:
    """Return which namespaces are the pod's, the container's or the node's; ``target`` is a container to join."""
    pid = messages.CONTAINER
    if spec.get("hostPID"):
        pid = messages.NODE
    elif spec.get("shareProcessNamespace"):
        pid = messages.POD
    if target:
        pid = messages.TARGET
    return messages.NamespaceOption(
        network=messages.NODE if spec.get("hostNetwork") else messages.POD,
        ipc=messages.NODE if spec.get("hostIPC") else messages.POD,
        pid=pid,
        target_id=target,
    )


def sandbox_security_context(spec: Object, seccomp_root: Path) -> Message:
    """Return the security context of a pod's sandbox."""
    context = spec.get("securityContext") or {}
    result = messages.LinuxSandboxSecurityContext(
        namespace_options=namespaces(spec),
        privileged=any(
            (container.get("securityContext") or {}).get("privileged")
            for group in ("initContainers", "containers")
            for container in spec.get(group, ())
        ),
        seccomp=messages.SecurityProfile(profile_type=messages.SecurityProfile.RuntimeDefault),
    )
    if context.get("runAsUser") is not None:
        result.run_as_user.value = context["runAsUser"]
    if context.get("runAsGroup") is not None:
        result.run_as_group.value = context["runAsGroup"]
    result.supplemental_groups.extend(supplemental(context))
    _selinux(result, context)
    return result


def supplemental(context: Object) -> list[int]:
    """Return the supplemental groups of a pod's processes."""
    groups = [context["fsGroup"]] if context.get("fsGroup") is not None else []
    return groups + list(context.get("supplementalGroups", ()))


def effective(spec: Object, container: Object) -> Object:
    """Return a container's own context merged over that of its pod."""
    shared = (
        "runAsUser",
        "runAsGroup",
        "runAsNonRoot",
        "seLinuxOptions",
        "seccompProfile",
        "appArmorProfile",
    )
    pod = spec.get("securityContext") or {}
    own = container.get("securityContext") or {}
    return {**{name: pod[name] for name in shared if name in pod}, **own}


def container_security_context(
    spec: Object,
    definition: Object,
    image: Message | None,
    *,
    seccomp_root: Path,
    seccomp_default: bool,
    target: str = "",
) -> Message:
    """Return the security context of a container; raise ConfigError if it may not run as its user."""
    context = effective(spec, definition)
    pod = spec.get("securityContext") or {}
    _check_user(context, image, definition["name"])
    result = messages.LinuxContainerSecurityContext(
        namespace_options=namespaces(spec, target),
        privileged=bool(context.get("privileged")),
        readonly_rootfs=bool(context.get("readOnlyRootFilesystem")),
        no_new_privs=context.get("allowPrivilegeEscalation") is False,
        seccomp=seccomp(
            context.get("seccompProfile"), seccomp_root, seccomp_default and not context.get("privileged")
        ),
    )
    result.supplemental_groups.extend(supplemental(pod))
    if pod.get("supplementalGroupsPolicy"):
        result.supplemental_groups_policy = messages.SupplementalGroupsPolicy.Value(
            pod["supplementalGroupsPolicy"]
        )
    if context.get("procMount", "Default") != "Unmasked":
        result.masked_paths.extend(_MASKED)
        result.readonly_paths.extend(_READ_ONLY)
    if context.get("runAsUser") is not None:
        result.run_as_user.value = context["runAsUser"]
    elif image is not None:
        if image.HasField("uid"):
            result.run_as_user.value = image.uid.value
        result.run_as_username = image.username
    if context.get("runAsGroup") is not None:
        result.run_as_group.value = context["runAsGroup"]
    capabilities = context.get("capabilities") or {}
    result.capabilities.add_capabilities.extend(_names(capabilities.get("add", ())))
    result.capabilities.drop_capabilities.extend(_names(capabilities.get("drop", ())))
    _selinux(result, context)
    _apparmor(result, context)
    return result


def _names(capabilities: Iterable[str]) -> list[str]:
    return [name.removeprefix("CAP_") for name in capabilities]


def _check_user(context: Object, image: Message | None, name: str) -> None:
    if not context.get("runAsNonRoot"):
        return
    user = context.get("runAsUser")
    if user is not None:
        if user == 0:
            raise ConfigError(f"container's runAsUser breaks non-root policy (container: {name})")
        return
    if image is None:
        return
    if image.HasField("uid") and image.uid.value == 0:
        raise ConfigError("container has runAsNonRoot and image will run as root")
    if not image.HasField("uid") and image.username:
        raise ConfigError(
            f"container has runAsNonRoot and image has non-numeric user ({image.username}), cannot verify user is non-root"
        )


def seccomp(profile: Object | None, root: Path, by_default: bool) -> Message:
    """Return a seccomp profile: the runtime's, one in a file below the kubelet's folder, or none."""
    kind = (profile or {}).get("type") or ("RuntimeDefault" if by_default else "Unconfined")
    if kind == "Localhost":
        path = (profile or {}).get("localhostProfile", "")
        return messages.SecurityProfile(
            profile_type=messages.SecurityProfile.Localhost, localhost_ref=str(root / path)
        )
    return messages.SecurityProfile(profile_type=messages.SecurityProfile.ProfileType.Value(kind))


def _selinux(result: Message, context: Object) -> None:
    options = context.get("seLinuxOptions") or {}
    for name in ("user", "role", "type", "level"):
        if options.get(name):
            setattr(result.selinux_options, name, options[name])


def _apparmor(result: Message, context: Object) -> None:
    profile = context.get("appArmorProfile")
    if not profile or profile["type"] == "RuntimeDefault":
        return
    kind = messages.SecurityProfile.ProfileType.Value(profile["type"])
    result.apparmor.CopyFrom(
        messages.SecurityProfile(profile_type=kind, localhost_ref=profile.get("localhostProfile", ""))
    )
