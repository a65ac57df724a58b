"""debug: adds a debugging container to a pod, copies a pod for debugging, or starts one on a node."""

from __future__ import annotations

import copy
import random
from pathlib import Path

from pybernetes.api.core.pod.image_names import is_reference
from pybernetes.tools.kubectl import TYPE_CHECKING
from pybernetes.tools.kubectl.apply.local_patch import patched
from pybernetes.tools.kubectl.commands._attaching import attach_when_started
from pybernetes.tools.kubectl.commands._debug_profiles import PROFILES, may_not_work, secure, strip, use_host
from pybernetes.tools.kubectl.context import Context
from pybernetes.tools.kubectl.errors import CommandError, quoted
from pybernetes.tools.kubectl.resources.builder import Builder
from pybernetes.tools.kubectl.resources.built_in import SCHEME
from pybernetes.tools.kubectl.resources.info import Info

if TYPE_CHECKING:
    from pybernetes.api.resource import Object


SUMMARY = "Create debugging sessions for troubleshooting workloads and nodes"
USAGE = "debug (POD | TYPE[[.VERSION].GROUP]/NAME) [ -- COMMAND [args...] ]"
COMPLETION = "types"
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
- profile string general | legacy, general, baseline, restricted, netadmin or sysadmin
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


def run(context: Context) -> None:
    """Start a debugging session for each target."""
    flags = context.flags
    targets = context.args[: flags.dash] if flags.dash >= 0 else context.args
    command = context.args[flags.dash :] if flags.dash >= 0 else []
    if flags.profile not in PROFILES:
        raise CommandError(f"unknown profile: {flags.profile}")
    custom = _custom(context)
    _check(context, targets, command, custom)
    arguments = [target if "/" in target else f"pods/{target}" for target in targets]
    for info in Builder(
        context, args=arguments, filenames=flags.filename, latest=True, scheme=SCHEME
    ).infos():
        if info.resource.kind == "Node":
            pod, name = _on_node(context, info, command, custom)
        elif info.resource.kind != "Pod":
            raise CommandError(
                f'"{info.resource.group}/{info.resource.version}, Kind={info.resource.kind}" not supported by debug'
            )
        elif flags.copy_to:
            pod, name = _copy(context, info, command, custom)
        else:
            pod, name = _ephemeral(context, info, command, custom)
        if name and (flags.attach or (flags.stdin and "attach" not in flags.changed)):
            attach_when_started(context, pod, name)


def _check(context: Context, targets: list[str], command: list[str], custom: Object) -> None:
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
    else:
        for flag in ("replace", "same-node", "set-image"):
            if getattr(flags, flag.replace("-", "_")):
                raise CommandError(f"--{flag} may only be used with --copy-to.")
        if not flags.image:
            raise CommandError("you must specify --image when not using --copy-to.")
    if flags.image and not is_reference(flags.image):
        raise CommandError(f'invalid image name "{flags.image}": invalid reference format')
    if not targets and not flags.filename:
        raise CommandError("NAME or filename is required for debug")
    if flags.image_pull_policy not in ("", "Always", "IfNotPresent", "Never"):
        raise CommandError(f"invalid image pull policy: {flags.image_pull_policy}")
    for name, image in flags.set_image.items():
        if not is_reference(image):
            raise CommandError(
                f'invalid image name "{image}" for container "{name}": invalid reference format'
            )
    if flags.target and flags.copy_to:
        raise CommandError("--target is incompatible with --copy-to. Use --share-processes instead.")
    if flags.target and not flags.quiet:
        context.out(
            f"Targeting container {quoted(flags.target)}. If you don't see processes from this container it may be because "
            "the container runtime doesn't support this feature."
        )
    if flags.tty and not flags.stdin:
        raise CommandError("-i/--stdin is required for containers with -t/--tty=true")
    if any(custom.get(key) for key in ("name", "command", "image", "lifecycle", "volumeDevices")):
        raise CommandError(
            "name, command, image, lifecycle and volume devices are not modifiable via custom profile"
        )
    if flags.profile == "legacy":
        print(
            "--profile=legacy is deprecated and planned to be removed in v1.39. It is recommended to specify other profile, "
            'for example "--profile=general".',
            file=context.stderr,
        )


def _name(context: Context, pod: Object) -> str:
    flags = context.flags
    if flags.container:
        return flags.container
    spec = pod.get("spec") or {}
    taken = {
        container["name"]
        for key in ("containers", "initContainers", "ephemeralContainers")
        for container in spec.get(key) or ()
    }
    while True:
        name = f"debugger-{suffix()}"
        if name not in taken:
            if not flags.quiet:
                context.out(f"Defaulting debug container name to {name}.")
            return name


def suffix() -> str:
    """Return five random letters and digits, as in generated names."""
    return "".join(random.choices("bcdfghjklmnpqrstvwxz2456789", k=5))


def _container(context: Context, name: str, command: list[str]) -> Object:
    return {"name": name, "terminationMessagePolicy": "File", **_settings(context, command)}


def _settings(context: Context, command: list[str]) -> Object:
    """Return what the flags say about the container."""
    flags = context.flags
    settings: Object = {}
    if flags.image:
        settings["image"] = flags.image
    if command:
        settings["args" if flags.arguments_only else "command"] = command
    if flags.env:
        settings["env"] = [
            {"name": key, **({"value": value} if value else {})} for key, value in flags.env.items()
        ]
    if flags.image_pull_policy:
        settings["imagePullPolicy"] = flags.image_pull_policy
    if flags.stdin:
        settings["stdin"] = True
    if flags.tty:
        settings["tty"] = True
    return settings


def _custom(context: Context) -> Object:
    """Return the part of a container in the file of --custom."""
    import json

    name = context.flags.custom
    if not name:
        return {}
    from pybernetes.tools.kubectl.resources.manifests import read, values

    try:
        text = Path(name).read_text()
    except OSError as error:
        reason = (error.strerror or "").lower()
        raise CommandError(
            f"must pass a container spec json file for custom profile: open {name}: {reason}"
        ) from None
    try:
        return json.loads(text)
    except ValueError:
        raw, source = read(name, context.stdin)
        try:
            return next(iter(values(raw, source)), {})
        except CommandError as error:
            why = error.message.partition(": ")[2]
            raise CommandError(f"{name} does not contain a valid container spec: {why}") from None


def _customized(container: Object, custom: Object) -> Object:
    """Return a container with the part of --custom merged in."""
    if not custom:
        return container
    pod = {"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [container]}}
    patch = {"spec": {"containers": [{**custom, "name": container["name"]}]}}
    return patched(pod, patch, "strategic")["spec"]["containers"][0]


def _warned(context: Context, container: Object, pod: Object) -> None:
    if may_not_work(container, pod):
        context.warn(
            "Warning: Non-root user is configured for the entire target Pod, and some capabilities granted by debug "
            'profile may not work. Please consider using "--custom" with a custom profile that specifies '
            '"securityContext.runAsUser: 0".'
        )


def _ephemeral(context: Context, info: Info, command: list[str], custom: Object) -> tuple[Object, str]:
    flags = context.flags
    name = _name(context, info.object)
    spec = info.object.get("spec") or {}
    before = spec.get("ephemeralContainers") or []
    container = {**_container(context, name, command), "resources": {}}
    if flags.target:
        container["targetContainerName"] = flags.target
    changed = [_customized(container, custom)]
    earlier = next((other for other in before if other["name"] == name), None)
    if earlier is not None:
        # As in the original: the profile goes to the first container of that name. Both are merged into one, and the
        # server refuses, because a container that is there may not be changed.
        first = copy.deepcopy(earlier)
        secure(first, flags.profile, "ephemeral")
        fields = {key: None for key in earlier if key not in container and key != "resources"}
        changed = [{**fields, **changed[0]}, first]
    elif all(
        other["name"] != name for key in ("containers", "initContainers") for other in spec.get(key) or ()
    ):
        secure(container, flags.profile, "ephemeral")
        changed = [_customized(container, custom)]
    _warned(context, changed[0], info.object)
    order = [{"name": entry["name"]} for entry in (*before, container)]
    patch: Object = {"spec": {"ephemeralContainers": changed}}
    if before:
        patch["spec"]["$setElementOrder/ephemeralContainers"] = order
    pod = context.client.patch(
        info.resource, info.namespace, info.name, patch, "strategic", subresource="ephemeralcontainers"
    )
    return pod, name


def _copy(context: Context, info: Info, command: list[str], custom: Object) -> tuple[Object, str]:
    flags = context.flags
    metadata: Object = {"name": flags.copy_to, "namespace": info.namespace}
    for key in ("labels", "annotations"):
        if info.object["metadata"].get(key):
            metadata[key] = info.object["metadata"][key]
    spec = copy.deepcopy(info.object["spec"])
    for key in ("ephemeralContainers", *(() if flags.same_node else ("nodeName",))):
        spec.pop(key, None)
    if "share-processes" in flags.changed:
        spec["shareProcessNamespace"] = flags.share_processes
    for container in spec["containers"]:
        if image := flags.set_image.get(container["name"]) or flags.set_image.get("*"):
            container["image"] = image
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
    name = _changed(context, info, pod, command, custom)
    created = context.client.create(info.resource, info.namespace, pod)
    if flags.replace:
        context.client.delete(info.resource, info.namespace, info.name, {"gracePeriodSeconds": 0})
    return created, name


def _changed(context: Context, info: Info, pod: Object, command: list[str], custom: Object) -> str:
    """Put the debugging container in, or change the one that is named."""
    flags, spec = context.flags, pod["spec"]
    container = next(
        (candidate for candidate in spec["containers"] if candidate["name"] == flags.container), None
    )
    if container is None:
        if not flags.image:
            if flags.set_image:
                return ""
            raise CommandError("you must specify image when creating new container")
        container = _container(context, _name(context, info.object), [])
        spec["containers"].append(container)
    if command and not flags.arguments_only:
        container.pop("args", None)
    for key in ("stdin", "tty"):
        container.pop(key, None)
    container.update(_settings(context, command))
    secure(container, flags.profile, "copy")
    strip(
        pod, flags.profile,
        {
            "labels": flags.keep_labels, "annotations": flags.keep_annotations, "livenessProbe": flags.keep_liveness,
            "readinessProbe": flags.keep_readiness, "startupProbe": flags.keep_startup,
            "initContainers": flags.keep_init_containers,
        },
    )  # fmt: skip
    place = spec["containers"].index(container)
    spec["containers"][place] = _customized(container, custom)
    _warned(context, spec["containers"][place], pod)
    return container["name"]


def _on_node(context: Context, info: Info, command: list[str], custom: Object) -> tuple[Object, str]:
    flags = context.flags
    name = flags.container or "debugger"
    pod_name = f"node-debugger-{info.name}-{suffix()}"
    if not flags.quiet:
        context.out(f"Creating debugging pod {pod_name} with container {name} on node {info.name}.")
    container = _container(context, name, command)
    spec: Object = {
        "containers": [container], "nodeName": info.name, "restartPolicy": "Never", "tolerations": [{"operator": "Exists"}],
    }  # fmt: skip
    secure(container, flags.profile, "node")
    use_host(spec, container, flags.profile)
    spec["containers"] = [_customized(container, custom)]
    metadata = {"name": pod_name, "labels": {"app.kubernetes.io/managed-by": "kubectl-debug"}}
    pods = context.discovery.find("pods")
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
    return context.client.create(pods, context.namespace, pod), name
