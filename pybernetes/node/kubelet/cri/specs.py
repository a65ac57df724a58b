"""The configurations of sandboxes and containers in terms of CRI: what the runtime is asked to create."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import orjson
from cri_api.v1 import api_pb2 as messages

from pybernetes.api.core.pod import sysctls
from pybernetes.api.resource import Object
from pybernetes.node.kubelet.containers import resolv_conf
from pybernetes.node.kubelet.containers.expansion import expand_all
from pybernetes.node.kubelet.cri import label_keys, security_context
from pybernetes.node.kubelet.cri.container_resources import container_resources
from pybernetes.node.kubelet.cri.messages import Message
from pybernetes.node.kubelet.node_settings import NodeSettings

_PROTOCOLS = {"TCP": messages.TCP, "UDP": messages.UDP, "SCTP": messages.SCTP}


def log_folder(logs: Path, pod: Object) -> Path:
    """Return the folder of the logs of a pod's containers."""
    meta = pod["metadata"]
    return logs / f"{meta['namespace']}_{meta['name']}_{meta['uid']}"


def sandbox_config(
    pod: Object,
    attempt: int,
    cgroup_parent: str,
    settings: NodeSettings,
    resolv: resolv_conf.ResolvConf,
    users: Message = security_context.NODE_USERS,
) -> Message:
    """Return the configuration of a pod's sandbox; raise ValueError if its host name is impossible."""
    meta, spec = pod["metadata"], pod["spec"]
    config = messages.PodSandboxConfig(
        metadata=messages.PodSandboxMetadata(
            name=meta["name"], namespace=meta["namespace"], uid=meta["uid"], attempt=attempt
        ),
        labels={**(meta.get("labels") or {}), **_pod_labels(meta)},
        annotations=meta.get("annotations") or {},
        log_directory=str(log_folder(settings.logs, pod)),
        dns_config=messages.DNSConfig(
            servers=resolv.servers, searches=resolv.searches, options=resolv.options
        ),
        linux=messages.LinuxPodSandboxConfig(
            cgroup_parent=cgroup_parent,
            security_context=security_context.sandbox_security_context(spec, users),
        ),
    )
    if not spec.get("hostNetwork"):
        config.hostname = resolv_conf.kernel_host_name(pod, settings.dns.domain)
        for container in spec.get("containers", ()):
            for port in container.get("ports", ()):
                config.port_mappings.append(
                    messages.PortMapping(
                        protocol=_PROTOCOLS[port.get("protocol", "TCP")],
                        container_port=port["containerPort"],
                        host_port=port.get("hostPort", 0),
                        host_ip=port.get("hostIP", ""),
                    )
                )
    for sysctl in (spec.get("securityContext") or {}).get("sysctls", ()):
        config.linux.sysctls[sysctls.normalized(sysctl["name"])] = sysctl["value"]
    return config


def _pod_labels(meta: Object) -> dict[str, str]:
    return {
        label_keys.POD_NAME: meta["name"],
        label_keys.POD_NAMESPACE: meta["namespace"],
        label_keys.POD_UID: meta["uid"],
    }


def container_config(
    pod: Object,
    definition: Object,
    attempt: int,
    image: Message,
    variables: Mapping[str, str],
    mounts: list[Message],
    settings: NodeSettings,
    sandbox: Message,
    target: str = "",
) -> Message:
    """Return the configuration of a container; raise ConfigError or ValueError if its definition cannot be met.

    ``sandbox`` is the configuration of its sandbox, whose users it has.
    """
    meta, name = pod["metadata"], definition["name"]
    users = sandbox.linux.security_context.namespace_options.userns_options
    config = messages.ContainerConfig(
        metadata=messages.ContainerMetadata(name=name, attempt=attempt),
        image=messages.ImageSpec(image=image.id, user_specified_image=definition["image"]),
        command=expand_all(definition.get("command", ()), variables),
        args=expand_all(definition.get("args", ()), variables),
        working_dir=definition.get("workingDir", ""),
        envs=[messages.KeyValue(key=key, value=value) for key, value in variables.items()],
        mounts=mounts,
        labels={**_pod_labels(meta), label_keys.CONTAINER_NAME: name},
        annotations=_annotations(pod, definition, attempt),
        log_path=f"{name}/{attempt}.log",
        stdin=bool(definition.get("stdin")),
        stdin_once=bool(definition.get("stdinOnce")),
        tty=bool(definition.get("tty")),
        linux=messages.LinuxContainerConfig(
            resources=container_resources(
                pod,
                definition,
                settings.memory_capacity,
                cfs_quota=settings.cfs_quota,
                cfs_period=settings.cfs_period,
                oom_group=settings.oom_group,
            ),
            security_context=security_context.container_security_context(
                pod,
                definition,
                image,
                seccomp_root=settings.seccomp_root,
                seccomp_default=settings.seccomp_default,
                users=users,
                target=target,
            ),
        ),
    )
    for mount in config.mounts:  # files keep their owners, whatever users the pod has
        mount.uidMappings.extend(users.uids)
        mount.gidMappings.extend(users.gids)
    signal = (definition.get("lifecycle") or {}).get("stopSignal")
    if signal:
        config.stop_signal = messages.Signal.Value(signal.replace("+", "PLUS").replace("-", "MINUS"))
    return config


def _annotations(pod: Object, definition: Object, attempt: int) -> dict[str, str]:
    annotations = {
        label_keys.HASH: label_keys.fingerprint(definition),
        label_keys.RESTART_COUNT: str(attempt),
        label_keys.MESSAGE_PATH: definition.get("terminationMessagePath", ""),
        label_keys.MESSAGE_POLICY: definition.get("terminationMessagePolicy", ""),
    }
    grace = pod["spec"].get("terminationGracePeriodSeconds")
    if grace is not None:
        annotations[label_keys.TERMINATION_GRACE] = str(grace)
    hook = (definition.get("lifecycle") or {}).get("preStop")
    if hook:
        annotations[label_keys.PRE_STOP] = orjson.dumps(hook).decode()
    if definition.get("ports"):
        annotations[label_keys.PORTS] = orjson.dumps(definition["ports"]).decode()
    return annotations
