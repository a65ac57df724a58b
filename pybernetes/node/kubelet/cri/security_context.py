"""Security contexts of pods and containers in terms of CRI."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from cri_api.v1 import api_pb2 as messages

from pybernetes.api.resource import Object
from pybernetes.node.kubelet.containers.errors import ConfigError
from pybernetes.node.kubelet.cri.messages import Message
from pybernetes.node.kubelet.cri.security_profiles import seccomp, set_app_armor
from pybernetes.node.kubelet.pod_kinds import shown

_MASKED = ("/proc/asound", "/proc/acpi", "/proc/interrupts", "/proc/kcore", "/proc/keys", "/proc/latency_stats",
           "/proc/timer_list", "/proc/timer_stats", "/proc/sched_debug", "/proc/scsi", "/sys/firmware",
           "/sys/devices/virtual/powercap")  # fmt: skip
_READ_ONLY = ("/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger")
_LARGEST_ID = 2**31 - 1
NODE_USERS = messages.UserNamespace(mode=messages.NODE)


@cache
def _masked() -> list[str]:
    """Return the paths that containers cannot read; how hot each processor is tells what others compute."""
    processors = Path("/sys/devices/system/cpu").glob("cpu[0-9]*/thermal_throttle")
    return [*_MASKED, *sorted(map(str, processors))]


def namespaces(spec: Object, users: Message, target: str = "") -> Message:
    """Return which namespaces are the pod's, the container's or the node's; ``target`` is a container to join."""
    pid = messages.CONTAINER
    if spec.get("hostPID"):
        pid = messages.NODE
    elif spec.get("shareProcessNamespace"):
        pid = messages.POD
    if target and pid == messages.CONTAINER:
        pid = messages.TARGET
    return messages.NamespaceOption(
        network=messages.NODE if spec.get("hostNetwork") else messages.POD,
        ipc=messages.NODE if spec.get("hostIPC") else messages.POD,
        pid=pid,
        target_id=target if pid == messages.TARGET else "",
        userns_options=users,
    )


def sandbox_security_context(spec: Object, users: Message = NODE_USERS) -> Message:
    """Return the security context of a pod's sandbox; ``users`` is the user namespace that it gets."""
    context = spec.get("securityContext") or {}
    result = messages.LinuxSandboxSecurityContext(
        namespace_options=namespaces(spec, users),
        privileged=any(
            (container.get("securityContext") or {}).get("privileged")
            for group in ("initContainers", "containers", "ephemeralContainers")
            for container in spec.get(group, ())
        ),
        seccomp=messages.SecurityProfile(profile_type=messages.SecurityProfile.RuntimeDefault),
    )
    if context.get("runAsUser") is not None:
        result.run_as_user.value = context["runAsUser"]
    if context.get("runAsGroup") is not None:
        result.run_as_group.value = context["runAsGroup"]
    _groups(result, context)
    _selinux(result, context)
    return result


def _groups(result: Message, context: Object) -> None:
    """Give processes the supplemental groups of their pod, with or without those that the image adds."""
    if context.get("fsGroup") is not None:
        result.supplemental_groups.append(context["fsGroup"])
    result.supplemental_groups.extend(context.get("supplementalGroups", ()))
    if context.get("supplementalGroupsPolicy"):
        result.supplemental_groups_policy = messages.SupplementalGroupsPolicy.Value(
            context["supplementalGroupsPolicy"]
        )


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
    pod: Object,
    definition: Object,
    image: Message,
    *,
    seccomp_root: Path,
    seccomp_default: bool,
    users: Message = NODE_USERS,
    target: str = "",
) -> Message:
    """Return the security context of a container; raise ConfigError if it cannot be met."""
    spec = pod["spec"]
    context = effective(spec, definition)
    uid, username = _image_user(image)
    _check_user(context, uid, username, f'(pod: "{shown(pod)}", container: {definition["name"]})')
    result = messages.LinuxContainerSecurityContext(
        namespace_options=namespaces(spec, users, target),
        privileged=bool(context.get("privileged")),
        readonly_rootfs=bool(context.get("readOnlyRootFilesystem")),
        no_new_privs=context.get("allowPrivilegeEscalation") is False,
        seccomp=seccomp(context.get("seccompProfile"), seccomp_root, seccomp_default),
    )
    _groups(result, spec.get("securityContext") or {})
    if context.get("procMount", "Default") != "Unmasked":
        result.masked_paths.extend(_masked())
        result.readonly_paths.extend(_READ_ONLY)
    if context.get("runAsUser") is not None:
        result.run_as_user.value = context["runAsUser"]
    elif uid is not None:
        result.run_as_user.value = uid
    else:
        result.run_as_username = username
    if context.get("runAsGroup") is not None:
        result.run_as_group.value = context["runAsGroup"]
    capabilities = context.get("capabilities") or {}
    result.capabilities.add_capabilities.extend(_names(capabilities.get("add", ())))
    result.capabilities.drop_capabilities.extend(_names(capabilities.get("drop", ())))
    _selinux(result, context)
    set_app_armor(result, context.get("appArmorProfile"))
    return result


def _names(capabilities: Iterable[str]) -> list[str]:
    return [name.removeprefix("CAP_") for name in capabilities]


def _image_user(image: Message) -> tuple[int | None, str]:
    """Return the number or the name of an image's user; an image that names none runs as root."""
    if image.HasField("uid"):
        return image.uid.value, ""
    return (None, image.username) if image.username else (0, "")


def _check_user(context: Object, uid: int | None, username: str, where: str) -> None:
    """Raise ConfigError if a container that must not run as root would, or may."""
    if not context.get("runAsNonRoot"):
        return
    chosen = context.get("runAsUser")
    if chosen is not None:
        if chosen == 0:
            raise ConfigError(f"container's runAsUser breaks non-root policy {where}")
        return
    if uid is None:
        raise ConfigError(
            f"container has runAsNonRoot and image has non-numeric user ({username}),"
            f" cannot verify user is non-root {where}"
        )
    if uid == 0:
        raise ConfigError(f"container has runAsNonRoot and image will run as root {where}")
    if not 0 < uid <= _LARGEST_ID:
        raise ConfigError(
            f"container has runAsNonRoot and image has an invalid user id ({uid}). (Must be 1-({_LARGEST_ID})):"
            f" must be between 0 and {_LARGEST_ID}, inclusive {where}"
        )


def _selinux(result: Message, context: Object) -> None:
    options = context.get("seLinuxOptions") or {}
    for name in ("user", "role", "type", "level"):
        if options.get(name):
            setattr(result.selinux_options, name, options[name])
