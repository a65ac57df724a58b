"""debug: adds a debugging container to a pod, copies a pod for debugging, or starts one on a node."""

from __future__ import annotations

import copy
import random
from typing import Any

from pybernetes.tools.kubectl.builder import Builder, Info
from pybernetes.tools.kubectl.commands._attaching import attach
from pybernetes.tools.kubectl.commands.run import _IMAGE
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError
from pybernetes.tools.kubectl.flags import quoted

SUMMARY = "Create debugging sessions for troubleshooting workloads and nodes"
USAGE = "debug (POD | TYPE[[.VERSION].GROUP]/NAME) [ -- COMMAND [args...] ]"
FLAGS = ("""
- arguments-only bool false | what follows -- are arguments, not the command
- attach bool false | attach to the container; the default with --stdin
c container string | name of the debugging container
- copy-to string | make a copy of the pod with this name
- custom string | file with a part of a container spec to put over the profile
- env map | environment variables
f filename list | files that name what to debug
- image string | image of the debugging container
- image-pull-policy string | when to pull the image
- keep-annotations bool false | with --copy-to, keep the annotations
- keep-init-containers bool true | with --copy-to, keep the init containers
- keep-labels bool false | with --copy-to, keep the labels
- keep-liveness bool false | with --copy-to, keep the liveness probes
- keep-readiness bool false | with --copy-to, keep the readiness probes
- keep-startup bool false | with --copy-to, keep the startup probes
- profile string general | general, baseline, restricted, netadmin or sysadmin
q quiet bool false | no messages
- replace bool false | with --copy-to, delete the original pod
- same-node bool false | with --copy-to, put the copy on the same node
- set-image map | with --copy-to, images to change: container=image
- share-processes bool true | with --copy-to, containers of the copy see one another's processes
i stdin bool false | keep the input of the container open
- target string | with an ephemeral container, see the processes of this container
t tty bool false | give the container a terminal
- pod-running-timeout duration 1m0s |
""",)  # fmt: skip
_PROFILES = ("general", "baseline", "restricted", "netadmin", "sysadmin")
Object = dict[str, Any]


def run(context: Context) -> None:
    """Starts a debugging session for each target."""
    flags = context.flags
    targets = context.args[: flags.dash] if flags.dash >= 0 else context.args
    command = context.args[flags.dash :] if flags.dash >= 0 else []
    if flags.profile not in _PROFILES:
        if flags.profile == "legacy":
            raise CommandError("legacy is no longer supported")
        raise CommandError(f"unknown profile: {flags.profile}")
    _check(context, targets, command)
    arguments = [each if "/" in each else f"pods/{each}" for each in targets]
    for info in Builder(context, args=arguments, filenames=flags.filename, latest=True).infos():
        if info.resource.kind == "Node":
            pod, name = _on_node(context, info, command)
        elif info.resource.kind != "Pod":
            raise CommandError(
                f'"{info.resource.api_version}, Kind={info.resource.kind}" not supported by debug'
            )
        elif flags.copy_to:
            pod, name = _copy(context, info, command)
        else:
            pod, name = _ephemeral(context, info, command)
        if name and (flags.attach or (flags.stdin and "attach" not in flags.changed)):
            attach(context, _started(context, pod, name), name)


def _check(context: Context, targets: list[str], command: list[str]) -> None:
    flags = context.flags
    if flags.attach and "attach" in flags.changed and not flags.image and not flags.container:
        raise CommandError(
            "you must specify --container or create a new container using --image in order to attach."
        )
    if flags.copy_to:
        if not flags.image and not flags.set_image and not command:
            raise CommandError("you must specify --image, --set-image or command arguments.")
        if command and not flags.container and not flags.image:
            raise CommandError("you must specify an existing container or a new image when specifying args.")
        if flags.target:
            raise CommandError("--target is incompatible with --copy-to. Use --share-processes instead.")
    else:
        for flag in ("replace", "same-node", "set-image"):
            if getattr(flags, flag.replace("-", "_")):
                raise CommandError(f"--{flag} may only be used with --copy-to.")
        if not flags.image:
            raise CommandError("you must specify --image when not using --copy-to.")
    if flags.image and not _IMAGE.match(flags.image):
        raise CommandError(f'invalid image name "{flags.image}": invalid reference format')
    if not targets and not flags.filename:
        raise CommandError("NAME or filename is required for debug")
    if flags.image_pull_policy not in ("", "Always", "IfNotPresent", "Never"):
        raise CommandError(f"invalid image pull policy: {flags.image_pull_policy}")
    for name, image in flags.set_image.items():
        if not _IMAGE.match(image):
            raise CommandError(
                f'invalid image name "{image}" for container "{name}": invalid reference format'
            )
    if flags.tty and not flags.stdin:
        raise CommandError("-i/--stdin is required for containers with -t/--tty=true")


def _name(context: Context, pod: Object) -> str:
    flags = context.flags
    if flags.container:
        return flags.container
    spec = pod.get("spec") or {}
    taken = {
        each["name"]
        for key in ("containers", "initContainers", "ephemeralContainers")
        for each in spec.get(key) or ()
    }
    while True:
        name = f"debugger-{suffix()}"
        if name not in taken:
            if not flags.quiet:
                context.out(f"Defaulting debug container name to {name}.")
            return name


def suffix() -> str:
    """Five letters and digits, as names that are made have them."""
    return "".join(random.choices("bcdfghjklmnpqrstvwxz2456789", k=5))


def _container(context: Context, name: str, command: list[str]) -> Object:
    flags = context.flags
    found: Object = {"name": name, "image": flags.image, "terminationMessagePolicy": "File"}
    if command:
        found["args" if flags.arguments_only else "command"] = command
    if flags.env:
        found["env"] = [{"name": key, "value": value} for key, value in flags.env.items()]
    if flags.image_pull_policy:
        found["imagePullPolicy"] = flags.image_pull_policy
    if flags.stdin:
        found["stdin"] = True
    if flags.tty:
        found["tty"] = True
    if flags.custom:
        from pybernetes.tools.kubectl.documents import read, values

        raw, source = read(flags.custom, context.stdin)
        for value in values(raw, source):
            if {"name", "command", "image", "lifecycle", "volumeDevices"} & set(value):
                raise CommandError(
                    "name, command, image, lifecycle and volume devices are not modifiable via custom profile"
                )
            found.update(value)
    return found


def _secured(container: Object, profile: str, where: str) -> Object:
    """The container with what its profile allows."""
    security: Object = {}
    if (profile in ("general", "netadmin") and where != "node") or profile == "netadmin":
        capabilities = ["SYS_PTRACE"] if profile == "general" else ["NET_ADMIN", "NET_RAW"]
        security = {"capabilities": {"add": capabilities}}
    elif profile == "restricted":
        security = {
            "allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}, "runAsNonRoot": True,
            "seccompProfile": {"type": "RuntimeDefault"},
        }  # fmt: skip
    elif profile == "sysadmin":
        security = {"privileged": True}
    return {**container, "securityContext": security} if security else container


def _ephemeral(context: Context, info: Info, command: list[str]) -> tuple[Object, str]:
    flags = context.flags
    name = _name(context, info.object)
    if flags.target and not flags.quiet:
        context.out(
            f"Targeting container {quoted(flags.target)}. If you don't see processes from this container it may be because "
            "the container runtime doesn't support this feature."
        )
    container = _secured(_container(context, name, command), flags.profile, "pod")
    if flags.target:
        container["targetContainerName"] = flags.target
    before = (info.object.get("spec") or {}).get("ephemeralContainers") or []
    order = [{"name": each["name"]} for each in (*before, container)]
    patch = {"spec": {"ephemeralContainers": [container], "$setElementOrder/ephemeralContainers": order}}
    pod = context.client.patch(
        info.resource, info.namespace, info.name, patch, "strategic", subresource="ephemeralcontainers"
    )
    return pod, name


def _copy(context: Context, info: Info, command: list[str]) -> tuple[Object, str]:
    flags = context.flags
    spec = copy.deepcopy(info.object["spec"])
    metadata: Object = {"name": flags.copy_to, "namespace": info.namespace}
    for key, kept in (("labels", flags.keep_labels), ("annotations", flags.keep_annotations)):
        if kept and info.object["metadata"].get(key):
            metadata[key] = info.object["metadata"][key]
    for key in ("ephemeralContainers", *(() if flags.same_node else ("nodeName",))):
        spec.pop(key, None)
    if not flags.keep_init_containers:
        spec.pop("initContainers", None)
    for each in spec["containers"]:
        for key, kept in (
            ("livenessProbe", flags.keep_liveness),
            ("readinessProbe", flags.keep_readiness),
            ("startupProbe", flags.keep_startup),
        ):
            if not kept:
                each.pop(key, None)
        for name, image in flags.set_image.items():
            if name in ("*", each["name"]):
                each["image"] = image
    if flags.share_processes:
        spec["shareProcessNamespace"] = True
    name = _changed(context, info, spec, command)
    if flags.replace:
        context.client.delete(info.resource, info.namespace, info.name, {"gracePeriodSeconds": 0})
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
    return context.client.create(info.resource, info.namespace, pod), name


def _changed(context: Context, info: Info, spec: Object, command: list[str]) -> str:
    """Puts the debugging container in, or changes the one that is named."""
    flags = context.flags
    existing = next((each for each in spec["containers"] if each["name"] == flags.container), None)
    if existing is None:
        if not flags.image:
            if flags.container:
                raise CommandError("you must specify image when creating new container")
            return ""
        name = _name(context, info.object)
        spec["containers"].append(_secured(_container(context, name, command), flags.profile, "pod"))
        return name
    if command:
        existing.pop("args", None)
        existing["args" if flags.arguments_only else "command"] = command
    if flags.image:
        existing["image"] = flags.image
    for key in ("stdin", "tty"):
        if getattr(flags, key):
            existing[key] = True
    return existing["name"]


def _on_node(context: Context, info: Info, command: list[str]) -> tuple[Object, str]:
    flags = context.flags
    name = flags.container or "debugger"
    pod_name = f"node-debugger-{info.name}-{suffix()}"
    if not flags.quiet:
        context.out(f"Creating debugging pod {pod_name} with container {name} on node {info.name}.")
    container = _secured(_container(context, name, command), flags.profile, "node")
    spec: Object = {
        "containers": [container], "nodeName": info.name, "restartPolicy": "Never", "tolerations": [{"operator": "Exists"}],
    }  # fmt: skip
    if flags.profile in ("general", "sysadmin"):
        container["volumeMounts"] = [{"name": "host-root", "mountPath": "/host"}]
        spec["volumes"] = [{"name": "host-root", "hostPath": {"path": "/"}}]
    if flags.profile in ("general", "netadmin", "sysadmin"):
        spec.update({"hostNetwork": True, "hostPID": True})
    if flags.profile in ("general", "sysadmin"):
        spec["hostIPC"] = True
    pods = context.discovery.find("pods")
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": pod_name}, "spec": spec}
    return context.client.create(pods, context.namespace, pod), name


def _started(context: Context, pod: Object, name: str) -> Object:
    """Waits until a container of a pod runs or has ended."""
    import time

    from pybernetes.tools.kubectl.commands._waiting import until

    info = Info(context.discovery.find("pods"), pod["metadata"]["namespace"], pod["metadata"]["name"], pod)

    def runs(value: Object | None) -> bool:
        status = (value or {}).get("status") or {}
        for key in ("containerStatuses", "ephemeralContainerStatuses", "initContainerStatuses"):
            for each in status.get(key) or ():
                if each["name"] == name:
                    return "waiting" not in (each.get("state") or {"waiting": {}})
        return value is None

    found = until(context, info, runs, time.monotonic() + context.flags.pod_running_timeout)
    if found is None:
        raise CommandError(f'pods "{info.name}" not found')
    return found
